// A page without its source's indents is smaller and looks the same, because it has no preformatted text.
import type { Plugin } from 'vite';

export function withoutIndents(html: string): string {
  if (/<(pre|textarea)[\s>]/.test(html)) throw new Error('A page with preformatted text keeps its indents.');
  return html.replace(/\n\s+/g, '\n');
}

export const indents = (): Plugin => ({
  name: 'indents',
  apply: 'build',
  transformIndexHtml: { order: 'post', handler: withoutIndents },
});
