// The table of claims, made while the page is built: each with a link to the figure in the state that shows it.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { readState } from '../figures/controls.js';
import { headless } from './site/figures.js';

export interface Verdict {
  claim: string;
  verdict: string;
  why: string;
  /** The figure that shows it, and its settings that are not the first ones ... */
  figure?: string;
  settings?: Record<string, string | number>;
  /** ... or a section, where what is said is published and not computed. */
  section?: string;
  /** What the figure must say in that state; the tests look. */
  shows: string[];
}

export const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../page/verdicts.json', import.meta.url), 'utf8'),
);

type Headless = Awaited<ReturnType<typeof headless>>;

export function linkOf({ figure, settings, section }: Verdict, { figures, writeLink }: Headless): string {
  if (!figure) return `#${section}`;
  const one = figures[figure];
  if (!one) throw new Error(`verdicts.json names a figure “${figure}” that is not there.`);
  const texts = Object.entries(settings ?? {}).map(([name, value]) => [name, String(value)] as const);
  const { state, refused } = readState(one.controls, texts);
  if (refused.length > 0) throw new Error(`verdicts.json: ${refused.join(' ')}`);
  return writeLink(figure, one.controls, state);
}

const html = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
/** W_Q as it is printed. */
const printed = (text: string) => html(text).replace(/W_([QK])/g, 'W<sub>$1</sub>');

function tableOf(withFigures: Headless): string {
  const rows = verdicts.map((verdict) => {
    const link = html(linkOf(verdict, withFigures));
    const where = verdict.figure ? 'See it' : 'The published numbers';
    return `<tr><th scope="row">${html(verdict.claim)}</th><td><strong>${html(verdict.verdict)}.</strong> ${printed(verdict.why)} <a href="${link}">${where}<span class="unseen">: ${html(verdict.claim)}</span></a></td></tr>`;
  });
  return `<table class="verdicts"><thead><tr><th scope="col">It is said that</th><th scope="col">What is so</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

export const verdictTable = (): Plugin => ({
  name: 'verdict-table',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(page) {
      const mark = '<verdict-table></verdict-table>';
      if (!page.includes(mark)) return page;
      const table = tableOf(await headless());
      return page.replace(mark, () => table);
    },
  },
});
