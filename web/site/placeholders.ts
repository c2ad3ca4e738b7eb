// Each figure of a page gets the picture of its first view, made by its own code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { verdictTable } from '../verdicts.js';
import { figureNames, headless, madeFigure } from './figures.js';

export function placeholders(dist: string): Plugin {
  return {
    name: 'placeholders',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html) {
        const empty = /<superpose-figure name="([a-z0-9-]+)"([^>]*)><\/superpose-figure>/g;
        const inside = new Map<string, string>();
        const drawable = new Set(await figureNames());
        for (const [, name = ''] of html.matchAll(empty)) {
          inside.set(name, drawable.has(name) ? (await madeFigure(name)).placeholder.html : '');
        }
        const found = await headless();
        const withVerdicts = html.replace('<verdict-table></verdict-table>', () => verdictTable(found));
        return withVerdicts.replace(empty, (_, name: string, rest: string) => {
          return `<superpose-figure name="${name}"${rest}>${inside.get(name)}</superpose-figure>`;
        });
      },
    },
    async closeBundle() {
      const out = resolve(dist, 'pictures');
      mkdirSync(out, { recursive: true });
      for (const name of await figureNames()) {
        const { pictures } = (await madeFigure(name)).placeholder;
        for (const [file, svg] of Object.entries(pictures)) writeFileSync(resolve(out, file), svg);
      }
    },
  };
}
