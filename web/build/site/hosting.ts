// Writes what hosts need into dist/: files with headers, and the site's own address if it is known.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { folderOf } from '../places.js';
import { siteAddress } from './address.js';
import { cardTags } from './figurePages.js';
import { headless, renderState } from './figures.js';

/** Puts the version and the site's address into the page. */
export const hostedPage = (version: string): Plugin => ({
  name: 'hosted-page',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(page, { path }) {
      const home = siteAddress();
      const html = page.replace('<site-version></site-version>', version);
      if (!home) return html;
      const title = html.match(/<title>(.*?)<\/title>/)?.[1] ?? 'Superpose';
      const description = html.match(/<meta name="description" content="([^"]*)"/)?.[1] ?? '';
      const address = `${home}${folderOf(path)}`;
      const tags = cardTags(address, title, description, {
        address: `${home}preview.png`,
      });
      return html.replace(
        '</title>',
        `</title>\n    <link rel="canonical" href="${address}" />\n    ${tags}`,
      );
    },
  },
});

export const hosting = (dist: string): Plugin => ({
  name: 'hosting',
  apply: 'build',
  async writeBundle() {
    writeHeaders(dist);
    if (siteAddress()) await writePreview(dist);
    else {
      console.log(
        'SUPERPOSE_URL is not set, so cards and canonical links are left out, and in Safari sandboxed frames cannot read the model. To change that: SUPERPOSE_URL=https://example.org/superpose/ npm run build',
      );
    }
  },
});

/** Draws the preview that apps show for a link to the page: its first figure, pulled half-way. */
async function writePreview(dist: string): Promise<void> {
  const { rasterised } = await headless();
  const { rendered, toSvg } = await renderState('one-layer', [['pull', '0.5']]);
  const png = await rasterised(await toSvg(rendered, 1200, 'light'), 1);
  if (png) writeFileSync(join(dist, 'preview.png'), png);
}

/** Lets everything be embedded anywhere, even in pages with COEP, which admit only what allows that. */
const everywhere: [string, string][] = [
  ['Access-Control-Allow-Origin', '*'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
];
/** A page with COEP may frame only pages that have it, too. */
const framed: [string, string] = ['Cross-Origin-Embedder-Policy', 'require-corp'];

function writeHeaders(dist: string): void {
  // Files named by a hash of their contents are cached for a year.
  const year = 'public, max-age=31536000, immutable';
  const lines = (headers: [string, string][], line: (name: string, value: string) => string) =>
    headers.map(([name, value]) => line(name, value)).join('\n');
  const colon = (name: string, value: string) => `  ${name}: ${value}`;
  writeFileSync(
    join(dist, '_headers'),
    `/*
${lines(everywhere, colon)}
/figures/*
${lines([framed], colon)}
/assets/*
${lines([['Cache-Control', year]], colon)}
`,
  );
  const set = (name: string, value: string) => `  Header set ${name} "${value}"`;
  writeFileSync(
    join(dist, '.htaccess'),
    `AddType application/wasm .wasm
AddType text/javascript .js
<IfModule mod_headers.c>
${lines(everywhere, set)}
  <FilesMatch "-[A-Za-z0-9_-]{8}\\.(js|css|wasm)$">
    Header set Cache-Control "${year}"
  </FilesMatch>
</IfModule>
`,
  );
  const figures = join(dist, 'figures');
  mkdirSync(figures, { recursive: true });
  writeFileSync(
    join(figures, '.htaccess'),
    `<IfModule mod_headers.c>\n${lines([framed], set)}\n</IfModule>\n`,
  );
  // GitHub Pages would leave out files whose names begin with an underscore.
  writeFileSync(join(dist, '.nojekyll'), '');
}
