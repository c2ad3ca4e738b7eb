// What a place is to be tried with: a small site of its engine, and the post in it.
import type { Kind, Piece, PlaceName } from '../../../web/page/places.ts';
import type { Served } from './serve.ts';

/** A figure in a post: a place's form of it, and what must come of it. */
export interface Way {
  place: PlaceName;
  kind: Kind;
  /** Live, or as a picture where the host lets nothing run. */
  expected: 'live' | 'picture' | 'link';
}

export interface Pasted extends Way {
  pieces: Piece[];
  /** The text for the post itself. */
  text: string;
  /** Of the figure: its name, what it is set to, what it says, and where it links to. */
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
  /** A piece that is not for the post. */
  piece(place: PlaceName, kind: Kind, into: RegExp): string;
  write(file: string, text: string): void;
  /** Puts this checkout's package where the site finds it as `superpose`. */
  putPackage(): void;
  /** Runs a program in the folder; resolves to what it printed. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<string>;
  /** Serves a folder within. */
  serve(folder: string): Promise<Served>;
}

export interface Host {
  /** As in the table. */
  title: string;
  ways: readonly Way[];
  /** Programs that must be on PATH, by Debian's name of the package. */
  debian?: Readonly<Record<string, string>>;
  /** Its npm packages want Node 22. */
  node22?: boolean;
  /** Builds the site; gives its pages. `stop` ends what was started for it. */
  build(site: Site): Promise<{ pages: Page[]; stop(): Promise<void> }>;
  /** What it says is looked for in print too. */
  prints?: boolean;
  /** Run in the page: switches it to its dark theme, or back. */
  dark?: (dark: boolean) => void;
  /** Run in the page: shows the figure of this place among those of the post. */
  reach?: (place: number) => void;
}

/** The ways that a place has. */
export const waysOf = (place: PlaceName, kinds: readonly Kind[], expected: Way['expected'] = 'live'): Way[] =>
  kinds.map((kind) => ({
    place,
    kind,
    expected: kind === 'markdown' || kind === 'svg' ? 'picture' : expected,
  }));

/** One page out of a static folder. */
export async function onePage(site: Site, folder: string, path: string) {
  const served = await site.serve(folder);
  return {
    pages: [{ name: '', address: served.address + path, ways: site.pasted }],
    stop: () => served.stop(),
  };
}
