// A state as the fragment of an address: #v=1&figure=NAME&setting=value... It has every setting of the
// figure, so a link keeps showing the same view when defaults change. Also the addresses that links begin
// with.
import { type Controls, type State, writtenState } from '../figures/controls.js';

export const version = 1;

/**
 * The longest link that is read, in characters. None of our links is longer, even with the longest text and
 * every character escaped as three bytes.
 */
const longest = 60_000;

export function writeLink(figure: string, controls: Controls, state: State): string {
  const fields = new URLSearchParams([
    ['v', String(version)],
    ['figure', figure],
    ...writtenState(controls, state),
  ]);
  return `#${fields}`;
}

export type ReadLink =
  | { figure: string; settings: [string, string][] }
  /** A sentence about a link that cannot be read. */
  | { refused: string }
  /** Not a link to a state: empty, or the id of a place on the page. */
  | undefined;

/**
 * Matches a link that a chat or a mail gateway has encoded again: its first “=”, or the “&” after its
 * version, is escaped.
 */
const encoded = /^#(present%(25){0,4}2f|(present\/)?v(%(25){0,4}3d|=\d+(%(25){0,4}26|&amp;)))/i;

/** The link as it was before it was encoded again. A link that cannot be decoded stays encoded. */
export function decodedLink(fragment: string): string {
  if (!encoded.test(fragment)) return fragment;
  try {
    return decodedLink(decodeURIComponent(fragment.replaceAll('&amp;', '&')));
  } catch {
    return fragment;
  }
}

export function readLink(fragment: string): ReadLink {
  const link = decodedLink(fragment);
  if (encoded.test(link)) {
    return { refused: 'This link is damaged; copy it again.' };
  }
  if (!/^#v=/.test(link)) return undefined;
  if (link.length > longest) return { refused: 'This link is too long to be one of this page.' };
  const fields = [...new URLSearchParams(link.slice(1))];
  const v = fields.find(([name]) => name === 'v')?.[1];
  if (v !== String(version)) {
    return { refused: `This link is of version “${v?.slice(0, 20)}”; this page knows version ${version}.` };
  }
  const figure = fields.find(([name]) => name === 'figure')?.[1];
  if (!figure) return { refused: 'This link does not say which figure it shows.' };
  return { figure, settings: fields.filter(([name]) => name !== 'v' && name !== 'figure') };
}

/** The page that the figures are on: their own or somebody else’s. */
export const hostPage = {
  /**
   * It is somebody else’s page: figures share nothing unless they are in a group, and link to their own page.
   */
  foreign: false,
  /** The address of the page of all figures, ending in a slash; undefined if there is none. */
  home: undefined as string | undefined,
  /** The address of the folder of figures' pictures, likewise. */
  pictures: undefined as string | undefined,
  /**
   * The settings of the picture that stands in for a figure; undefined where the page’s author has chosen it.
   */
  standIn: { settings: [], called: 'the figure’s first view' } as
    | { settings: [string, string][]; called: string }
    | undefined,
};

/** The address that a link to a state begins with. */
export const linkBase = (): string | undefined =>
  hostPage.foreign ? hostPage.home : location.href.split('#')[0];
