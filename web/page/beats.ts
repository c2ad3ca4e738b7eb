// The beats: a picture stays while steps of text pass. The step that is read sets the picture's state, forwards
// and backwards; a step's link does the same.
import type { FigureElement } from '../element/figureElement.js';
import { readLink } from '../element/link.js';
import { cropAbove } from '../plot/cropping.js';

const beside = matchMedia('(min-width: 75rem)');
/** On a phone the step at this share of the window's height is the one that is read: it stands below the picture. */
const line = 0.78;

const gap = 16;
/** What a picture may draw outside its surface, in pixels: clipping leaves it there. */
const spill = 99;

const linkOf = (step: Element) => step.querySelector('h3 > a') as HTMLAnchorElement;

class Stage {
  #looking = 0;
  #current: Element | undefined;
  /** Where the beat stood in the window when its state came from a link or by hand, or the reader tabbed to it: what is above may still grow. */
  #keptAt: number | undefined;
  /** How much of the picture, and of the gaps around it, a window this wide does not hold. */
  #over = 0;
  /** How much longer the first step is for it. */
  #more = 0;
  #width = innerWidth;

  constructor(readonly root: HTMLElement) {
    const stays = root.querySelector('.stays') as HTMLElement;
    document.addEventListener('scroll', () => {
      this.#looking ||= requestAnimationFrame(() => this.#look());
    });
    new ResizeObserver(() => {
      this.#fit();
      this.#crop();
    }).observe(stays);
    // In the next frame: to measure at once would lay the page out twice in this one, at each step of a slider.
    const keepNext = () =>
      requestAnimationFrame(() => {
        this.#keptAt = this.#top();
      });
    root.addEventListener('superpose-change', () => {
      this.#told(false);
      keepNext();
    });
    root.addEventListener('superpose-drawn', () => {
      this.#point();
      this.#crop();
    });
    // Whoever tabs to a part that is not in sight scrolls there, and means no other step.
    stays.addEventListener('focusin', (event) => {
      if ((event.composedPath()[0] as Element).matches(':focus-visible')) keepNext();
    });
    stays.append(this.#wholeButton());
    this.#told(true);
    this.reveal(root.querySelector('superpose-figure') as HTMLElement);
  }

  /**
   * Of a picture that is higher than the window the lower end stays, with the numbers. Whoever scrolls there is still
   * at the first step, which is longer by that much, as far as a beat of two windows has room for it. Another of the
   * stage’s pictures may be lower; the steps do not move for that, nor for what the reader opens in one.
   */
  #fit(): void {
    const stays = this.root.querySelector('.stays') as HTMLElement;
    const over = stays.offsetHeight + 2 * gap - innerHeight;
    stays.style.setProperty('--top', `${gap - Math.max(0, over)}px`);
    if (this.#width === innerWidth && (over <= this.#over || this.#inUse())) return;
    this.#width = innerWidth;
    this.#over = over;
    this.#more = beside.matches ? Math.max(0, Math.min(over, innerHeight / 4)) : 0;
    this.root.style.setProperty('--more', `${this.#more}px`);
  }

  /**
   * Beside its picture: where in the window the stage's top stands when the first step begins, how far it goes until
   * the picture stays with its end in sight, and how far from there until the last step ends.
   */
  #travel(): { start: number; lead: number; way: number } {
    const picture = (this.root.querySelector('.stays') as HTMLElement).offsetHeight;
    const start = innerHeight / 10;
    const lead = this.#over > 0 ? this.#over + start - gap : 0;
    const way = this.root.offsetHeight - Math.min(picture, 0.8 * innerHeight) - lead;
    return { start, lead, way: Math.max(way, gap) };
  }

  /** Where the steps begin, and how long they are but for what the first one has more. */
  #steps(): { top: number; height: number } {
    const steps = this.root.querySelectorAll('.step');
    const top = steps[0]?.getBoundingClientRect().top ?? 0;
    return { top, height: (steps[steps.length - 1]?.getBoundingClientRect().bottom ?? 0) - top - this.#more };
  }

