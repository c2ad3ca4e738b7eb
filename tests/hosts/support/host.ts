// A host to try: a small site of its engine, and the post in it.
import type { Piece, PlatformName } from '../../../web/page/platforms.ts';
import type { Served } from './serve.ts';

/** A figure in a post: the Embed dialog's texts for it, and what is expected of it. */
export interface Pasted {
  place: PlatformName;
  pieces: readonly Piece[];
  /** The text to paste into the post. */
  text: string;
  /** The figure: its name, its settings, its finding, and where it links to. */
  figure: string;
  settings: Record<string, string>;
  finding: string;
  link: string;
}

export interface Page {
  address: string;
  ways: readonly Pasted[];
}

export interface Site {
  /** Address of dist/ on another origin, ending in a slash. */
  home: string;
  /** What is pasted, way by way. */
  pasted: readonly Pasted[];
  /** A post in Markdown or HTML: paragraphs before, between and after what is pasted. */
  post(language: 'markdown' | 'html'): string;
  write(file: string, text: string): void;
  /** Puts this checkout's package where the site finds it as `superpose`. */
  putPackage(): void;
  /** Runs a program in the folder and returns what it printed. */
  run(command: string, args: string[]): Promise<string>;
  /** Serves a folder inside the site. */
  serve(folder: string): Promise<Served>;
}

export interface Host {
  /** The title in the table. */
  title: string;
  /** The platforms of the Embed dialog whose texts are pasted. */
  ways: readonly PlatformName[];
  /** Whether it has a folder here, with npm packages. */
  packages?: true;
  /** Builds the site and returns its page. `stop` ends what was started for it. */
  build(site: Site): Promise<{ page: Page; stop(): Promise<void> }>;
  /** Runs in the page: switches it to its dark theme, or back. */
  dark?: (dark: boolean) => void;
}

/** A page in a static folder. */
export async function onePage(site: Site, folder: string) {
  const served = await site.serve(folder);
  return { page: { address: served.address, ways: site.pasted }, stop: () => served.stop() };
}
