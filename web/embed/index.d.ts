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

/** To be called before a figure is seen. */
export declare function configure(options: EmbedOptions): void;

declare global {
  interface HTMLElementTagNameMap {
    'superpose-figure': HTMLElement & { name: string; theme: 'light' | 'dark' | 'auto' | ''; group: string };
  }
}
