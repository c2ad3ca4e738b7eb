// What is pressed or typed in a figure is the figure's. A page around it may listen for keys, to turn a slide or to open
// its search, and from outside it cannot see that they were typed into a field or moved a slider. So their events end
// at the element; a page hears them only if it listens in the capture phase.
import type { LitElement, ReactiveController } from 'lit';

const keys = ['keydown', 'keypress', 'keyup'] as const;
const texts = ['beforeinput', 'input', 'paste'] as const;

/** What moves about in the page around or closes it, unless the figure has done something with it. Clickers for slides send Page keys. */
const passing = /^(Tab|Escape|PageUp|PageDown|Shift|Control|Alt|AltGraph|Meta|F\d+)$/;

export class Keys implements ReactiveController {
  /** Codes of the keys that are down and whose events end here. */
  readonly #down = new Set<string>();

  constructor(private readonly host: LitElement) {
    host.addController(this);
  }

  hostConnected(): void {
    for (const kind of keys) this.host.addEventListener(kind, this.#press);
    for (const kind of texts) this.host.addEventListener(kind, this.#type);
  }

  hostDisconnected(): void {
    for (const kind of keys) this.host.removeEventListener(kind, this.#press);
    for (const kind of texts) this.host.removeEventListener(kind, this.#type);
    this.#down.clear();
  }

  readonly #press = (event: KeyboardEvent): void => {
    if (!this.#isInside(event)) return;
    const { code, type } = event;
    if (type === 'keydown') {
      if (isOfPage(event)) this.#down.delete(code);
      else this.#down.add(code);
    }
    if (this.#down.has(code)) event.stopPropagation();
    if (type === 'keyup') this.#down.delete(code);
  };

  readonly #type = (event: Event): void => {
    if (this.#isInside(event)) event.stopPropagation();
  };

  /** What the page has put between the element's tags is the page's. */
  #isInside(event: Event): boolean {
    return event.target === this.host && event.composedPath()[0] !== this.host;
  }
}

const isOfPage = (event: KeyboardEvent): boolean => {
  if (event.defaultPrevented) return false;
  // On some keyboards it takes a modifier to write a letter.
  const shortcut = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph');
  return shortcut || passing.test(event.key);
};