  #look(): void {
    this.#looking = 0;
    const { top, bottom } = this.root.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    const at = beside.matches ? this.#lineBeside(top) : line * innerHeight;
    for (const step of this.root.querySelectorAll('.step')) {
      const box = step.getBoundingClientRect();
      if (box.top <= at && at < box.bottom) this.#pass(step);
    }
  }

  /** Beside its picture, the steps share what the picture stays for. */
  #lineBeside(stage: number): number {
    const { start, lead, way } = this.#travel();
    const { top, height } = this.#steps();
    return top + this.#more + Math.max(0, Math.min(0.999, (start - stage - lead) / way)) * height;
  }

  /** Brings a step and its picture into the window. */
  bring(step: HTMLElement): void {
    this.show(step, true);
    this.#fit();
    if (!beside.matches) {
      step.scrollIntoView();
      return;
    }
    const stage = this.root.getBoundingClientRect().top;
    const { start, lead, way } = this.#travel();
    const { top, height } = this.#steps();
    const first = step === this.root.querySelector('.step');
    const box = step.getBoundingClientRect();
    const middle = (box.top + box.bottom) / 2 - top - (first ? this.#more / 2 : this.#more);
    // At the first one the picture's upper end is in sight, at the others its lower.
    scrollTo({ top: scrollY + stage - start + (first ? 0 : lead) + (middle / height) * way });
  }

  /** On a phone the steps leave room for the picture's upper part only. */
  #wholeButton(): HTMLButtonElement {
    const button = document.createElement('button');
    button.className = 'whole';
    const say = (whole: boolean) => {
      this.root.toggleAttribute('data-whole', whole);
      button.textContent = whole ? 'Picture only' : 'Whole figure';
    };
    button.addEventListener('click', () => {
      say(!this.root.hasAttribute('data-whole'));
      this.root.scrollIntoView();
    });
    say(false);
    return button;
  }

  /** A picture that goes on below the bar ends between two of its parts, unless little would be left. */
  #crop(): void {
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    const surface = figure?.shadowRoot?.querySelector<HTMLElement>('.surface');
    const scene = figure?.picture.view?.scene;
    if (!surface || !scene) return;
    if (beside.matches || this.root.hasAttribute('data-whole')) {
      // Nothing is measured: it would lay out the page once more at each step of a slider.
      surface.style.removeProperty('--cut');
      return;
    }
    const bar = this.root.querySelector('.whole')?.getBoundingClientRect().top ?? 0;
    const { top, bottom } = surface.getBoundingClientRect();
    const { scale } = figure.surroundings;
    const end = top + scale * cropAbove(scene, (bar - top) / scale);
    const cuts = end < bottom && bar - end < innerHeight / 6;
    surface.style.setProperty('--cut', `inset(${-spill}px ${-spill}px ${cuts ? bottom - end : -spill}px)`);
  }

  /**
   * A step comes by. The first one changes nothing that is still in its first view, and no step what the reader
   * has just chosen.
   */
  #pass(step: Element): void {
    const first = !this.#current && step === this.root.querySelector('.step');
    if (step === this.#current) return;
    const kept = this.#keptAt !== undefined && Math.abs(this.#top() - this.#keptAt) < innerHeight / 2;
    if (kept) this.#mark(this.#ofPicture(step));
    else if (first) this.#mark(step);
    else if (!this.#inUse()) this.show(step);
  }

  /** The step whose link was just followed, or else this one, or the first that is about the picture in sight. */
  #ofPicture(step: Element): Element {
    const shown = this.root.querySelector('.shot:not([hidden]) superpose-figure')?.getAttribute('name');
    const about = (one: Element) => {
      const link = readLink(linkOf(one).hash);
      return link && 'figure' in link && link.figure === shown;
    };
    const followed = (one: Element) =>
      [...one.querySelectorAll('a')].some(({ hash }) => hash !== '' && hash === location.hash);
    const all = [...this.root.querySelectorAll('.step')];
    return all.find(followed) ?? (about(step) ? step : (all.find(about) ?? step));
  }

  /** Whoever has opened a picture's settings, menu or numbers, or has tabbed into it, keeps its state and step. */
  #inUse(): boolean {
    return [...this.root.querySelectorAll('.shot:not([hidden]) superpose-figure')].some((figure) =>
      figure.shadowRoot?.querySelector('details[open], .numbers, :focus-visible'),
    );
  }

  #top(): number {
    return this.root.getBoundingClientRect().top;
  }

  #mark(step: Element): void {
    if (this.#current) linkOf(this.#current).removeAttribute('aria-current');
    this.#current = step;
    linkOf(step).setAttribute('aria-current', 'step');
    this.#point();
  }

  /** Marks the place that the step names, unless the reader has set something else. */
  #point(): void {
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    if (!figure?.result || !this.#current || !this.root.hasAttribute('data-told')) return;
    const { at } = (this.#current as HTMLElement).dataset;
    const [i = 0, j] = at?.split(' ').map(Number) ?? [];
    figure.cursor = j === undefined ? figure.cursor : { i, j };
    figure.cursors.isPointed = at !== undefined;
  }

  /** While a step says what is seen, the picture does not say it again; what the reader sets, it says. */
  #told(told: boolean): void {
    this.root.toggleAttribute('data-told', told);
  }

  show(step: Element, told = false): void {
    this.#keptAt = undefined;
    this.#told(true);
    this.#mark(step);
    const link = readLink(linkOf(step).hash);
    if (!link || 'refused' in link) return;
    const figure = this.root.querySelector<FigureElement>(`superpose-figure[name="${link.figure}"]`);
    if (!figure) return;
    this.reveal(figure);
    // The picture that waits is of the first view, and may say the opposite of this step.
    figure.toggleAttribute('data-other', link.settings.length > 0);
    // Who follows a link hears what comes of it; a step that is scrolled by says nothing.
    figure.speech.changed ||= told;
    void figure.show(link.settings);
  }

  /** Of several figures one is seen at a time. */
  reveal(figure: HTMLElement): void {
    for (const shot of this.root.querySelectorAll<HTMLElement>('.shot')) shot.hidden = !shot.contains(figure);
    this.#crop();
  }

  /** The window has just come here. */
  keep(figure: HTMLElement): void {
    this.reveal(figure);
    this.#told(false);
    this.#keptAt = this.#top();
  }
}

const stages: Stage[] = [];
const stageOf = (part: Element): Stage | undefined => stages.find(({ root }) => root.contains(part));

export function followBeats(): void {
  for (const root of document.querySelectorAll<HTMLElement>('.stage')) stages.push(new Stage(root));
}

/** The picture and steps of the beat that a figure is in, if it is in one. */
export const beatOf = (figure: HTMLElement): HTMLElement | undefined => stageOf(figure)?.root;

/** Makes a figure of a beat seen, in a state that comes from elsewhere than its steps. */
export const keepInBeat = (figure: HTMLElement): void => stageOf(figure)?.keep(figure);

/** Goes to the step that has this link or this id; false if there is none. */
export function goToStep(fragment: string): boolean {
  const step = [...document.querySelectorAll<HTMLElement>('.step')].find(
    (one) => linkOf(one).hash === fragment || (one.id !== '' && `#${one.id}` === fragment),
  );
  if (!step) return false;
  const bring = () => stageOf(step)?.bring(step);
  bring();
  // Until the page has loaded, pictures have not their height.
  if (document.readyState !== 'complete') window.addEventListener('load', bring, { once: true });
  return true;
}
