// Each figure of a page gets the picture of its first view, made by its own code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { figureNames, madeFigure } from './figures.js';

export function placeholders(dist: string): Plugin {
  return {
    name: 'placeholders',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html) {
        const empty = /<superpose-figure name="([a-z0-9-]+)"([^>]*)><\/superpose-figure>/g;
        const inside = new Map<string, string>();
        const known = await figureNames();
        for (const [, name = ''] of html.matchAll(empty)) {
          inside.set(name, known.includes(name) ? (await madeFigure(name)).placeholder.html : '');
        }
        return html.replace(empty, (_, name: string, rest: string) => {
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
