// What a figure must fit: the room it has, and the theme.
import type { ReactiveController } from 'lit';
import type { Theme } from '../plot/colour.js';
import type { FigureElement } from './figureElement.js';

/** In pixels, of a reader who has not set it. */
const usualText = 16;
/** What a picture is not made narrower than for larger words. */
const leastWidth = 320;
const darkScheme = matchMedia('(prefers-color-scheme: dark)');

export class Surroundings implements ReactiveController {
  /** Of the picture, in its own pixels; 0 until it is known. */
  width = 0;
  /** Pixels of the screen to one of the picture’s: its words grow with the reader’s text, as far as there is room. */
  scale = 1;
  /** The theme of the page around, where it is somebody else's. */
  around: Theme | undefined;
  private sizes: ResizeObserver | undefined;

  constructor(private readonly host: FigureElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.sizes = new ResizeObserver((entries) => {
      const room = entries.at(-1)?.contentRect.width ?? 0;
      const root = this.host.renderRoot.querySelector('.root');
      const text = root ? Number.parseFloat(getComputedStyle(root).fontSize) / usualText : 1;
      const scale = Math.max(1, Math.min(text, room / leastWidth));
      const width = Math.floor(room / scale);
      if (width === 0 || width === this.width) return;
      this.width = width;
      this.scale = scale;
      this.host.requestUpdate();
    });
    this.sizes.observe(this.host);
    darkScheme.addEventListener('change', this.schemeChanged);
  }

  hostDisconnected(): void {
    this.sizes?.disconnect();
    darkScheme.removeEventListener('change', this.schemeChanged);
  }

  private schemeChanged = (): void => this.host.requestUpdate();

  /** The theme that the page asks for, in any case of letters, or has; undefined where the reader's own is meant. */
  get asked(): Theme | undefined {
    const asked = this.given;
    return asked === 'light' || asked === 'dark' ? asked : this.around;
  }

  get theme(): Theme {
    return this.asked ?? (darkScheme.matches ? 'dark' : 'light');
  }

  /** A sentence about a theme that does not exist. */
  get problem(): string | undefined {
    if (['', 'auto', 'light', 'dark'].includes(this.given)) return undefined;
    return `“${this.host.theme.slice(0, 40)}” is not a theme; there are light, dark and auto.`;
  }

  private get given(): string {
    // An attribute that is taken away is null.
    return (this.host.theme ?? '').trim().toLowerCase();
  }
}
