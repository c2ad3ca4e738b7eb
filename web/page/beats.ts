// The beats: a picture stays while steps of text pass. The step that is read sets the picture's state, forwards
// and backwards; a step's link does the same.
import type { FigureElement } from '../element/figureElement.js';
import { readLink } from '../element/link.js';

const beside = matchMedia('(min-width: 75rem)');
/** On a phone the step at this share of the window's height is the one that is read: it stands below the picture. */
const line = 0.78;

const gap = 16;

const linkOf = (step: Element) => step.querySelector('h3 > a') as HTMLAnchorElement;

class Stage {
  private looking = 0;
  private current: Element | undefined;
  /** Where the window stood when the picture's state came from a link or from the reader's hand, or the reader tabbed to it. */
  private keptAt: number | undefined;

  constructor(readonly root: HTMLElement) {
    const stays = root.querySelector('.stays') as HTMLElement;
    document.addEventListener('scroll', () => {
      this.looking ||= requestAnimationFrame(() => this.look());
    });
    // Of a picture that is higher than the window the lower end stays, with the numbers.
    new ResizeObserver(() => {
      const top = Math.min(gap, innerHeight - stays.offsetHeight - gap);
      stays.style.setProperty('--top', `${top}px`);
    }).observe(stays);
    root.addEventListener('superpose-change', () => {
      this.keptAt = scrollY;
    });
    // Whoever tabs to a part that is not in sight scrolls there, and means no other step.
    stays.addEventListener('focusin', (event) => {
      if (!(event.composedPath()[0] as Element).matches(':focus-visible')) return;
      requestAnimationFrame(() => {
        this.keptAt = scrollY;
      });
    });
    stays.append(this.wholeButton());
    this.reveal(root.querySelector('superpose-figure') as HTMLElement);
  }

  /** Where in the window the stage's top stands when the first step begins, and how far it goes until the last ends. */
  private travel(): { start: number; way: number; height: number } {
    const { height } = this.root.getBoundingClientRect();
    const picture = (this.root.querySelector('.stays') as HTMLElement).offsetHeight;
    return { start: innerHeight / 10, way: height - Math.min(picture, 0.8 * innerHeight), height };
  }

  private look(): void {
    this.looking = 0;
    const { top, bottom } = this.root.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    const { start, way, height } = this.travel();
    // Beside its picture, the steps share what the picture stays for.
    const at = beside.matches
      ? top + Math.max(0, Math.min(0.999, (start - top) / way)) * height
      : line * innerHeight;
    for (const step of this.root.querySelectorAll('.step')) {
      const box = step.getBoundingClientRect();
      if (box.top <= at && at < box.bottom) this.pass(step);
    }
  }

  /** Brings a step and its picture into the window. */
  bring(step: HTMLElement): void {
    this.show(step);
    if (!beside.matches) {
      step.scrollIntoView();
      return;
    }
    const { top } = this.root.getBoundingClientRect();
    const { start, way, height } = this.travel();
    const middle = step.getBoundingClientRect().top - top + step.offsetHeight / 2;
    scrollTo({ top: scrollY + top - start + (middle / height) * way });
  }

  /** On a phone the steps leave room for the picture's upper part only. */
  private wholeButton(): HTMLButtonElement {
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

  /**
   * A step comes by. The first one changes nothing that is still in its first view, and no step what the reader
   * has just chosen.
   */
  private pass(step: Element): void {
    const first = !this.current && step === this.root.querySelector('.step');
    if (step === this.current) return;
    if (Number.isNaN(this.keptAt)) this.keptAt = scrollY;
    const kept = this.keptAt !== undefined && Math.abs(scrollY - this.keptAt) < innerHeight / 2;
    if (kept || first || this.inUse()) this.mark(step);
    else this.show(step);
  }

  /** Whoever has opened a picture's settings or its numbers, and scrolls to see them, keeps its state. */
  private inUse(): boolean {
    return [...this.root.querySelectorAll('.shot:not([hidden]) superpose-figure')].some((figure) =>
      figure.shadowRoot?.querySelector('details[open]'),
    );
  }

  private mark(step: Element): void {
    if (this.current) linkOf(this.current).removeAttribute('aria-current');
    this.current = step;
    linkOf(step).setAttribute('aria-current', 'step');
  }

  show(step: Element): void {
    this.keptAt = undefined;
    this.mark(step);
    const link = readLink(linkOf(step).hash);
    if (!link || 'refused' in link) return;
    const figure = this.root.querySelector<FigureElement>(`superpose-figure[name="${link.figure}"]`);
    if (!figure) return;
    this.reveal(figure);
    void figure.show(link.settings);
  }

  /** Of several figures one is seen at a time. */
  reveal(figure: HTMLElement): void {
    for (const shot of this.root.querySelectorAll<HTMLElement>('.shot')) shot.hidden = !shot.contains(figure);
  }

  /** The window is about to come here. */
  keep(figure: HTMLElement): void {
    this.reveal(figure);
    this.keptAt = Number.NaN;
  }
}

const stages: Stage[] = [];
const stageOf = (part: Element) => stages.find(({ root }) => root.contains(part));

export function followBeats(): void {
  for (const root of document.querySelectorAll<HTMLElement>('.stage')) stages.push(new Stage(root));
}

/** Makes a figure of a beat seen, in a state that comes from elsewhere than its steps; gives the beat's stage. */
export function keepInBeat(figure: HTMLElement): HTMLElement | undefined {
  const stage = stageOf(figure);
  stage?.keep(figure);
  return stage?.root;
}

/** Goes to the step that has this link or this id; false if there is none. */
export function goToStep(fragment: string): boolean {
  const step = [...document.querySelectorAll<HTMLElement>('.step')].find(
    (one) => linkOf(one).hash === fragment || (one.id !== '' && `#${one.id}` === fragment),
  );
  if (!step) return false;
  stageOf(step)?.bring(step);
  return true;
}
