/** What `superpose/embed` may be told. Figures on seeded numbers need none of it. */
export interface EmbedOptions {
  /** Where the page of all figures is: figures link to their state there. Without it they have no links. */
  home?: string | URL;
  /** The folder model/ of a site, for figures on MiniLM. It must send CORS headers when it is elsewhere. */
  model?: string | URL;
  /**
   * The folder of the package's four .wasm files, `superpose/superpose-*.wasm`, for bundlers that leave them behind,
   * as esbuild does. It must send CORS headers when it is elsewhere.
   */
  wasm?: string | URL;
}

/** To be called before a figure is seen. Importing it on a server does nothing. */
export declare function configure(options: EmbedOptions): void;

export type FigureValue = string | number | boolean | readonly string[];

/** What a figure is set to, by the names of its settings: `npx superpose list NAME`. */
export type FigureState = Readonly<Record<string, FigureValue>>;

/** The detail of a figure's event `change`. */
export interface FigureChange {
  state: FigureState;
  /** The reader has let go of the slider. */
  settled: boolean;
}

/** `<superpose-figure>`, once `customElements.whenDefined('superpose-figure')` has resolved: one has come near. */
export interface SuperposeFigure extends HTMLElement {
  /** Which figure it is. */
  name: string;
  /** `auto`, or nothing, is that of the page around. */
  theme: 'light' | 'dark' | 'auto' | '';
  /** Names of the settings that the reader can change, with spaces between; all unless given. */
  keep: string | null;
  /** In figures of one group a slider in one moves the same setting in the others. */
  group: string;
  readonly state: FigureState;
  /**
   * Sets what is named, in this figure and not in its group, and leaves the rest. No `change` comes of it. Rejects
   * with a TypeError that says what is allowed where a setting or its value does not exist; then nothing changes.
   */
  set(settings: FigureState): Promise<void>;
  /** Resolves when its first picture is live, which is when the reader has come near. */
  whenLive(): Promise<void>;
  addEventListener(
    type: 'change',
    listener: (this: SuperposeFigure, event: CustomEvent<FigureChange>) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (this: HTMLElement, event: HTMLElementEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** Attributes of `<superpose-figure>`: these, and the settings of the figure. */
export interface SuperposeFigureAttributes {
  name: string;
  theme?: 'light' | 'dark' | 'auto';
  keep?: string;
  group?: string;
  /** A setting of the figure, in kebab-case. */
  [setting: string]: unknown;
}

declare global {
  interface HTMLElementTagNameMap {
    'superpose-figure': SuperposeFigure;
  }
}
