// Runs the beats, in which a picture stays while steps of text scroll past. The step at the reading line sets
// the picture's state, forwards and backwards, and so does a step's link. A beat of one step is a picture
// with its text. A text that speaks of another state than the picture's is muted.
import type { FigureElement } from '../element/figureElement.js';
import { readLink, writeLink } from '../element/link.js';
import { readState } from '../figures/controls.js';
import { cropAbove } from '../plot/cropping.js';

const beside = matchMedia('(min-width: 75rem)');
/**
 * Where steps scroll past below a whole figure, the step at this share of the window's height is the one
 * being read.
 */
const line = 0.78;
/** Below a picture that stays, the reading line is this far below where a step's text stays, in pixels. */
const near = 12;

/** The space above and below a picture that stays, in pixels. */
const gap = 16;
/** What a picture may draw outside its surface, in pixels: clipping leaves it there. */
const spill = 99;

const linkOf = (step: Element) => step.querySelector('h3 > a') as HTMLAnchorElement;

class Stage {
  #looking = 0;
  #current: Element | undefined;
  /**
   * The beat's place in the window when its state came from a link or by hand, or the reader tabbed to it.
   * The place in the page would not do, because what is above may still grow.
   */
  #stayedAt: number | undefined;
  /** Where the picture's upper end stays in the window, in pixels, as long as it has room there. */
  #stays = gap;
  /** By how many pixels the picture and the gaps around it exceed the height of a window this wide. */
  #over = 0;
  /** By how many pixels the first step is lengthened, so that all of a high picture can be seen. */
  #more = 0;
  #width = innerWidth;
  /** The height of the highest picture so far in a window this wide. */
  #height = 0;
  /** Plays the picture’s run on a phone, where a picture’s inputs are seen only with the whole figure. */
  readonly #replay = document.createElement('button');
  /** Whether the beat has only one step: its picture then does not stay in the window. */
  readonly #single: boolean;

  constructor(readonly root: HTMLElement) {
    this.#single = root.matches('.single');
    const stays = root.querySelector('.stays') as HTMLElement;
    document.addEventListener('scroll', () => {
      this.#looking ||= requestAnimationFrame(() => this.#look());
    });
    new ResizeObserver(() => {
      this.#fit();
      this.#crop();
    }).observe(stays);
    // In the next frame: measuring at once would lay out the page twice in each step of a slider.
    const keepNext = () =>
      requestAnimationFrame(() => {
        this.#stayedAt = this.#top();
      });
    root.addEventListener('superpose-change', () => {
      void this.#compare();
      keepNext();
    });
    root.addEventListener('superpose-drawn', () => {
      this.#crop();
      this.#offerReplay();
      // A link's state may have come after the step was compared with it.
      if (root.hasAttribute('data-by-step')) void this.#compare().then(() => this.#point());
    });
    // Tabbing to a part that is out of sight scrolls there, but asks for no other step.
    stays.addEventListener('focusin', (event) => {
      if ((event.composedPath()[0] as Element).matches(':focus-visible')) keepNext();
    });
    if (this.#single) {
      this.#mark(root.querySelector('.step') as Element);
      // Keeps the reserved height, so that nothing below moves up if the live figure needs less.
      root.style.setProperty('--kept', `${stays.offsetHeight}px`);
    } else stays.append(this.#expandButton(), this.#replay);
    this.#setByStep(true);
    this.reveal(root.querySelector('superpose-figure') as HTMLElement);
  }

  /**
   * Makes a picture stay in the middle of the window, and one that is higher than the window with its lower
   * end, where the numbers are, in sight. What the reader opens in a picture moves it only for want of room.
   * Where a picture is higher than the window, the first step is longer by the difference, so that a reader
   * who scrolls to that end is still at this step, but not by so much that the beat exceeds two windows.
   * Neither a lower picture of the stage nor what the reader opens in one moves the steps.
   */
  #fit(): void {
    if (this.#single) return;
    const stays = this.root.querySelector('.stays') as HTMLElement;
    const over = stays.offsetHeight + 2 * gap - innerHeight;
    const isKnown = this.#width === innerWidth && (stays.offsetHeight <= this.#height || this.#inUse());
    if (!isKnown) this.#stays = gap + Math.max(0, -over) / 2;
    const room = gap - over;
    this.root.style.setProperty('--top', `${Math.min(this.#stays, room)}px`);
    if (isKnown) return;
    this.#height = stays.offsetHeight;
    this.#width = innerWidth;
    this.#over = over;
    this.#more = beside.matches ? Math.max(0, Math.min(over, innerHeight / 4)) : 0;
    this.root.style.setProperty('--more', `${this.#more}px`);
    // A picture that is higher than most lengthens the stage, so that the steps scroll as far as elsewhere.
    const lost = Math.max(0, over) - this.#more + 2 * (innerHeight / 10 - gap);
    const tall = stays.offsetHeight - 0.8 * innerHeight + lost;
    this.root.style.setProperty('--tall', `${beside.matches ? Math.max(0, tall) : 0}px`);
  }

  /**
   * For steps beside their picture, in pixels: the place of the stage's top in the window when the first step
   * begins (`start`), how far the page then scrolls until the picture stays (`lead`), and how much further to
   * the last step's end (`way`).
   */
  #travel(): { start: number; lead: number; way: number } {
    const picture = (this.root.querySelector('.stays') as HTMLElement).offsetHeight;
    const start = Math.max(innerHeight / 10, this.#stays);
    const lead = this.#over > 0 ? this.#over + start - gap : 0;
    const way = this.root.offsetHeight - picture - lead;
    return { start, lead, way: Math.max(way, gap) };
  }

  /** Where the steps begin, and how long they are without the first step's extra length. */
  #steps(): { top: number; height: number } {
    const steps = this.root.querySelectorAll('.step');
    const top = steps[0]?.getBoundingClientRect().top ?? 0;
    return { top, height: (steps[steps.length - 1]?.getBoundingClientRect().bottom ?? 0) - top - this.#more };
  }

  #look(): void {
    this.#looking = 0;
    if (this.#single) return;
    const { top, bottom } = this.root.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    const at = beside.matches ? this.#lineBeside(top) : this.#lineBelow();
    for (const step of this.root.querySelectorAll('.step')) {
      const box = step.getBoundingClientRect();
      if (box.top <= at && at < box.bottom) this.#pass(step);
    }
  }

  /** The reading line of steps below their picture: they begin when the picture stays. */
  #lineBelow(): number {
    if (this.root.hasAttribute('data-expanded')) return line * innerHeight;
    return Number.parseFloat(getComputedStyle(this.root.querySelector('.step > div') as Element).top) + near;
  }

