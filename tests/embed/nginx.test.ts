// dist/ as it is under Debian's nginx, below another site, with and without the precompressed copies; then
// without a network, and through an update.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { dist } from '../page/support/site.ts';
import { openChromium } from './support/chromium.ts';
import { findingOf, readFigures, withoutResidual } from './support/figures.ts';

const program = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file));
const patience = { timeout: 30_000 };

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** The location block that dist/ ships, around a copy of dist/. */
async function serve({ compressed = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'superpose-nginx-'));
  const site = join(folder, 'site');
  await cp(dist, site, { recursive: true, dereference: true });
  await mkdir(join(folder, 'logs'));
  const shipped = (await readFile(join(dist, 'hosting/nginx.conf'), 'utf8')).replace(
    '/var/www/superpose',
    site,
  );
  const location = compressed ? shipped : shipped.replace('gzip_static on', 'gzip_static off');
  const port = await freePort();
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    join(folder, 'nginx.conf'),
    `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/logs/error.log;
     events {}
     http { include /etc/nginx/mime.types; access_log off; ${own.join(' ')}
       server { listen 127.0.0.1:${port}; ${location} } }`,
  );
  const start = () =>
    spawn(program as string, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  let server = start();
  const address = `http://127.0.0.1:${port}/superpose/`;
  const answers = () =>
    fetch(address).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers, patience).toBe(true);
  const stop = () =>
    new Promise<void>((stopped) => {
      if (server.exitCode !== null) stopped();
      else server.once('exit', () => stopped()).kill('SIGTERM');
    });
  onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  return {
    address,
    site,
    stop,
    async restart() {
      server = start();
      await expect.poll(answers, patience).toBe(true);
    },
  };
}

/** What goes over the line for a file. */
const headersOf = (address: string): Promise<Record<string, unknown>> =>
  new Promise((done, failed) => {
    request(address, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
      response.resume();
      done({ status: response.statusCode, ...response.headers });
    })
      .on('error', failed)
      .end();
  });

const first = async (engine: Awaited<ReturnType<typeof openChromium>>, name = 'dot-products') =>
  withoutResidual((await engine.evaluate(readFigures)).find((one) => one.name === name)?.finding);

describe.skipIf(!program && process.env.CI !== 'true')('nginx', () => {
  test.each([true, false])('serves the page below another site; precompressed: %s', async (compressed) => {
    const { address } = await serve({ compressed });
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    const failed: string[] = [];
    engine.page.on('response', (response) => {
      if (!response.ok() && response.status() !== 304) failed.push(`${response.status()} ${response.url()}`);
    });
    await engine.open(address);
    const finding = await findingOf('dot-products');
    await engine.evaluate(() => document.querySelector('[name=dot-products]')?.scrollIntoView());
    await expect.poll(() => first(engine), patience).toBe(finding);
    expect(failed).toEqual([]);
    expect(engine.complaints).toEqual([]);
    for (const file of ['', 'embed.js', 'figures/dot-products/']) {
      const headers = await headersOf(address + file);
      expect(headers).toMatchObject({ status: 200, 'access-control-allow-origin': '*' });
      expect(headers['content-encoding']).toBe(compressed ? 'gzip' : undefined);
    }
  });

  /** Opens the page and waits until all of it is kept. */
  async function visited(address: string) {
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    await engine.open(address);
    await engine.page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active?.state));
    return engine;
  }

  test('after one visit every figure works without a network', async () => {
    const { address, stop } = await serve();
    const engine = await visited(address);
    await stop();
    await engine.open(address);
    for (const name of ['dot-products', ...(inject('withModel') ? ['one-score'] : [])]) {
      await engine.page.locator(`superpose-figure[name=${name}]`).scrollIntoViewIfNeeded();
      await expect.poll(() => first(engine, name), patience).toBe(withoutResidual(await findingOf(name)));
    }
    if (!inject('withModel')) return;
    const figure = engine.page.locator('superpose-figure[name=one-score]');
    await figure.getByRole('textbox').fill('xylophones');
    const problem = async () => (await figure.locator('.problem').allTextContents()).join(' ');
    await expect.poll(problem, patience).toContain('is there a network?');
  });

  test('an update comes whole, once the last page of the old version is closed', async () => {
    const { address, site } = await serve();
    const engine = await visited(address);
    const titleOf = () => engine.page.title();
    const old = await titleOf();
    const page = await readFile(join(site, 'index.html'), 'utf8');
    await writeFile(join(site, 'index.html'), page.replace(/<title>.*?<\/title>/, '<title>Newer</title>'));
    await rm(join(site, 'index.html.gz'));
    const worker = await readFile(join(site, 'sw.js'), 'utf8');
    await writeFile(join(site, 'sw.js'), worker.replace(/superpose-[0-9a-f]{16}/, 'superpose-newer'));
    await rm(join(site, 'sw.js.gz'));

    await engine.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      await registration.update();
      const coming = registration.installing ?? registration.waiting;
      await new Promise<void>((there) => {
        if (coming?.state === 'installed') there();
        coming?.addEventListener('statechange', () => coming.state === 'installed' && there());
      });
    });
    await engine.page.reload();
    expect(await titleOf()).toBe(old);

    // The last page of the old version goes, and the new one takes over.
    await engine.open('about:blank');
    await expect
      .poll(async () => {
        await engine.open(address);
        const title = await titleOf();
        if (title !== 'Newer') await engine.open('about:blank');
        return title;
      }, patience)
      .toBe('Newer');
    const caches = await engine.page.evaluate(() => window.caches.keys());
    expect(caches.filter((name) => !name.includes('model'))).toEqual(['superpose-newer']);
  });
});
