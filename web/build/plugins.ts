// Vite plugins that change the pages and scripts of the build.
import { resolve } from 'node:path';
import temml from 'temml';
import { type CompressOptions, type FormatOptions, minify } from 'terser';
import type { Plugin } from 'vite';
import { isRead, type Source } from '../figures/languageRuns.js';

// <tex>...</tex> becomes MathML in the build, so that readers' browsers run no code for formulas. \\TT,
// \\TP, \\PT, \\PP and \\REST give a part the colour of its term.
const term = (name: string) => `\\data{term=${name}}{#1}`;
const macros = {
  '\\TT': term('token-token'),
  '\\TP': term('token-position'),
  '\\PT': term('position-token'),
  '\\PP': term('position-position'),
  '\\REST': term('rest'),
};

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

export function toMathml(tex: string, display: boolean): string {
  const source = tex.replace(/&(lt|gt|amp);/g, (entity) => entities[entity] as string).trim();
  const mathml = temml.renderToString(source, {
    displayMode: display,
    macros: { ...macros },
    trust: true,
    throwOnError: true,
  });
  // The page's content security policy forbids inline styles, and the classes belong to a style sheet that
  // the page does not use. `fence` has no effect in browsers, which recognize opening and closing brackets
  // themselves.
  return mathml.replace(/ (?:style|class|fence)="[^"]*"/g, '').replace(/ form="\w+"([^>]*>[()[\]])/g, '$1');
}

export const withMaths = (html: string): string =>
  html.replace(/<tex( display)?>([\s\S]*?)<\/tex>/g, (_, display: string | undefined, tex: string) => {
    const mathml = toMathml(tex, display !== undefined);
    // A long formula scrolls on a phone, so it must be reachable by keyboard.
    return display === undefined ? mathml : `<div class="formula" tabindex="0">${mathml}</div>`;
  });

export const maths = (): Plugin => ({
  name: 'maths',
  transformIndexHtml: { order: 'pre', handler: withMaths },
});

/** Removes the source's indentation, which is invisible in a page without preformatted text. */
export function withoutIndents(html: string): string {
  if (/<(pre|textarea)[\s>]/.test(html)) throw new Error('A page with preformatted text keeps its indents.');
  return html.replace(/\n\s+/g, '\n');
}

export const indents = (): Plugin => ({
  name: 'indents',
  apply: 'build',
  transformIndexHtml: { order: 'post', handler: withoutIndents },
});

/**
 * Spaces that keep a number on one line with its unit, equals sign or power of ten: "89 %", "d = 8", "8.1 ×
 * 10⁻⁵".
 */
const spaces: [RegExp, string][] = [
  [/(?<=\d) (?=%)/g, '\u202f'],
  [/(?<=^|[\p{L}₀-₉]) = (?=\d|$)/gu, '\u00a0=\u00a0'],
  [/ × (?=10[⁰¹²³⁴-⁹⁻])/g, '\u00a0×\u00a0'],
];

/** Makes these spaces unbreakable in the text between tags. */
export const unbroken = (html: string): string =>
  html.replace(/(?<=>)[^<]+(?=<)/g, (text) =>
    spaces.reduce((line, [space, unbreakable]) => line.replace(space, unbreakable), text),
  );

export const unbrokenNumbers = (): Plugin => ({
  name: 'unbroken-numbers',
  transformIndexHtml: { order: 'post', handler: unbroken },
});

/**
 * Minifies once more, after Vite's own minifier. That saves a hundredth of the page's scripts, which would
 * otherwise exceed their budgets, and a quarter of the package's figures, which Vite does not minify.
 */
export const smaller = (compress: CompressOptions, format: FormatOptions = {}): Plugin => ({
  name: 'smaller',
  async generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      const { code } = await minify(file.code, {
        module: true,
        ecma: 2020,
        compress: { passes: 3, ...compress },
        format,
      });
      file.code = code ?? file.code;
    }
  },
});

// The file of language models also says how each source was trained, and has runs that only docs/evidence.md
// speaks of. Readers of the page need not fetch those.
export const readResults = (): Plugin => ({
  name: 'read-results',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/recorded/language.json')) return undefined;
    const file = JSON.parse(code);
    const sources = file.sources.map(({ by, device, size: { width, length }, batch, curve }: Source) => {
      return { by, device, size: { width, length }, batch, curve };
    });
    return JSON.stringify({ ...file, sources, results: file.results.filter(isRead) });
  },
});

/**
 * Matches the bundler's loop over a module's exports. Its `for … in` also visits what a page has added to
 * Object.prototype and would define that again, so on such a page no figure would load.
 */
const exportLoop = /for\s*\(var (\w+) in (\w+)\)/g;

export const ownProperties = (): Plugin => ({
  name: 'own-properties',
  renderChunk: (code) =>
    code.includes('Symbol.toStringTag') ? code.replace(exportLoop, 'for (var $1 of Object.keys($2))') : null,
});

/** For a bundler's `transform`: our own Array.from, because MooTools and Prototype.js replace the page's. */
export const independent = {
  inject: {
    'Array.from': [resolve(import.meta.dirname, '../plot/plainCopy.ts'), 'arrayFrom'] as [string, string],
  },
};

/** The functions in a syntax tree that do nothing but import a module. */
function importers(node: unknown): { start: number; end: number; body: { start: number; end: number } }[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, body } = node as { type?: string; body?: { type?: string } };
  if (type === 'ArrowFunctionExpression' && body?.type === 'ImportExpression') return [node as never];
  return Object.values(node).flatMap(importers);
}

/**
 * A figure's module draws and computes. The page needs only the half that draws, a worker only the half that
 * computes, and a bundler that saw both would put the code of every picture into the worker. So the functions
 * of figures/index.ts are rewritten to pass on that half alone.
 */
export const onlyHalf = (half: 'figure' | 'compute'): Plugin => ({
  name: 'only-half',
  transform(code, id) {
    if (!id.endsWith('/figures/index.ts')) return undefined;
    const imports = importers(this.parse(code));
    if (imports.length === 0) throw new Error(`${id} imports no figures.`);
    let text = code;
    // From the last to the first, so that the positions of the others stay valid.
    for (const { start, end, body } of imports.reverse()) {
      const imported = code.slice(body.start, body.end);
      text = `${text.slice(0, start)}async () => ({ ${half}: (await ${imported}).${half} })${text.slice(end)}`;
    }
    return { code: text, map: null };
  },
});
