// What hosts need in dist/: header files, a service worker, precompressed copies and, if the site's address
// is known, cards and a sitemap.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';
import { siteAddress } from './address.js';
import { cardTags } from './figurePages.js';
import { figureNames } from './figures.js';

const compressible = ['.html', '.js', '.css', '.svg', '.json', '.txt', '.xml', '.wasm'];
/** Smaller files are not worth a compressed copy. */
const leastBytes = 1024;

/** Files of dist/; the model's only if model/ is a folder of its own and not a link elsewhere. */
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
      const tags = cardTags(home, title, description, {
        address: `${home}figures/dot-products/card.png`,
      });
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
  writeBundle: {
    sequential: true,
    order: 'post',
    async handler() {
      writeHeaders(dist);
      await writeMap(dist);
      writeServiceWorker(dist);
      await compress(dist);
      if (!siteAddress()) {
        console.log(
          'SUPERPOSE_URL is not set, so cards, oEmbed, canonical links and the sitemap are left out. To have them: SUPERPOSE_URL=https://example.org/superpose/ npm run build',
        );
      }
    },
  },
});

/** Everything may be embedded anywhere, even by pages that let in only what allows it (COEP). */
const everywhere: [string, string][] = [
  ['Access-Control-Allow-Origin', '*'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
];
/** A page with COEP frames only pages that have it too. */
const framed: [string, string] = ['Cross-Origin-Embedder-Policy', 'require-corp'];

function writeHeaders(dist: string): void {
  // Files whose names have a hash of their content are kept for a year.
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
  // Otherwise GitHub Pages leaves out files whose names begin with an underscore.
  writeFileSync(join(dist, '.nojekyll'), '');
  const folder = join(dist, 'hosting');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'nginx.conf'),
    `# In a server block of nginx; the folder is this one's parent.
location /superpose/ {
  alias /var/www/superpose/;
  gzip_static on;
${lines(everywhere, (name, value) => `  add_header ${name} ${value};`)}
  # A header without a value is not sent.
  set $framed "";
  if ($uri ~ ^/superpose/figures/) {
    set $framed ${framed[1]};
  }
  add_header ${framed[0]} $framed;
}
`,
  );
  const rule = { AllowedOrigins: ['*'], AllowedMethods: ['GET', 'HEAD'], AllowedHeaders: ['*'] };
  writeFileSync(join(folder, 's3-cors.json'), `${JSON.stringify({ CORSRules: [rule] }, null, 1)}\n`);
  // S3 sends no other headers. CloudFront in front of it does, with one policy for all and one for figures/*.
  const policy = (name: string, headers: [string, string][]) => ({
    Name: name,
    CustomHeadersConfig: {
      Quantity: headers.length,
      Items: headers.map(([Header, Value]) => ({ Header, Value, Override: true })),
    },
  });
  // CloudFront has settings of its own for the other headers.
  const own = everywhere.filter(([name]) => name.startsWith('Cross-Origin-'));
  const policies = {
    cloudfront: policy('superpose', own),
    'cloudfront-figures': policy('superpose-figures', [...own, framed]),
  };
  for (const [name, content] of Object.entries(policies)) {
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(content, null, 1)}\n`);
  }
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

/** It keeps the page with all its figures at once, and the other files of the site as they are used. */
function writeServiceWorker(dist: string): void {
  const folder = join(dist, 'model');
  const model = existsSync(folder) ? readdirSync(folder).map((file) => `model/${file}`) : [];
  const all = [...new Set([...filesOf(dist), ...model])].filter(
    (file) => !/^(hosting\/|_headers$|sw\.js$)|(^|\/)\.|\.(gz|br)$/.test(file),
  );
  const atOnce = (file: string) => /^(assets\/|favicon\.svg$|index\.html$|pictures\/)/.test(file);
  // A folder's own address gives its index.html.
  const addressOf = (file: string) => file.replace(/(^|\/)index\.html$/, '$1') || './';
  const contents = all.filter(atOnce).map((file) => [file, readFileSync(join(dist, file))] as const);
  const integrity = (bytes: Uint8Array) => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
  const files = contents.map(([file, bytes]) => [addressOf(file), integrity(bytes)]);
  const more = all.filter((file) => !atOnce(file)).map(addressOf);
  const made = join(dist, 'model/made-from.txt');
  const code = readFileSync(join(dist, 'sw.js'), 'utf8')
    .replace('__SUPERPOSE_FILES__', JSON.stringify(Object.fromEntries(files)))
    .replace('__SUPERPOSE_MORE__', JSON.stringify(more))
    .replace('__SUPERPOSE_SHELL__', digest(contents.flat()))
    .replace('__SUPERPOSE_MODEL__', existsSync(made) ? digest([readFileSync(made)]) : 'none');
  writeFileSync(join(dist, 'sw.js'), code);
}

/** Compressed copies, for hosts that send such files as they are. */
async function compress(dist: string): Promise<void> {
  // Nearly as small as with the best quality, in a tenth of the time.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  await Promise.all(
    filesOf(dist).map(async (file) => {
      const bytes = readFileSync(resolve(dist, file));
      if (!compressible.includes(extname(file)) || bytes.length < leastBytes) return;
      writeFileSync(resolve(dist, `${file}.gz`), await promisify(gzip)(bytes));
      // Pages in one file are many and large; one compressed copy of each is enough.
      if (/^(figures|demo)\//.test(file)) return;
      writeFileSync(resolve(dist, `${file}.br`), await promisify(brotliCompress)(bytes, quality));
    }),
  );
}
