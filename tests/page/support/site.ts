// Serves dist/ from a folder deep inside another site, as a blog would, records every request, and breaks
// what a test tells it to break.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { shorter } from '../../figures/support.ts';

export const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));
/** What is in dist/. */
export const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
  (file) => extname(file) !== '',
);
/** The size of these files together, each compressed. */
export const kilobytes = (names: string[]) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0) / 1024;

export const recordings = readdirSync(new URL('../../../web/figures/recorded', import.meta.url)).map((file) =>
  file.replace('.json', ''),
);
/** Whether a script is a recording. A figure's code may have the same name, but contains a function. */
export const isRecording = (file: string) =>
  recordings.some((name) => file.startsWith(`assets/${name}-`)) &&
  !/=>|function/.test(readFileSync(join(dist, file), 'utf8'));

const folder = '/blog/superpose/';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.bin': 'application/octet-stream',
  '.safetensors': 'application/octet-stream',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
};

type Fault = (response: ServerResponse, bytes: Buffer) => Promise<Buffer | undefined>;

export interface Site {
  /** Address of the page, ending in a slash. */
  readonly address: string;
  /** Paths, in the order of the requests. */
  readonly requests: readonly string[];
  /** Addresses that were not answered properly: browsers report these on the console. */
  readonly faulty: ReadonlySet<string>;
  /** From now on the server lacks these files. */
  lose(files: RegExp): void;
  /** From now on the server has only the first half of these files. */
  truncate(files: RegExp): void;
  /** From now on the connection breaks in the middle of these files. */
  cut(files: RegExp): void;
  /** Holds these files back until the returned function is called. */
  hold(files: RegExp): () => void;
  /** Puts this line in front of these scripts. */
  prefix(files: RegExp, line: string): void;
  /** Everything works again. */
  mend(): void;
  stop(): Promise<void>;
}

/** Matches the script with a figure's code, which is the one that has the figure's title. */
export function codeOf(title: string): RegExp {
  const files = readdirSync(join(dist, 'assets')).filter(
    (file) => file.endsWith('.js') && readFileSync(join(dist, 'assets', file), 'utf8').includes(title),
  );
  if (files.length !== 1)
    throw new Error(`“${title}” is in ${files.join(' and ') || 'no script'}, not in one.`);
  return new RegExp(`/${files[0]}$`);
}

export async function startSite(): Promise<Site> {
  if (!existsSync(join(dist, 'index.html'))) {
    throw new Error('There is no page to test: dist/index.html is missing. `npm run build` makes it.');
  }
  const requests: string[] = [];
  const faulty = new Set<string>();
  let faults: { files: RegExp; fault: Fault }[] = [];

  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://site').pathname;
    requests.push(path);
    const inside = path.slice(folder.length);
    // A folder's address gives its page, as on any server.
    const file = path.endsWith('/') ? `${inside}index.html` : inside;
    const bytes = path.startsWith(folder) && !file.includes('..') && (await contentsOf(file));
    if (!bytes) {
      response.writeHead(404).end('Not found');
      return;
    }
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    // Browsers request the icon again at each new address, even when a test has cut the connection. And they
    // keep no page with `no-store` for going back to.
    const caching =
      file === 'favicon.svg' ? 'max-age=3600' : file.endsWith('.html') ? 'no-cache' : 'no-store';
    response.setHeader('Cache-Control', caching);
    const broken = faults.find(({ files }) => files.test(file));
    if (broken) faulty.add(`${origin}${path}`);
    const sent = broken ? await broken.fault(response, bytes) : bytes;
    if (sent) response.end(sent);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const add = (files: RegExp, fault: Fault) => {
    faults.push({ files, fault });
  };
  return {
    address: `${origin}${folder}`,
    requests,
    faulty,
    lose: (files) =>
      add(files, async (response) => {
        response.writeHead(404);
        return Buffer.from('Not found');
      }),
    truncate: (files) => add(files, async (_, bytes) => bytes.subarray(0, bytes.length / 2)),
    cut: (files) =>
      add(files, async (response, bytes) => {
        response.setHeader('Content-Length', bytes.length);
        response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
        return undefined;
      }),
    hold(files) {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      add(files, async (_, bytes) => released.then(() => bytes));
      return () => release();
    },
    prefix: (files, line) => add(files, async (_, bytes) => Buffer.concat([Buffer.from(`${line}\n`), bytes])),
    mend() {
      faults = [];
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

/** The contents of a file, where figures that train many models start with fewer. */
async function contentsOf(file: string): Promise<Buffer | undefined> {
  const bytes = await readFile(join(dist, file)).catch(() => undefined);
  if (!/^(evidence\/)?index\.html$/.test(file) || !bytes) return bytes;
  const page = Object.entries(shorter).reduce((html, [name, settings]) => {
    const attributes = Object.entries(settings).map(([setting, text]) => ` ${setting}="${text}"`);
    return html.replace(`<superpose-figure name="${name}"`, (tag) => tag + attributes.join(''));
  }, bytes.toString());
  return Buffer.from(page);
}
