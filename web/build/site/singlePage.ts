// Writes the page of one figure in one file.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SinglePage } from '../../embed/single.js';
import { inks, type Theme } from '../../plot/colour.js';
import { escaped } from '../../plot/svg.js';
import { siteAddress } from './address.js';
import { modelAddress } from './modelFolder.js';

export interface SinglePageParts {
  title: string;
  description: string;
  page: Omit<SinglePage, 'model'>;
  /** SVG for narrow and for wide pages, each light and dark. */
  pictures: { narrow: string; wide: string };
  finding: string;
  script: string;
  /** Markup for the head: links and the tags of cards. */
  head?: string;
}

/**
 * Colours by the reader's scheme, which the surrounding page's theme overrides; the figure's own theme
 * overrides both.
 */
const coloursOf = (theme: Theme) =>
  `{color-scheme:${theme};background:${inks[theme].paper};color:${inks[theme].ink}}`;
const colours = { light: coloursOf('light'), dark: coloursOf('dark') };
const style = `body{margin:0;padding:2px 4px 6px;overflow:auto;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}img{max-width:100%;height:auto}body${colours.light}@media (prefers-color-scheme:dark){body${colours.dark}}body[data-around=light]${colours.light}body[data-around=dark]${colours.dark}body:has([theme=light i])${colours.light}body:has([theme=dark i])${colours.dark}`;

const wasmBlock = (module: SinglePage['module']) => {
  const name = module === 'small' ? 'superpose-small-plain' : 'superpose-plain';
  const file = resolve(import.meta.dirname, `../../../build/package/wasm/${name}.wasm`);
  return `<script type="application/octet-stream" id="superpose-wasm">${readFileSync(file, 'base64')}</script>`;
};
export const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const inline = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg.trim()).replace(/'/g, '%27')}`;
/** Writes JSON that can stand between script tags without closing them. */
export const jsonBlock = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');

/** The licences in one line, because such a file is passed on without their texts. */
function notice({ home }: Pick<SinglePage, 'home'>): string {
  const line = readFileSync(resolve(import.meta.dirname, '../../../build/single/notices.txt'), 'utf8');
  const texts = `${siteAddress() ?? home}THIRD-PARTY.txt`;
  return `<!-- Superpose, MIT, Copyright (c) 2026 The Superpose authors. In this file: ${line.replaceAll('--', '-')}. The licences: ${texts} -->`;
}

export function singlePage(parts: SinglePageParts): string {
  const { title, description, page, pictures, finding, script, head = '' } = parts;
  const model = modelAddress();
  // Where the page may read from. In a sandboxed frame, WebKit counts no address as 'self'.
  const origins = [siteAddress(), model].flatMap((address) =>
    address && URL.canParse(address) ? [new URL(address).origin] : [],
  );
  const code = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)} 'wasm-unsafe-eval'`,
    `style-src ${hashOf(style)}`,
    'img-src data: blob:',
    'worker-src blob:',
    ["connect-src 'self'", ...new Set(origins)].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // A link to the page may ask for another state, which only a script can read. The remark is in the element,
  // because a saved file has other pictures there.
  const first =
    page.settings.length === 0
      ? '<noscript><p>Without scripts, this is the figure’s first view.</p></noscript>'
      : '';
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)}</title>
    <meta name="description" content="${escaped(description)}" />${head}
    <style>${style}</style>
  </head>
  <body>
    ${notice(page)}
    <superpose-figure name="${page.figure}"><picture><source media="(min-width: 40rem)" srcset="${inline(pictures.wide)}"><img src="${inline(pictures.narrow)}" alt="${escaped(title)}"></picture><p>${escaped(finding)}</p>${first}</superpose-figure>
    <script type="application/json" id="superpose-page">${jsonBlock({ ...page, model })}</script>
    ${wasmBlock(page.module)}
    <script>${code}</script>
  </body>
</html>
`;
}
