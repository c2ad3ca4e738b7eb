// Serves static files from folders of this machine, at an address of their own.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const brotli = promisify(brotliCompress);
const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 };

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

export interface Served {
  /** Ends in a slash. */
  address: string;
  stop(): Promise<void>;
}

/** Serves each folder at its path, for example "/superpose/", compressed as most hosts do. */
export async function serve(folders: Record<string, string>, headers: Record<string, string> = {}) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://any').pathname);
    const at = Object.keys(folders).find((prefix) => path.startsWith(prefix));
    const inside = at === undefined ? '..' : path.slice(at.length);
    const from = join(folders[at ?? ''] ?? '', inside);
    const expected = inside.includes('..')
      ? []
      : inside === '' || inside.endsWith('/')
        ? [join(from, 'index.html')]
        : [from, `${from}.html`, join(from, 'index.html')];
    for (const file of expected) {
      const bytes = await readFile(file).catch(() => undefined);
      if (!bytes) continue;
      const takesBrotli = /\bbr\b/.test(String(request.headers['accept-encoding']));
      const compressed = takesBrotli && extname(file) in types && (await brotli(bytes, { params: quality }));
      response.writeHead(200, {
        ...headers,
        'Content-Type': types[extname(file)] ?? 'application/octet-stream',
        ...(compressed && { 'Content-Encoding': 'br' }),
      });
      response.end(compressed || bytes);
      return;
    }
    response.writeHead(404, headers).end('Not found');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise<void>((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}