  /** The reading line of steps beside their picture: they share the distance over which the picture stays. */
  #lineBeside(stage: number): number {
    const { start, lead, way } = this.#travel();
    const { top, height } = this.#steps();
    return top + this.#more + Math.max(0, Math.min(0.999, (start - stage - lead) / way)) * height;
  }

  /** Brings a step and its picture into the window. */
  bring(step: HTMLElement): void {
    this.show(step, true);
    this.#fit();
    if (this.#single) {
      this.root.scrollIntoView();
      return;
    }
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
    // At the first step the upper end of the picture is in sight, at the others the lower end.
    const along = (middle / height) * way;
    const into = first ? (lead > 0 ? 0 : along) : lead + along;
    scrollTo({ top: scrollY + stage - start + into });
  }

  /**
   * The button that shows the entire figure on a phone, where there is room only for the picture's upper
   * part.
   */
  #expandButton(): HTMLButtonElement {
    const button = document.createElement('button');
    button.className = 'expand';
    const expand = (expanded: boolean) => {
      this.root.toggleAttribute('data-expanded', expanded);
      button.textContent = expanded ? 'Picture only' : 'Whole figure';
    };
    button.addEventListener('click', () => {
      expand(!this.root.hasAttribute('data-expanded'));
      this.root.scrollIntoView();
    });
    expand(false);
    return button;
  }

  /** Puts the picture’s own button that plays a run on the bar, for as long as this picture is shown. */
  #offerReplay(): void {
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    const playback = figure?.request?.liveJob?.playback;
    this.#replay.className = 'replay';
    this.#replay.hidden = !playback;
    this.#replay.onclick = () => playback?.press();
    const label = playback?.label ?? '';
    // Setting the same text again would restyle the whole page, at each step of a slider.
    if (this.#replay.textContent !== label) this.#replay.textContent = label;
  }

  /** Cuts a picture that reaches below the bar, between two of its parts, unless that leaves a large gap. */
  #crop(): void {
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    const surface = figure?.shadowRoot?.querySelector<HTMLElement>('.surface');
    const scene = figure?.picture.view?.scene;
    if (!surface || !scene || this.#single) return;
    if (beside.matches || this.root.hasAttribute('data-expanded')) {
      // Nothing is measured: it would lay out the page once more at each step of a slider.
      surface.style.removeProperty('--cut');
      return;
    }
    const bar = this.root.querySelector('.expand')?.getBoundingClientRect().top ?? 0;
    const { top, bottom } = surface.getBoundingClientRect();
    const { scale } = figure.surroundings;
    const end = top + scale * cropAbove(scene, (bar - top) / scale);
    const cuts = end < bottom && bar - end < innerHeight / 6;
    surface.style.setProperty('--cut', `inset(${-spill}px ${-spill}px ${cuts ? bottom - end : -spill}px)`);
  }

  /**
   * Handles a step that reaches the reading line. The first step changes nothing in a picture that is still
   * in its first view, and no step changes what the reader has just chosen.
   */
  #pass(step: Element): void {
    const first = !this.#current && step === this.root.querySelector('.step');
    if (step === this.#current) return;
    const stays = this.#stayedAt !== undefined && Math.abs(this.#top() - this.#stayedAt) < innerHeight / 2;
    if (stays) {
      this.#mark(this.#ofPicture(step));
      void this.#compare();
    } else if (first) this.#mark(step);
    else if (!this.#inUse()) this.show(step);
  }

  /**
   * The step whose link was just followed; otherwise this step or the first one about the picture in sight.
   */
  #ofPicture(step: Element): Element {
    const shown = this.root.querySelector('.shot:not([hidden]) superpose-figure')?.getAttribute('name');
    const about = (candidate: Element) => {
      const link = readLink(linkOf(candidate).hash);
      return link && 'figure' in link && link.figure === shown;
    };
    const followed = (candidate: Element) =>
      [...candidate.querySelectorAll('a')].some(({ hash }) => hash !== '' && hash === location.hash);
    const all = [...this.root.querySelectorAll('.step')];
    return all.find(followed) ?? (about(step) ? step : (all.find(about) ?? step));
  }

  /**
   * Whether the reader has opened a picture's settings, menu or numbers or has tabbed into it, and so keeps
   * its state.
   */
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
    const link = readLink(linkOf(step).hash);
    if (link && 'figure' in link) this.#figure(link.figure)?.request.followStep(link.settings);
    this.#point();
  }

  /** Marks the cell that the step names, unless the reader has set something else. */
  #point(): void {
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    if (!figure?.result || !this.#current || !this.root.hasAttribute('data-by-step')) return;
    const { at } = (this.#current as HTMLElement).dataset;
    const [i = 0, j] = at?.split(' ').map(Number) ?? [];
    figure.cursor = j === undefined ? figure.cursor : { i, j };
    figure.cursors.isPointed = at !== undefined;
    figure.cursors.isMarkedByStep = at !== undefined;
  }

  /** Finds out whether the picture is in the step's state, which the reader may have left or come back to. */
  async #compare(): Promise<void> {
    const link = this.#current && readLink(linkOf(this.#current).hash);
    const figure = this.root.querySelector<FigureElement>('.shot:not([hidden]) superpose-figure');
    const loaded = await figure?.loaded();
    if (!figure || !loaded || !link || 'refused' in link) return;
    const { state } = readState(loaded.controls, link.settings);
    const linked = (settings: typeof state) => writeLink(figure.name, loaded.controls, settings);
    const ofStep = linked(loaded.settle?.(state, undefined) ?? state);
    this.#setByStep(link.figure === figure.name && ofStep === linked(figure.state));
  }

  /**
   * While a step sets the picture, the step's text says what is seen. Once the reader sets the picture, its
   * caption says so, and the step is muted.
   */
  #setByStep(byStep: boolean): void {
    this.root.toggleAttribute('data-by-step', byStep);
    if (byStep) return;
    for (const figure of this.root.querySelectorAll<FigureElement>('superpose-figure')) {
      if (!figure.cursors?.isMarkedByStep) continue;
      figure.cursors.reset();
      figure.requestUpdate();
    }
  }

  #figure(name: string): FigureElement | null {
    return this.root.querySelector<FigureElement>(`superpose-figure[name="${name}"]`);
  }

  show(step: Element, followed = false): void {
    this.#stayedAt = undefined;
    this.#setByStep(true);
    this.#mark(step);
    const link = readLink(linkOf(step).hash);
    if (!link || 'refused' in link) return;
    const figure = this.#figure(link.figure);
    if (!figure) return;
    this.reveal(figure);
    // The placeholder shows the first view, which may say the opposite of this step.
    figure.toggleAttribute('data-other', link.settings.length > 0);
    // A screen reader says the result of a followed link; a step that scrolls past says nothing.
    figure.speech.changed ||= followed;
    void figure.show(link.settings);
  }

  /** Shows one of the stage's figures and hides the others. */
  reveal(figure: HTMLElement): void {
    for (const shot of this.root.querySelectorAll<HTMLElement>('.shot')) shot.hidden = !shot.contains(figure);
    this.#crop();
    this.#offerReplay();
  }

  /** Keeps the state of a figure that a link has just brought into the window. */
  keep(figure: HTMLElement): void {
    this.reveal(figure);
    this.#setByStep(false);
    void this.#compare();
    this.#stayedAt = this.#top();
  }
}

const stages: Stage[] = [];
const stageOf = (part: Element): Stage | undefined => stages.find(({ root }) => root.contains(part));

export function followBeats(): void {
  for (const root of document.querySelectorAll<HTMLElement>('.stage')) stages.push(new Stage(root));
}

/** Returns the stage that a figure is in, if any. */
export const beatOf = (figure: HTMLElement): HTMLElement | undefined => stageOf(figure)?.root;

/** Shows a figure of a beat in a state that does not come from its steps. */
export const keepInBeat = (figure: HTMLElement): void => stageOf(figure)?.keep(figure);

/** Goes to the step that has this link or this id; false if there is none. */
export function goToStep(fragment: string): boolean {
  const step = [...document.querySelectorAll<HTMLElement>('.step')].find(
    (candidate) =>
      linkOf(candidate).hash === fragment || (candidate.id !== '' && `#${candidate.id}` === fragment),
  );
  if (!step) return false;
  const bring = () => stageOf(step)?.bring(step);
  bring();
  // Pictures have their height only once the page has loaded.
  if (document.readyState !== 'complete') window.addEventListener('load', bring, { once: true });
  return true;
}
