import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { maths } from './maths.js';
import { publishedResults } from './published.js';
import { verdictTable } from './verdicts.js';

const here = import.meta.dirname;

/** The model's files go beside the page as they are; without them the page says what is missing. */
function modelFiles(): Plugin {
  return {
    name: 'model-files',
    apply: 'build',
    closeBundle() {
      const model = resolve(here, '../build/model');
      if (existsSync(model)) cpSync(model, resolve(here, '../dist/model'), { recursive: true });
    },
  };
}

/** Each figure of a page gets the picture of its first view, made by its own code. */
function placeholders(): Plugin {
  const folder = 'pictures';
  const pictures: Record<string, string> = {};
  return {
    name: 'placeholders',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html) {
        const headless: typeof import('./headless/index.js') = await import(
          pathToFileURL(resolve(here, '../build/package/headless/index.js')).href
        );
        const model = resolve(here, '../build/model');
        const render = headless.renderer(pathToFileURL(`${model}/`));
        const empty = /<superpose-figure name="([a-z0-9-]+)"([^>]*)><\/superpose-figure>/g;
        const inside = new Map<string, string>();
        for (const [, name = ''] of html.matchAll(empty)) {
          if (inside.has(name)) continue;
          try {
            const made = await headless.placeholder(await render(name), `./${folder}/`);
            inside.set(name, made.html);
            Object.assign(pictures, made.pictures);
          } catch (error) {
            // Without the weights a page can still be built; with them every figure must have its picture.
            if (existsSync(model)) throw error;
            console.warn(`${name} has no picture: ${(error as Error).message}`);
            inside.set(name, '');
          }
        }
        html = html.replace('<verdict-table></verdict-table>', () => verdictTable(headless));
        return html.replace(empty, (_, name: string, rest: string) => {
          return `<superpose-figure name="${name}"${rest}>${inside.get(name)}</superpose-figure>`;
        });
      },
    },
    closeBundle() {
      const out = resolve(here, '../dist', folder);
      mkdirSync(out, { recursive: true });
      for (const [name, svg] of Object.entries(pictures)) writeFileSync(resolve(out, name), svg);
    },
  };
}

const alias = { superpose: resolve(here, '../build/package/index.js') };

export default defineConfig({
  root: here,
  // Relative addresses, so that the site works from any folder of any server.
  base: './',
  resolve: { alias },
  worker: { format: 'es' },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
  },
  plugins: [maths(), publishedResults(), modelFiles(), placeholders()],
});
