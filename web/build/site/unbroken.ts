// Keeps a number on one line with its unit, equals sign or power of ten: "89 %", "d = 8", "8.1 × 10⁻⁵".
import type { Plugin } from 'vite';

const spaces: [RegExp, string][] = [
  [/(?<=\d) (?=%)/g, '\u202f'],
  [/(?<=^|[\p{L}₀-₉]) = (?=\d|$)/gu, '\u00a0=\u00a0'],
  [/ × (?=10[⁰¹²³⁴-⁹⁻])/g, '\u00a0×\u00a0'],
];

/** Changes the text between the tags of a page, and nothing inside a tag. */
export const unbroken = (html: string): string =>
  html.replace(/(?<=>)[^<]+(?=<)/g, (text) =>
    spaces.reduce((line, [space, kept]) => line.replace(space, kept), text),
  );

export const unbrokenNumbers = (): Plugin => ({
  name: 'unbroken-numbers',
  transformIndexHtml: { order: 'post', handler: unbroken },
});
