// What a figure must fit: the room it has, the reader's own text and the theme; and its styles, the same on every page.
import { type LitElement, type ReactiveController, unsafeCSS } from 'lit';
import { terms } from '../figures/terms.js';
import { inkClasses, type Theme, themeVariables } from '../plot/colour.js';
import controlStyles from './controls.css?inline';
import styles from './element.css?inline';

/** Text size in pixels, unless the reader has set another. */
const usualText = 16;
/** Larger text makes no picture narrower than this. */
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
  around: Theme | undefined;
  #sizes: ResizeObserver | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    // In the next frame: a figure of another width has another height, and what observes sizes around it would be told of
    // that too late in this one. The browser would report it to the page as an error.
    this.#sizes = new ResizeObserver(([entry]) =>
      requestAnimationFrame(() => {
        // By then the figure may have left the page, where nothing has a size.
        if (!this.host.isConnected) return;
        const room = entry?.contentRect.width ?? 0;
        const root = this.host.renderRoot.querySelector('.root');
        const text = root ? Number.parseFloat(getComputedStyle(root).fontSize) / usualText : 1;
        const scale = Math.max(1, Math.min(text, room / leastWidth));
        const width = Math.floor(room / scale);
        if (width === 0 || (width === this.width && scale === this.scale)) return;
        this.width = width;
        this.scale = scale;
        this.host.requestUpdate();
      }),
    );
    this.#sizes.observe(this.host);
    for (const one of media) one.addEventListener('change', this.#mediaChanged);
  }

  hostDisconnected(): void {
    this.#sizes?.disconnect();
    for (const one of media) one.removeEventListener('change', this.#mediaChanged);
  }

  #mediaChanged = (): void => this.host.requestUpdate();

  /** The theme that the attribute asks for, in any case, unless colours are forced. It has a background of its own. */
  get paper(): Theme | undefined {
    const asked = this.#given;
    return (asked === 'light' || asked === 'dark') && !forcedColours.matches ? asked : undefined;
  }

  /** That theme, or the page's; undefined for the reader's own. */
  get asked(): Theme | undefined {
    return this.paper ?? this.around;
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

/** Words and lines in the reader's colours where these are forced. Those of data stay; they mean something. */
const forced = '--ink:CanvasText;--quiet:CanvasText;--line:GrayText';
const themes = `.root{--superpose-rem:${ownRem()};${themeVariables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${themeVariables('dark')}}}.root[data-theme=dark]{${themeVariables('dark')}}@media (forced-colors: active){.root.root{${forced}}}`;
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
