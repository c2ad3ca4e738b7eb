/** Options of `add-or-concatenate/embed`. Figures on seeded numbers need none of them. */
export interface EmbedOptions {
  /** The page of all figures: figures link to their state there. Without it they have no links. */
  home?: string | URL;
  /**
   * A site's folder model/, for figures on MiniLM, which otherwise say that it is missing. On another origin
   * it must send CORS headers.
   */
  model?: string | URL;
  /**
   * The folder of the package's four .wasm files, `add-or-concatenate/superpose-*.wasm`, for bundlers that do
   * not copy them, such as esbuild. On another origin it must send CORS headers.
   */
  wasm?: string | URL;
}

/** Call it before a figure is seen. Importing it on a server does nothing. */
export declare function configure(options: EmbedOptions): void;

export type FigureValue = string | number | boolean | readonly string[];

/** A figure's settings by name; `npx add-or-concatenate list NAME` lists them. */
export type FigureState = Readonly<Record<string, FigureValue>>;

/** The detail of a figure's `change` event. */
export interface FigureChange {
  state: FigureState;
  /** Whether the reader has let go of the slider. */
  settled: boolean;
}

/** `<superpose-figure>`, which is defined when a figure comes near: see `customElements.whenDefined()`. */
export interface SuperposeFigure extends HTMLElement {
  /** The name of the figure, as `npx add-or-concatenate list` prints it. */
  name: string;
  /** `auto` or empty follows the surrounding page. */
  theme: 'light' | 'dark' | 'auto' | '';
  /** Names of the settings that the reader can change, separated by spaces; all unless given. */
  keep: string | null;
  /** Figures of one group share settings: a slider in one moves the same setting in the others. */
  group: string;
  readonly state: FigureState;
  /**
   * Sets these settings in this figure alone, not in its group, and leaves the rest. Fires no `change`. If a
   * setting or its value does not exist, rejects with a TypeError that says what is allowed, and changes
   * nothing.
   */
  set(settings: FigureState): Promise<void>;
  /** Resolves when its first picture is live, after the reader has come near. */
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
