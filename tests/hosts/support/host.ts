// A host to try: a small site of its engine, and the post in it.
import type { Kind, Piece, PlatformName } from '../../../web/page/platforms.ts';
import type { Served } from './serve.ts';

/** A figure in a post: a host's form of it, and the expected result. */
export interface Way {
  place: PlatformName;
  kind: Kind;
  /** Live, or a picture or link where the host lets nothing run. */
  expected: 'live' | 'picture' | 'link';
}

export interface Pasted extends Way {
  pieces: Piece[];
  /** The text to paste into the post. */
  text: string;
  /** The figure: its name, its settings, its finding, and where it links to. */
  figure: string;
  settings: Record<string, string>;
  finding: string;
  link: string;
}

export interface Page {
  name: string;
  address: string;
  ways: readonly Pasted[];
}

export interface Site {
  /** A copy of the host's folder, with its npm packages installed. */
  folder: string;
  /** Address of dist/ on another origin, ending in a slash. */
  home: string;
  /** What is pasted, way by way. */
  pasted: readonly Pasted[];
  /** A post in Markdown or HTML: paragraphs before, between and after what is pasted. */
  post(language: 'markdown' | 'html', pasted?: readonly Pasted[]): string;
  /** A snippet that does not go into the post. */
  piece(place: PlatformName, kind: Kind, into: RegExp): string;
  write(file: string, text: string): void;
  /** Puts this checkout's package where the site finds it as `superpose`. */
  putPackage(): void;
  /** Runs a program in the folder and returns what it printed. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<string>;
  /** Serves a folder inside the site. */
  serve(folder: string): Promise<Served>;
}

export interface Host {
  /** The title in the table. */
  title: string;
  ways: readonly Way[];
  /** Programs that must be on PATH, with the names of their Debian packages. */
  debian?: Readonly<Record<string, string>>;
  /** Whether its npm packages need Node 22. */
  node22?: boolean;
  /** Builds the site and returns its pages. `stop` ends what was started for it. */
  build(site: Site): Promise<{ pages: Page[]; stop(): Promise<void> }>;
  /** Whether its findings are also checked in print. */
  prints?: boolean;
  /** Runs in the page: switches it to its dark theme, or back. */
  dark?: (dark: boolean) => void;
  /** Runs in the page: brings the post's figure of this number into view. */
  reach?: (place: number) => void;
}

/** The ways of a host. */
export const waysOf = (
  place: PlatformName,
  kinds: readonly Kind[],
  expected: Way['expected'] = 'live',
): Way[] =>
  kinds.map((kind) => ({
    place,
    kind,
    expected: kind === 'markdown' || kind === 'svg' ? 'picture' : expected,
  }));

/** One page in a static folder. */
export async function onePage(site: Site, folder: string, path: string) {
  const served = await site.serve(folder);
  return {
    pages: [{ name: '', address: served.address + path, ways: site.pasted }],
    stop: () => served.stop(),
  };
}
