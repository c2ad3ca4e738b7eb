// The site's pages of figures and what is on each, read from their HTML, so that a link to a figure, a state
// or a section opens it on whichever page it is.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { beats } from './beats.js';

const web = resolve(import.meta.dirname, '..');

/** The folder of each page of figures, relative to the site's. */
export const pageFolders = ['', 'evidence/'] as const;

export const sourceOf = (folder: string): string => readFileSync(resolve(web, folder, 'index.html'), 'utf8');

const named = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, name = '']) => name);

/** The ids and the figures on a page, those of its beats and cards included. */
export function placesOn(html: string): string[] {
  const steps = named(html, /<beat-stage name="([\w-]+)"/g).flatMap(
    (name) => beats.find(({ beat }) => beat === name)?.steps ?? [],
  );
  const cards = named(html, /<check-card name="([\w-]+)"/g);
  return [
    ...new Set([
      ...named(html, /\bid="([\w-]+)"/g),
      ...named(html, /<superpose-figure name="([\w-]+)"/g),
      ...steps.flatMap(({ id, figure }) => (id ? [id, figure] : [figure])),
      ...cards.map((name) => `check-${name}`),
    ]),
  ];
}

const places = new Map(pageFolders.map((folder) => [folder as string, placesOn(sourceOf(folder))]));

/** The places that are on one page alone, for a page that is asked for a place that it does not have. */
export const placesElsewhere = (): Record<string, string> =>
  Object.fromEntries(
    [...places].map(([folder, names]) => {
      const others = [...places].flatMap(([other, list]) => (other === folder ? [] : list));
      return [folder, names.filter((name) => !others.includes(name) && !/-title$/.test(name)).join(' ')];
    }),
  );

/** The folder of a page that Vite transforms, such as /evidence/index.html. */
export const folderOf = (path: string): string => path.slice(1).replace(/index\.html$/, '');

/** How a page's addresses in the site's folder begin: "./" or "../". */
export const upFrom = (path: string): string => (folderOf(path) === '' ? './' : '../');

/** The figure, the card or the section that a fragment leads to. */
const placeOf = (fragment: string): string => /^v=1&amp;figure=([\w-]+)/.exec(fragment)?.[1] ?? fragment;

/** Makes links to places on another page lead to that page. */
export function acrossPages(html: string, folder: string): string {
  const here = places.get(folder) ?? [];
  return html.replace(/href="#([^"]+)"/g, (link, fragment: string) => {
    const place = placeOf(fragment);
    if (here.includes(place)) return link;
    const [other] = [...places].find(([, names]) => names.includes(place)) ?? [];
    if (other === undefined) return link;
    return `href="${upFrom(`/${folder}`)}${other}#${fragment}"`;
  });
}

export const linksAcrossPages = (): Plugin => ({
  name: 'links-across-pages',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { path }) => acrossPages(html, folderOf(path)),
  },
});
