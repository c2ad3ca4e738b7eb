// What a figure takes from around it, the width, the reader's text size and the theme, and its styles, which
// are the same on every page.
import { type LitElement, type ReactiveController, unsafeCSS } from 'lit';
import { terms } from '../figures/terms.js';
import { inkClasses, type Theme, themeVariables } from '../plot/colour.js';
import { sizeVariables } from '../plot/sizes.js';
import controlStyles from './controls.css?inline';
import styles from './element.css?inline';

/** The browser's text size in pixels, unless the reader has set another. */
const defaultTextSize = 16;
/** In the picture's pixels: larger text makes no picture narrower than this. */
const leastWidth = 320;
const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const forcedColours = matchMedia('(forced-colors: active)');
const media = [darkScheme, forcedColours];

interface Host extends LitElement {
  readonly theme: string;
}

export class Surroundings implements ReactiveController {
  /** The picture’s width in its own pixels; 0 until it is known. */
  width = 0;
  /** Screen pixels per picture pixel. Pictures grow with the reader’s text size, as far as there is room. */
  scale = 1;
  /** The theme of the surrounding page, if it is somebody else's. */
  pageTheme: Theme | undefined;
  #sizes: ResizeObserver | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    // In the next frame: a new width changes the figure's height, and observers of sizes around it could not
    // be called any more in this frame. The browser would report that to the page as an error.
    this.#sizes = new ResizeObserver(([entry]) =>
      requestAnimationFrame(() => {
        // By then the figure may have left the page, where nothing has a size.
        if (!this.host.isConnected) return;
        const room = entry?.contentRect.width ?? 0;
        const root = this.host.renderRoot.querySelector('.root');
        const text = root ? Number.parseFloat(getComputedStyle(root).fontSize) / defaultTextSize : 1;
        const scale = Math.max(1, Math.min(text, room / leastWidth));
        const width = Math.floor(room / scale);
        if (width === 0 || (width === this.width && scale === this.scale)) return;
        this.width = width;
        this.scale = scale;
        this.host.requestUpdate();
      }),
    );
    this.#sizes.observe(this.host);
    for (const query of media) query.addEventListener('change', this.#mediaChanged);
  }

  hostDisconnected(): void {
    this.#sizes?.disconnect();
    for (const query of media) query.removeEventListener('change', this.#mediaChanged);
  }

  #mediaChanged = (): void => this.host.requestUpdate();

  /** The theme of the attribute, unless colours are forced. The figure then has that theme's background. */
  get paper(): Theme | undefined {
    const name = this.#attribute;
    return (name === 'light' || name === 'dark') && !forcedColours.matches ? name : undefined;
  }

  /** The attribute's theme, or the surrounding page's; undefined if the reader's preference decides. */
  get fixedTheme(): Theme | undefined {
    return this.paper ?? this.pageTheme;
  }

  get theme(): Theme {
    return this.fixedTheme ?? (darkScheme.matches ? 'dark' : 'light');
  }

  /** A sentence about a theme that does not exist. */
  get problem(): string | undefined {
    if (['', 'auto', 'light', 'dark'].includes(this.#attribute)) return undefined;
    return `“${String(this.host.theme).slice(0, 40)}” is not a theme; there are light, dark and auto.`;
  }

  get #attribute(): string {
    // Null once the attribute has been removed.
    return String(this.host.theme ?? '')
      .trim()
      .toLowerCase();
  }
}

/** The reader's text size. The rem of the surrounding page may be anything. */
function readerRem(): string {
  if (!CSS.registerProperty) return '16px';
  try {
    CSS.registerProperty({
      name: '--superpose-rem',
      syntax: '<length>',
      inherits: true,
      initialValue: '16px',
    });
  } catch {
    // Another figure has registered it.
  }
  // The root's font is medium, whatever the page says.
  return '1em';
}

const withReaderRem = (css: string) =>
  css.replace(
    /(?<!@media[^{]*)(?<![\w.])(-?\d*\.?\d+)rem\b/g,
    (_, size) => `calc(${size} * var(--superpose-rem))`,
  );

/**
 * Where colours are forced, words and lines take the reader's colours. The colours of data stay, because they
 * have a meaning.
 */
const forcedInks = '--ink:CanvasText;--quiet:CanvasText;--line:GrayText';
const themes = `.root{--superpose-rem:${readerRem()};${withReaderRem(sizeVariables)};${themeVariables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${themeVariables('dark')}}}.root[data-theme=dark]{${themeVariables('dark')}}@media (forced-colors: active){.root.root{${forcedInks}}}`;
const litTerms = terms
  .map((term) => `.root[data-lit='${term}'] [data-term]:not([data-term='${term}']){opacity:.22}`)
  .join('');
const swatches = [...terms, 'accent', 'second', 'third', 'concatenated', 'quiet', 'ink']
  .map((term) => `.swatch.f-${term}{background:var(--${term})}`)
  .join('');

export const elementStyles = [
  unsafeCSS(themes + inkClasses + litTerms + swatches),
  unsafeCSS(withReaderRem(controlStyles)),
  unsafeCSS(withReaderRem(styles)),
];
