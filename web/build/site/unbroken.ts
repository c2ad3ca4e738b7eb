// A number stays on one line with its unit and its sign of equality: "89 %", "d = 8", "8.1 × 10⁻⁵".
import type { Plugin } from 'vite';

const spaces: [RegExp, string][] = [
  [/(?<=\d) (?=%)/g, '\u202f'],
  [/(?<=^|[\p{L}₀-₉]) = (?=\d|$)/gu, '\u00a0=\u00a0'],
  [/ × (?=10[⁰¹²³⁴-⁹⁻])/g, '\u00a0×\u00a0'],
];

/** The text between the tags of a page; what is inside a tag is left as it is. */
export const unbroken = (html: string): string =>
  html.replace(/(?<=>)[^<]+(?=<)/g, (text) =>
    spaces.reduce((line, [space, kept]) => line.replace(space, kept), text),
  );

export const unbrokenNumbers = (): Plugin => ({
  name: 'unbroken-numbers',
  transformIndexHtml: { order: 'post', handler: unbroken },
});
