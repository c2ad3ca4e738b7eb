// Serves two origins: one has dist/ in a folder, with the headers of its file _headers or with none; the
// other, a blog, embeds it.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { dist } from '../../page/support/site.ts';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

/** The headers of a file, as hosts read them from _headers, without caching: a test may remove the file. */
function headersOf(file: string): [name: string, value: string][] {
  const blocks = readFileSync(join(dist, '_headers'), 'utf8').split(/^(?=\/)/m);
  return blocks.flatMap((block) => {
    const [pattern = '', ...lines] = block.trim().split('\n');
    if (!`/${file}`.startsWith(pattern.replace('*', ''))) return [];
    return lines
      .map((line): [string, string] => [line.split(':', 1)[0]?.trim() ?? '', line.replace(/^[^:]*: /, '')])
      .filter(([name]) => name !== 'Cache-Control');
  });
}

export interface BlogPage {
  html: string;
  /** The page's Content-Security-Policy. */
  policy?: string;
  /** More headers. */
  headers?: Readonly<Record<string, string>>;
}

export interface Servers {
  /** Address of the blog's page. */
  blog: string;
  /** Addresses of dist/ on its own origin, ending in a slash, and on the blog's. */
  site: string;
  here: string;
  /** Puts another page on the blog. */
  publish(page: BlogPage): void;
  /** The paths in dist/ that were served, on either origin. */
  requests: string[];
  /** Removes matching files from the site, but not from the blog's own folder. */
  lose(files: RegExp): void;
  /** Replaces a file in the blog's own folder. */
  put(file: string, text: string): void;
  /** Puts a file beside the blog's page. */
  putBeside(file: string, text: string): void;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Whether the site sends its headers, CORS among them, or for which files it does. */
  cors?: boolean | ((file: string) => boolean);
  /** The folder that is served in place of dist/. */
  folder?: string;
}

/** `page` is given the two addresses of dist/, or of another folder in its place. */
export async function startServers(
  page: (addresses: { site: string; here: string }) => BlogPage,
  { cors = true, folder: served = dist }: ServerOptions = {},
): Promise<Servers> {
  const requests: string[] = [];
  const folder = '/superpose/';
  let blogPage: BlogPage = { html: '' };
  let lost: RegExp | undefined;
  const changed = new Map<string, string>();
  const beside = new Map<string, string>();

  const start = async (isBlog: boolean) => {
    const server = createServer(async (request, response) => {
      const path = new URL(request.url ?? '', 'http://any').pathname;
      if (isBlog && path === '/') {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        if (blogPage.policy) response.setHeader('Content-Security-Policy', blogPage.policy);
        for (const [name, text] of Object.entries(blogPage.headers ?? {})) response.setHeader(name, text);
        response.end(blogPage.html);
        return;
      }
      if (isBlog && beside.has(path)) {
        response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
        response.end(beside.get(path));
        return;
      }
      const relative = path.startsWith(folder) ? path.slice(folder.length) : undefined;
      const file = relative?.replace(/(^|\/)$/, '$1index.html');
      const bytes =
        isBlog && changed.has(file ?? '')
          ? changed.get(file ?? '')
          : file && !file.includes('..')
            ? await readFile(join(served, file)).catch(() => undefined)
            : undefined;
      if (!bytes || relative === undefined || (!isBlog && lost?.test(relative))) {
        response.writeHead(404).end('Not found');
        return;
      }
      requests.push(relative);
      if (!isBlog && (typeof cors === 'function' ? cors(relative) : cors))
        for (const [name, value] of headersOf(relative)) response.setHeader(name, value);
      response.setHeader('Content-Type', types[extname(file ?? '')] ?? 'application/octet-stream');
      response.end(bytes);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    return server;
  };
  const servers = await Promise.all([start(true), start(false)]);
  const [blog = '', site = ''] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  const addresses = { site: `${site}superpose/`, here: `${blog}superpose/` };
  blogPage = page(addresses);
  return {
    blog,
    ...addresses,
    requests,
    lose(files) {
      lost = files;
    },
    put: (file, text) => changed.set(file, text),
    putBeside: (file, text) => beside.set(`/${file}`, text),
    publish(other) {
      blogPage = other;
    },
    async stop() {
      for (const server of servers) {
        await new Promise((stopped) => {
          server.close(stopped);
          server.closeAllConnections();
        });
      }
    },
  };
}
