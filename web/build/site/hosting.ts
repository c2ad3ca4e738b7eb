// What a host wants of dist/: header files, a service worker, precompressed copies, and, where the site's
// address is known, cards and a map.
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';
import { siteAddress } from './address.js';
import { cardTags } from './figurePages.js';
import { figureNames, madeFigure } from './figures.js';

const compressible = ['.html', '.js', '.css', '.svg', '.json', '.txt', '.xml', '.wasm'];
/** Less than this is not worth a second file. */
const leastBytes = 1024;

/** Files of dist/, with slashes; the model's only where they are dist's own and not a link elsewhere. */
function filesOf(dist: string): string[] {
  const modelIsLink = lstatSync(join(dist, 'model'), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    .filter((file) => !(modelIsLink && file.startsWith('model/')))
    .sort();
}

const digest = (parts: Iterable<string | Uint8Array>): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 16);
};

/** Names the service worker in the page, and puts the site's address into it. */
export const hostedPage = (): Plugin => ({
  name: 'hosted-page',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const offline = html.replace(/<html\b/, '<html data-offline="./sw.js"');
      const home = siteAddress();
      if (!home) return offline;
      const title = html.match(/<title>(.*?)<\/title>/)?.[1] ?? 'Superpose';
      const description = html.match(/<meta name="description" content="([^"]*)"/)?.[1] ?? '';
      const tags = cardTags(home, title, description, `${home}figures/dot-products/card.png`);
      return offline.replace(
        '</title>',
        `</title>\n    <link rel="canonical" href="${home}" />\n    ${tags}`,
      );
    },
  },
});

export const hosting = (dist: string): Plugin => ({
  name: 'hosting',
  apply: 'build',
  closeBundle: {
    sequential: true,
    order: 'post',
    async handler() {
      writeHeaders(dist);
      await writeMap(dist);
      await writeServiceWorker(dist);
      await compress(dist);
      if (!siteAddress()) {
        console.log(
          'SUPERPOSE_URL is not set, so cards, oEmbed, canonical links and the sitemap are left out. To have them: SUPERPOSE_URL=https://example.org/superpose/ npm run build',
        );
      }
    },
  },
});

/** Everything may be embedded anywhere; what is named by its content is kept for a year. */
function writeHeaders(dist: string): void {
  const year = 'public, max-age=31536000, immutable';
  writeFileSync(
    join(dist, '_headers'),
    `/*\n  Access-Control-Allow-Origin: *\n  X-Content-Type-Options: nosniff\n/assets/*\n  Cache-Control: ${year}\n`,
  );
  writeFileSync(
    join(dist, '.htaccess'),
    `AddType application/wasm .wasm
AddType text/javascript .js
<IfModule mod_headers.c>
  Header set Access-Control-Allow-Origin "*"
  Header set X-Content-Type-Options "nosniff"
  <FilesMatch "-[A-Za-z0-9_-]{8}\\.(js|css|wasm)$">
    Header set Cache-Control "${year}"
  </FilesMatch>
</IfModule>
`,
  );
  // Else GitHub Pages leaves out what begins with an underscore.
  writeFileSync(join(dist, '.nojekyll'), '');
  const folder = join(dist, 'hosting');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'nginx.conf'),
    `# In a server block of nginx; the folder is this one's parent.
location /superpose/ {
  alias /var/www/superpose/;
  gzip_static on;
  add_header Access-Control-Allow-Origin *;
  add_header X-Content-Type-Options nosniff;
}
`,
  );
  const rule = { AllowedOrigins: ['*'], AllowedMethods: ['GET', 'HEAD'], AllowedHeaders: ['*'] };
  writeFileSync(join(folder, 's3-cors.json'), `${JSON.stringify({ CORSRules: [rule] }, null, 1)}\n`);
}

async function writeMap(dist: string): Promise<void> {
  const home = siteAddress();
  const map = home ? `\nSitemap: ${home}sitemap.xml\n` : '';
  writeFileSync(join(dist, 'robots.txt'), `User-agent: *\nAllow: /\n${map}`);
  if (!home) return;
  const pages = ['', ...(await figureNames()).map((name) => `figures/${name}/`), 'api/', 'demo/'];
  const list = pages.map((page) => `  <url><loc>${home}${page}</loc></url>\n`).join('');
  writeFileSync(
    join(dist, 'sitemap.xml'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${list}</urlset>\n`,
  );
}

/** The page with all its figures, and the words of their first views. */
async function writeServiceWorker(dist: string): Promise<void> {
  const site = filesOf(dist).filter((file) => /^(assets\/|favicon\.svg$|index\.html$|pictures\/)/.test(file));
  const words = await modelFiles(dist);
  // The folder's own address gives index.html.
  const files = ['./', ...site.filter((file) => file !== 'index.html'), ...words];
  const contents = site.flatMap((file) => [file, readFileSync(join(dist, file))]);
  const made = join(dist, 'model/made-from.txt');
  const model = words.length > 0 ? digest([readFileSync(made)]) : 'none';
  const code = readFileSync(join(dist, 'sw.js'), 'utf8')
    .replace('__SUPERPOSE_FILES__', JSON.stringify(files))
    .replace('__SUPERPOSE_SHELL__', digest(contents))
    .replace('__SUPERPOSE_MODEL__', model);
  writeFileSync(join(dist, 'sw.js'), code);
}

async function modelFiles(dist: string): Promise<string[]> {
  const names = new Set<string>();
  const { rowsPerShard } = (() => {
    try {
      return JSON.parse(readFileSync(join(dist, 'model/manifest.json'), 'utf8'));
    } catch {
      return { rowsPerShard: 0 };
    }
  })();
  if (!rowsPerShard) return [];
  for (const name of await figureNames()) {
    const { carried } = await madeFigure(name);
    for (const file of Object.keys(carried?.files ?? {})) names.add(`model/${file}`);
    for (const [table, { at }] of Object.entries(carried?.rows ?? {})) {
      for (const row of at) names.add(`model/${table}-${Math.floor(row / rowsPerShard)}.safetensors`);
    }
  }
  return [...names].sort();
}

/** Copies for hosts that send them as they are. */
async function compress(dist: string): Promise<void> {
  // Far along the way to the best, in a tenth of its time.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  await Promise.all(
    filesOf(dist).map(async (file) => {
      const bytes = readFileSync(resolve(dist, file));
      if (!compressible.includes(extname(file)) || bytes.length < leastBytes) return;
      writeFileSync(resolve(dist, `${file}.gz`), await promisify(gzip)(bytes));
      // Pages of one file are many and large: one copy of each is enough.
      if (/^(figures|demo)\//.test(file)) return;
      writeFileSync(resolve(dist, `${file}.br`), await promisify(brotliCompress)(bytes, quality));
    }),
  );
}
