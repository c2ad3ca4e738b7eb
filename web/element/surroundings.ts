// What a figure must fit: the room it has, the reader's own text and the theme; and its styles, the same on every page.
import { type LitElement, type ReactiveController, unsafeCSS } from 'lit';
import { terms } from '../figures/terms.js';
import { inkClasses, type Theme, themeVariables } from '../plot/colour.js';
import { latest } from '../plot/own.js';
import controlStyles from './controls.css?inline';
import styles from './element.css?inline';

/** Text size in pixels, unless the reader has set another. */
const usualText = 16;
/** Larger text makes no picture narrower than this. */
const leastWidth = 320;
const darkScheme = matchMedia('(prefers-color-scheme: dark)');

interface Host extends LitElement {
  readonly theme: string;
}

export class Surroundings implements ReactiveController {
  /** The picture’s width in its own pixels; 0 until it is known. */
  width = 0;
  /** Screen pixels per picture pixel. Pictures grow with the reader’s text size, as far as there is room. */
  scale = 1;
  /** The theme of the surrounding page, if it is somebody else's. */
  around: Theme | undefined;
  #sizes: ResizeObserver | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#sizes = new ResizeObserver((entries) => {
      const room = latest(entries).contentRect.width;
      const root = this.host.renderRoot.querySelector('.root');
      const text = root ? Number.parseFloat(getComputedStyle(root).fontSize) / usualText : 1;
      const scale = Math.max(1, Math.min(text, room / leastWidth));
      const width = Math.floor(room / scale);
      if (width === 0 || (width === this.width && scale === this.scale)) return;
      this.width = width;
      this.scale = scale;
      this.host.requestUpdate();
    });
    this.#sizes.observe(this.host);
    darkScheme.addEventListener('change', this.#schemeChanged);
  }

  hostDisconnected(): void {
    this.#sizes?.disconnect();
    darkScheme.removeEventListener('change', this.#schemeChanged);
  }

  #schemeChanged = (): void => this.host.requestUpdate();

  /** The theme that the attribute asks for, in any case, or the page's; undefined for the reader's own. */
  get asked(): Theme | undefined {
    const asked = this.#given;
    return asked === 'light' || asked === 'dark' ? asked : this.around;
  }

  get theme(): Theme {
    return this.asked ?? (darkScheme.matches ? 'dark' : 'light');
  }

  /** A sentence about a theme that does not exist. */
  get problem(): string | undefined {
    if (['', 'auto', 'light', 'dark'].includes(this.#given)) return undefined;
    return `“${String(this.host.theme).slice(0, 40)}” is not a theme; there are light, dark and auto.`;
  }

  get #given(): string {
    // Null once the attribute has been removed.
    return String(this.host.theme ?? '')
      .trim()
      .toLowerCase();
  }
}

/** The reader's own text size. The rem of the surrounding page may be anything. */
function ownRem(): string {
  if (!CSS.registerProperty) return '16px';
  try {
    CSS.registerProperty({
      name: '--superpose-rem',
      syntax: '<length>',
      inherits: true,
      initialValue: '16px',
    });
  } catch {
    // It is registered already.
  }
  // The root's font is medium, whatever the page says.
  return '1em';
}

const sized = (css: string) =>
  css.replace(
    /(?<!@media[^{]*)(?<![\w.])(-?\d*\.?\d+)rem\b/g,
    (_, size) => `calc(${size} * var(--superpose-rem))`,
  );

const themes = `.root{--superpose-rem:${ownRem()};${themeVariables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${themeVariables('dark')}}}.root[data-theme=dark]{${themeVariables('dark')}}`;
const lighting = terms
  .map((term) => `.root[data-lit='${term}'] [data-term]:not([data-term='${term}']){opacity:.22}`)
  .join('');
const swatches = [...terms, 'accent', 'second', 'third', 'warning', 'quiet', 'ink']
  .map((term) => `.swatch.f-${term}{background:var(--${term})}`)
  .join('');

export const elementStyles = [
  unsafeCSS(themes + inkClasses + lighting + swatches),
  unsafeCSS(sized(controlStyles)),
  unsafeCSS(sized(styles)),
];
