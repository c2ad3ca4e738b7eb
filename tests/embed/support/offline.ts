// The service worker, at the root of an origin that has other files too, in whichever engine.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Engine } from '../../engines/engines.ts';
import { unfold } from '../../page/support/shown.ts';
import { dist } from '../../page/support/site.ts';
import { readFigures } from './figures.ts';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
};
const patience = { timeout: 60_000, interval: 200 };

interface Host {
  address: string;
  /** Paths of the files of dist/ that were asked for. */
  asked: Set<string>;
  /** Lets the browser have the service worker, which it is not given before. */
  release(): void;
  stop(): Promise<void>;
}

/** dist/ at the root. `headers` are those of a path. An address with a query is answered for its visitor. */
async function host(
  headers: (path: string) => Record<string, string> = () => ({}),
  wait: (path: string) => Promise<void> | undefined = () => undefined,
): Promise<Host> {
  const asked = new Set<string>();
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  let answers = 0;
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://any');
    if (pathname === '/sw.js') await released;
    for (const [name, value] of Object.entries(headers(pathname))) response.setHeader(name, value);
    if (search !== '' || pathname === '/basket.json') {
      answers += 1;
      response.end(`${search || pathname}, answer ${answers}`);
      return;
    }
    const file = pathname.slice(1).replace(/(^|\/)$/, '$1index.html');
    const bytes = await readFile(join(dist, file)).catch(() => undefined);
    if (!bytes) {
      response.writeHead(404).end('Not found');
      return;
    }
    asked.add(pathname);
    await wait(pathname);
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    response.end(bytes);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const stop = () =>
    new Promise<void>((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { address, asked, release: () => release(), stop };
}

/** The paths of all that is kept; self-contained, for it is sent into the page. */
function kept(): void {
  const noted = window as unknown as { kept?: string[] };
  caches
    .keys()
    .then((names) => Promise.all(names.map(async (name) => (await caches.open(name)).keys())))
    .then((all) => {
      noted.kept = all.flat().map(({ url }) => url.slice(location.origin.length));
    });
}

const noted = (): string[] => (window as unknown as { kept?: string[] }).kept ?? [];

async function keptIn(engine: Engine): Promise<string[]> {
  await engine.evaluate(kept);
  return engine.evaluate(noted);
}

const untilTaken = (engine: Engine) =>
  expect.poll(() => engine.evaluate(() => navigator.serviceWorker.controller !== null), patience).toBe(true);

/** What an address answers, through the service worker; “nothing” without a network. */
async function answerTo(engine: Engine, path: string): Promise<string> {
  await engine.evaluate((asked) => {
    const page = window as unknown as { answer?: string | undefined };
    page.answer = undefined;
    fetch(asked, { cache: 'no-cache' })
      .then((response) => response.text())
      .catch(() => 'nothing')
      .then((text) => {
        page.answer = text;
      });
  }, path);
  // WebDriver returns null for undefined.
  const answer = () => engine.evaluate(() => (window as unknown as { answer?: string }).answer ?? '');
  await expect.poll(answer, patience).not.toBe('');
  return answer();
}

/** A figure’s finding once it is there, in a card or a beat. */
async function findingIn(engine: Engine, name: string): Promise<string> {
  const found = async () => {
    await engine.evaluate(unfold, name);
    await engine.evaluate(
      (one: string) => document.querySelector(`superpose-figure[name="${one}"]`)?.scrollIntoView(),
      name,
    );
    return (await engine.evaluate(readFigures)).find((one) => one.name === name);
  };
  await expect
    .poll(async () => {
      const { finding = '', runsIn = '' } = (await found()) ?? {};
      return finding !== '' && runsIn !== '';
    }, patience)
    .toBe(true);
  const shown = await found();
  expect(shown?.problem).toBe('');
  return shown?.finding ?? '';
}

export function testOffline(start: () => Promise<Engine>): void {
  async function visited(site: Host): Promise<Engine> {
    const engine = await start();
    onTestFinished(() => engine.close());
    await engine.open(site.address);
    return engine;
  }

  test.runIf(inject('withModel'))(
    'what the first visit’s figures have fetched is there without a network',
    async () => {
      const site = await host();
      const engine = await visited(site);
      const opening = await engine.evaluate(
        () => document.querySelector('superpose-figure')?.getAttribute('name') ?? '',
      );
      const names = [opening, 'one-score'];
      const findings: string[] = [];
      for (const name of names) findings.push(await findingIn(engine, name));
      // All of that came before there was a service worker.
      const model = [...site.asked].filter((path) => path.startsWith('/model/'));
      expect(model.length).toBeGreaterThan(0);
      site.release();
      await untilTaken(engine);
      await expect
        .poll(async () => {
          const all = new Set(await keptIn(engine));
          return model.filter((path) => !all.has(path));
        }, patience)
        .toEqual([]);
      await site.stop();
      await engine.open(`${site.address}#again`);
      await engine.open(site.address);
      for (const [at, name] of names.entries()) expect(await findingIn(engine, name)).toBe(findings[at]);
    },
  );

  test.runIf(inject('withModel'))(
    'what was on its way when the service worker came is kept too',
    async () => {
      const slow = '/model/positions-0.safetensors';
      let arrive = () => {};
      const arrived = new Promise<void>((done) => {
        arrive = done;
      });
      const site = await host(undefined, (path) => (path === slow ? arrived : undefined));
      const engine = await visited(site);
      const finding = findingIn(engine, 'one-score');
      await expect.poll(() => site.asked.has(slow), patience).toBe(true);
      site.release();
      await untilTaken(engine);
      arrive();
      expect(await finding).toMatch(/\d/);
      await expect.poll(() => keptIn(engine), patience).toContain(slow);
    },
  );

  test('only what the build lists is kept, by its whole address, and where the host allows it', async () => {
    const forbidden: Record<string, Record<string, string>> = {
      '/embed.js': { 'Cache-Control': 'no-store' },
      '/resize.js': { 'Cache-Control': 'private, max-age=60' },
      '/THIRD-PARTY.txt': { Vary: 'Accept-Encoding, Cookie' },
    };
    const site = await host((path) => forbidden[path] ?? { 'Cache-Control': 'max-age=60' });
    const engine = await visited(site);
    site.release();
    await untilTaken(engine);
    // Addresses that are not the build’s, and one of the build’s with what a server may read in it.
    expect(await answerTo(engine, '/basket.json')).toBe('/basket.json, answer 1');
    expect(await answerTo(engine, '/favicon.svg?visitor=a')).toBe('?visitor=a, answer 2');
    expect(await answerTo(engine, '/favicon.svg?visitor=b')).toBe('?visitor=b, answer 3');
    expect(await answerTo(engine, '/demo/?visitor=a')).toBe('?visitor=a, answer 4');
    const robots = await answerTo(engine, '/robots.txt');
    for (const path of Object.keys(forbidden)) expect(await answerTo(engine, path)).not.toBe('nothing');
    // It is kept after the answer.
    await expect.poll(() => keptIn(engine), patience).toContain('/robots.txt');
    const all = await keptIn(engine);
    expect(all.filter((path) => path.includes('?') || path === '/basket.json' || path === '/demo/')).toEqual(
      [],
    );
    expect(all.filter((path) => path in forbidden)).toEqual([]);
    await site.stop();
    expect(await answerTo(engine, '/robots.txt')).toBe(robots);
    for (const path of ['/basket.json', ...Object.keys(forbidden)])
      expect(await answerTo(engine, path), path).toBe('nothing');
  });

  test('where the host forbids keeping, nothing is kept', async () => {
    const site = await host((path) => (path === '/sw.js' ? {} : { 'Cache-Control': 'no-store' }));
    const engine = await visited(site);
    await engine.evaluate(() => {
      navigator.serviceWorker.register('./sw.js').then(({ installing }) => {
        const page = window as unknown as { became?: string };
        installing?.addEventListener('statechange', () => {
          page.became = installing.state;
        });
      });
    });
    site.release();
    await expect
      .poll(() => engine.evaluate(() => (window as unknown as { became?: string }).became), patience)
      .toBe('redundant');
    expect(await keptIn(engine)).toEqual([]);
  });
}
