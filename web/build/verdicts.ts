// The list of claims, made when the page is built: each with a link to the figure in the state that shows it.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { readState } from '../figures/controls.js';
import { headless } from './site/figures.js';

/** A state of a figure, and what it must say there. */
export interface Shown {
  figure?: string;
  /** Settings that differ from the first view. */
  settings?: Record<string, string | number>;
  /** What the figure must say in that state; a test checks it. */
  shows: string[];
}

export interface Verdict extends Shown {
  claim: string;
  tag: 'True' | 'False' | 'Depends';
  verdict: string;
  why: string;
  /** Instead of a figure, if the claim is about published numbers and nothing is computed. */
  section?: string;
}

export const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../page/verdicts.json', import.meta.url), 'utf8'),
);

type Headless = Awaited<ReturnType<typeof headless>>;

export function linkOf(
  { figure, settings, section }: Shown & { section?: string },
  { figures, writeLink }: Headless,
): string {
  if (!figure) return `#${section}`;
  const one = figures[figure];
  if (!one) throw new Error(`The page names a figure “${figure}” that is not there.`);
  const texts = Object.entries(settings ?? {}).map(([name, value]) => [name, String(value)] as const);
  const { state, refused } = readState(one.controls, texts);
  if (refused.length > 0) throw new Error(`A link of the page: ${refused.join(' ')}`);
  return writeLink(figure, one.controls, state);
}

export const html = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
/** W_Q with its subscript. */
const printed = (text: string) => html(text).replace(/W_([QK])/g, 'W<sub>$1</sub>');

function listOf(withFigures: Headless): string {
  const items = verdicts.map((one) => {
    const { claim, tag, verdict, why, figure } = one;
    const link = html(linkOf(one, withFigures));
    const where = figure ? 'See it' : 'The published numbers';
    return `<details class="verdict"><summary><span class="tag" data-tag="${tag}">${tag}</span> <span class="claim">${html(claim)}</span></summary><p><strong>${html(verdict)}.</strong> ${printed(why)} <a class="see" href="${link}">${where}<span class="unseen">: ${html(claim)}</span></a></p></details>`;
  });
  return `<div class="verdicts">${items.join('\n')}</div>`;
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
