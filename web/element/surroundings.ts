// What a figure must fit: the room it has, and the theme.
import type { ReactiveController } from 'lit';
import type { Theme } from '../plot/colour.js';
import type { FigureElement } from './figureElement.js';

const darkScheme = matchMedia('(prefers-color-scheme: dark)');

export class Surroundings implements ReactiveController {
  /** In pixels; 0 until it is known. */
  width = 0;
  /** The theme of the page around, where it is somebody else's. */
  around: Theme | undefined;
  private sizes: ResizeObserver | undefined;

  constructor(private readonly host: FigureElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.sizes = new ResizeObserver((entries) => {
      const width = Math.floor(entries.at(-1)?.contentRect.width ?? 0);
      if (width === 0 || width === this.width) return;
      this.width = width;
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
