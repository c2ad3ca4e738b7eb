// Builds the list of claims, each with a link to the figure in the state that shows it.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Plugin } from 'vite';
import { initialState, readState } from '../figures/controls.js';
import { headless } from './site/figures.js';

/** A state of a figure, and what the figure must say in it. */
export interface FigureState {
  figure?: string;
  /** Settings that differ from the first view. */
  settings?: Record<string, string | number>;
  /** What the figure must say in that state; a test checks it. */
  shows: string[];
}

export interface Verdict extends FigureState {
  claim: string;
  /** Who claimed it, if somebody can be named, and where. */
  claimedBy?: { who: string; where: string };
  /** The question that the claim answers. */
  asks: string;
  /** Whether the claim is visible before the list is opened. Its `on` then has at most twelve words. */
  first?: boolean;
  tag: 'True' | 'False' | 'Depends';
  /** What the claim depends on, where it holds, or why it does not. */
  on?: string;
  verdict: string;
  why: string;
  /** The section to link to instead of a figure, for a claim about published numbers. */
  section?: string;
}

export const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../page/verdicts.json', import.meta.url), 'utf8'),
);

export type Headless = Awaited<ReturnType<typeof headless>>;

/** A text with links. */
export interface LinkedText {
  /** Each part in brackets is a link. */
  text: string;
  /** The targets of the links, in their order. */
  links?: Link[];
}

export interface Link extends FigureState {
  /** What the linked number is about: the link's tooltip. */
  holds?: string;
}

export function linkOf(
  { figure, settings, section }: FigureState & { section?: string },
  { figures, readLink, writeLink }: Headless,
): string {
  if (!figure) return `#${section}`;
  const target = figures[figure];
  if (!target) throw new Error(`The page links to a figure “${figure}”, which does not exist.`);
  const texts = Object.entries(settings ?? {}).map(([name, value]) => [name, String(value)] as const);
  const { state, refused } = readState(target.controls, texts);
  if (refused.length > 0) throw new Error(`A link of the page: ${refused.join(' ')}`);
  // Settings at their initial values are left out, because the links count among the page's first bytes.
  const initial = initialState(target.controls);
  const fields = new URLSearchParams(writeLink(figure, target.controls, state).slice(1));
  for (const [name, value] of Object.entries(initial)) if (state[name] === value) fields.delete(name);
  const read = readLink(`#${fields}`);
  const short = read && 'settings' in read ? readState(target.controls, read.settings).state : undefined;
  return isDeepStrictEqual(short, state) ? `#${fields}` : writeLink(figure, target.controls, state);
}

export const html = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
/** The text without the brackets of its links. */
export const plainText = ({ text }: LinkedText): string => text.replace(/[[\]]/g, '');

/** The text with its links, as HTML. */
export function linked({ text, links = [] }: LinkedText, withFigures: Headless): string {
  const left = [...links];
  return html(text).replace(/\[(.*?)\]/g, (_, words: string) => {
    const link = left.shift();
    if (!link) throw new Error(`A text of the page has more brackets than links: ${text}`);
    const holds = link.holds ? ` title="${html(link.holds)}"` : '';
    return `<a class="see" href="${html(linkOf(link, withFigures))}"${holds}>${words}</a>`;
  });
}

/** Text as HTML, with the subscripts of W_Q and W_K, and with links to papers on arXiv. */
const printed = (text: string) =>
  html(text)
    .replace(/W_([QK])/g, 'W<sub>$1</sub>')
    .replace(/arXiv (\d{4}\.\d{5})/g, '<a href="https://arxiv.org/abs/$1">arXiv $1</a>');

function itemOf(item: Verdict, withFigures: Headless): string {
  const { claim, claimedBy, tag, on, verdict, why, figure, first } = item;
  const link = html(linkOf(item, withFigures));
  const where = figure ? 'See it' : 'The published numbers';
  const who = claimedBy ? ` Said in <a href="${claimedBy.where}">${html(claimedBy.who)}</a>.` : '';
  const rests = [first && claimedBy?.who.replace(/ \d+$/, ''), on].filter(Boolean).join(': ');
  const what = rests ? ` <span class="on">${html(rests)}</span>` : '';
  return `<details class="verdict${first ? '' : ' later'}" data-tag="${tag}"><summary><span class="tag" data-tag="${tag}">${tag}</span> <span class="claim">${html(claim)}${what}</span></summary><p><strong>${html(verdict)}.</strong> ${printed(why)}${who} <a class="see" href="${link}">${where}<span class="unseen">: ${html(claim)}</span></a></p></details>`;
}

/** The filters, which page.css obeys, and the claims below the questions that they answer. */
function listOf(withFigures: Headless): string {
  const questions = [...new Set(verdicts.map(({ asks }) => asks))];
  const groups = questions.map((asks) => {
    const items = verdicts.filter((item) => item.asks === asks).map((item) => itemOf(item, withFigures));
    return `<div><h3>${html(asks)}</h3>${items.join('\n')}</div>`;
  });
  const options = (names: string[]) =>
    names.map((name, place) => `<option value="${place + 1}">${html(name)}</option>`).join('');
  const filter = (label: string, names: string[]) =>
    `<label>${label} <select name="${label.toLowerCase()}"><option value="">all</option>${options(names)}</select></label>`;
  return `<div class="kinds">${filter('Verdict', ['True', 'False', 'Depends'])}${filter('Question', questions)}<label class="more-claims"><input type="checkbox" />all ${verdicts.length}</label><p class="unseen" role="status"></p></div>
<div class="verdicts">${groups.join('\n')}</div>`;
}

export const verdictTable = (): Plugin => ({
  name: 'verdict-table',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(page) {
      const mark = '<verdict-table></verdict-table>';
      if (!page.includes(mark)) return page;
      const list = listOf(await headless());
      return page.replace(mark, () => list);
    },
  },
});
