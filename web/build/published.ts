// Builds the tables of other people's results in place of <published></published>.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { escaped } from '../plot/svg.js';

export interface Published {
  id: string;
  what: string;
  /** The number as it was printed, so that 13.10 keeps its zero. */
  value: string;
  unit: string;
  source: string;
  url: string;
  /** The numbers that `value` is the mean of, if they were printed, too. */
  parts?: number[];
}

export const published: Published[] = JSON.parse(
  readFileSync(new URL('../page/published.json', import.meta.url), 'utf8'),
);

const unique = (texts: string[]) => [...new Set(texts)];

/** Where a value lies between its column's smallest and largest, from 0 to 1; 0.5 if all are equal. */
export function placeIn(column: readonly number[], value: number): number {
  const [low, high] = [Math.min(...column), Math.max(...column)];
  return high > low ? (value - low) / (high - low) : 0.5;
}

/** One table for each source: a row for each thing, a column for each unit, a dot beside each number. */
function tableOf(source: string): string {
  const results = published.filter((result) => result.source === source);
  const units = unique(results.map(({ unit }) => unit));
  const rows = unique(results.map(({ what }) => what)).map((what) => {
    const cells = units.map((unit) => {
      const result = results.find((result) => result.what === what && result.unit === unit);
      if (!result) return '<td></td>';
      const column = results.filter((result) => result.unit === unit).map(({ value }) => Number(value));
      const across = Math.round(4 + 92 * placeIn(column, Number(result.value)));
      return `<td>${escaped(result.value)}<svg aria-hidden="true" viewBox="0 0 100 8"><path d="M0 4h100"/><circle cx="${across}" cy="4" r="4"/></svg></td>`;
    });
    return `<tr><th scope="row">${escaped(what)}</th>${cells.join('')}</tr>`;
  });
  const link = `<a href="${escaped(results[0]?.url ?? '')}">${escaped(source)}</a>`;
  return `<div class="scrolled" tabindex="0" role="group" aria-label="${escaped(source)}"><table class="published"><caption>${link} <span>published, not computed here; each column’s dots run from its lowest to its highest</span></caption><thead><tr><th scope="col">Positions</th>${units.map((unit) => `<th scope="col">${escaped(unit)}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

export const withPublished = (html: string): string =>
  html.replace('<published></published>', () =>
    unique(published.map(({ source }) => source))
      .map(tableOf)
      .join('\n'),
  );

export const publishedResults = (): Plugin => ({
  name: 'published-results',
  transformIndexHtml: { order: 'pre', handler: withPublished },
});
