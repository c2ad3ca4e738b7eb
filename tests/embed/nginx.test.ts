// dist/ unchanged under Debian's nginx, below another site, with and without the precompressed copies; then
// without a network, and through an update.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer as createBlog, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type State, writtenState } from '../../web/figures/controls.ts';
import { figures } from '../../web/figures/index.ts';
import { openChromium } from '../engines/chromium.ts';
import { dist } from '../page/support/site.ts';
import { unfold } from '../page/support/visit.ts';
import { findingOf, readFigures, withoutResidual } from './support/figures.ts';

const execute = promisify(execFile);
const program = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file));
const patience = { timeout: 30_000 };

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** nginx with the location block that dist/ ships, on a copy of dist/. */
async function serve({ compressed = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'superpose-nginx-'));
  const site = join(folder, 'site');
  // Node's own copying takes ten times as long.
  await execute('cp', ['-RL', dist, site]);
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

/** The response headers of a file. */
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

  test('a page that isolates itself may frame figures and show pictures', async () => {
    const { address } = await serve();
    const blog = createBlog((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.end(
        `<title>Blog</title><img src="${address}pictures/dot-products-wide.svg" alt="" />
         <script src="${address}resize.js"></script>
         <iframe src="${address}figures/dot-products/" width="800" height="700"></iframe>`,
      );
    });
    await new Promise<void>((ready) => blog.listen(0, 'localhost', ready));
    onTestFinished(async () => {
      blog.closeAllConnections();
      await new Promise((stopped) => blog.close(stopped));
    });
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    const failed: string[] = [];
    engine.page.on('requestfailed', (one) => failed.push(`${one.failure()?.errorText} ${one.url()}`));
    await engine.open(`http://localhost:${(blog.address() as AddressInfo).port}/`);
    expect(await engine.page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(await engine.page.evaluate(() => document.images[0]?.naturalWidth)).toBeGreaterThan(0);
    const finding = await findingOf('dot-products');
    await expect
      .poll(async () => withoutResidual((await engine.evaluateInFrame(readFigures))[0]?.finding), patience)
      .toBe(finding && withoutResidual(finding));
    expect(failed).toEqual([]);
  });

  test('every file may be taken in by such a page, and figures take in as little', async () => {
    const { address } = await serve();
    for (const [file, framed] of [
      ['', undefined],
      ['embed.js', undefined],
      ['pictures/dot-products-wide.svg', undefined],
      ['figures/dot-products/', 'require-corp'],
    ] as const) {
      const headers = await headersOf(address + file);
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['cross-origin-embedder-policy']).toBe(framed);
    }
  });

  type Engine = Awaited<ReturnType<typeof openChromium>>;

  /** Waits until the worker serves the page. */
  const active = (engine: Engine) =>
    engine.page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      if (navigator.serviceWorker.controller) return;
      await new Promise((taken) => {
        navigator.serviceWorker.addEventListener('controllerchange', taken);
      });
    });

  /** The addresses that are in any cache. */
  const keptIn = (engine: Engine) =>
    engine.page.evaluate(async () => {
      const all = (await caches.keys()).map(async (name) => (await caches.open(name)).keys());
      return (await Promise.all(all)).flat().map(({ url }) => url);
    });

  /** Opens the page and waits until all of it is cached. */
  async function visited(address: string) {
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    await engine.open(address);
    await active(engine);
    return engine;
  }

  /** Waits until the worker that the page names has failed to install. */
  const turnedDown = (engine: Engine) =>
    engine.page.evaluate(async () => {
      const { installing } = await navigator.serviceWorker.register('./sw.js');
      if (!installing) throw new Error('There is no worker that would be installed.');
      while (installing.state === 'installing') {
        await new Promise((changed) => {
          installing.addEventListener('statechange', changed, { once: true });
        });
      }
      if (installing.state !== 'redundant') throw new Error(`The worker is ${installing.state}.`);
    });

  async function shows(engine: Engine, name: string) {
    await unfold(engine.page, name);
    await engine.page.locator(`superpose-figure[name=${name}]`).scrollIntoViewIfNeeded();
    await expect
      .poll(async () => (await first(engine, name)) === (await expectedOf(engine, name)), patience)
      .toBe(true);
  }

  /** What a figure must say in the state that the page has it in, which is not always its first. */
  async function expectedOf(engine: Engine, name: string): Promise<string> {
    const state = await engine.page
      .locator(`superpose-figure[name=${name}]`)
      .evaluate((element) => (element as HTMLElement & { state: State }).state);
    const { controls } = await (figures[name] as (typeof figures)[string])();
    return withoutResidual(await findingOf(name, Object.fromEntries(writtenState(controls, state))));
  }

  /** Changes a file of a served copy, and removes its old compressed version. */
  async function edit(site: string, file: string, change: (text: string) => string) {
    const path = join(site, file);
    await writeFile(path, change(await readFile(path, 'utf8')));
    await rm(`${path}.gz`, { force: true });
  }

  const titleAt = async (address: string) =>
    (await (await fetch(address)).text()).match(/<title>(.*?)<\/title>/)?.[1] as string;

  test('after one visit the page works without a network, with the words that were used', async () => {
    const { address, stop } = await serve();
    const engine = await visited(address);
    // Of the model nothing is fetched ahead: only what the opening figure asks for.
    const model = async () => (await keptIn(engine)).filter((url) => url.includes('/model/'));
    expect((await model()).filter((url) => !url.endsWith('/model/opening.safetensors'))).toEqual([]);
    if (inject('withModel')) await shows(engine, 'one-score');
    await stop();
    await engine.open(address);
    for (const name of ['dot-products', ...(inject('withModel') ? ['one-score'] : [])]) {
      await shows(engine, name);
    }
    if (!inject('withModel')) return;
    const figure = engine.page.locator('superpose-figure[name=one-score]');
    await figure.getByText('More settings').click();
    await figure.getByRole('textbox').fill('xylophones');
    const problem = async () => (await figure.locator('.problem').allTextContents()).join(' ');
    await expect.poll(problem, patience).toContain('is there a network?');
  });

  test('without a network, addresses below the page’s lead somewhere', async () => {
    const { address, stop } = await serve();
    const engine = await visited(address);
    await engine.open(`${address}demo/`);
    const [demo, title] = await Promise.all([engine.page.title(), titleAt(`${address}`)]);
    await engine.open(`${address}figures/shift/`);
    const shift = await engine.page.title();
    await stop();
    const kept: [string, string][] = [
      ['demo/', demo],
      ['figures/shift/', shift],
      ['figures/shift/index.html', shift],
      ['index.html', title],
      ['index.html#room', title],
      ['?from=a-link', title],
      // Never opened before: its address gives the page with the figure.
      ['figures/dot-products/', title],
      ['api/', title],
    ];
    for (const [path, expected] of kept) {
      await engine.open(address + path);
      expect(await engine.page.title()).toBe(expected);
    }
    await engine.open(`${address}figures/dot-products/`);
    expect(engine.page.url()).toBe(`${address}#v=1&figure=dot-products`);
    await shows(engine, 'dot-products');
  });

  test('other deployments on the origin keep their caches', async () => {
    const { address } = await serve();
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    await engine.open(`${address}favicon.svg`);
    const others = [
      'another application',
      'superpose-0123456789abcdef',
      'superpose / 0123456789abcdef',
      'superpose /superpose/old/ 0123456789abcdef',
      'superpose /superpose-2/ 0123456789abcdef',
    ];
    const own = ['superpose /superpose/ 0123456789abcdef', 'superpose /superpose/ model 0123456789abcdef'];
    await engine.page.evaluate(
      (all) => Promise.all(all.map((name) => caches.open(name))),
      [...others, ...own],
    );
    await engine.open(address);
    await active(engine);
    const all = await engine.page.evaluate(() => caches.keys());
    // The model's has what the opening figure asks for.
    const left = all.filter((name) => !/^superpose \/superpose\/ model (?!0123456789abcdef)/.test(name));
    expect(
      left.filter((name) => !/ [0-9a-f]{16}$/.test(name) || name.endsWith(' 0123456789abcdef')).sort(),
    ).toEqual([...others].sort());
    expect(left).toHaveLength(others.length + 1);
  });

  test('where data are saved nothing is fetched ahead', async () => {
    const { address, site } = await serve();
    await edit(
      site,
      'sw.js',
      (code) => `Object.defineProperty(navigator, 'connection', { value: { saveData: true } });${code}`,
    );
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    await engine.open(address);
    await turnedDown(engine);
    expect(await engine.page.evaluate(() => caches.keys())).toEqual([]);
  });

  test('a file that is not what was built is not kept, and the next visit tries again', async () => {
    const { address, site } = await serve();
    const favicon = await readFile(join(site, 'favicon.svg'), 'utf8');
    // A portal answers with status 200.
    await edit(site, 'favicon.svg', () => '<!doctype html><title>Sign in</title>');
    const engine = await openChromium();
    onTestFinished(() => engine.close());
    await engine.open(address);
    await turnedDown(engine);
    expect(await engine.page.evaluate(() => caches.keys())).toEqual([]);
    await edit(site, 'favicon.svg', () => favicon);
    await engine.open('about:blank');
    await engine.open(address);
    await active(engine);
    expect(await engine.page.evaluate(async () => (await caches.match('./favicon.svg'))?.text())).toBe(
      favicon,
    );
  });

  test('of the model only what is no page is kept', async () => {
    const { address, site } = await serve();
    await mkdir(join(site, 'model'), { recursive: true });
    for (const file of ['words.bin', 'portal.html']) await writeFile(join(site, 'model', file), 'words');
    const more = '"model/words.bin","model/portal.html",';
    await edit(site, 'sw.js', (code) => code.replace('"THIRD-PARTY.txt"', `${more}$&`));
    const engine = await visited(address);
    const inCache = (file: string) =>
      engine.page.evaluate(async (name) => {
        const address = `./model/${name}`;
        // The cache is written after the answer, so a second request is needed to see it.
        for (const _ of [1, 2]) await (await fetch(address)).text();
        return (await caches.match(address)) !== undefined;
      }, file);
    await expect.poll(() => inCache('words.bin'), patience).toBe(true);
    expect(await inCache('portal.html')).toBe(false);
  });

  const modelTest = test.runIf(inject('withModel'));

  modelTest('with a full quota every answer comes all the same', async () => {
    const { address } = await serve();
    const engine = await visited(address);
    const session = await engine.page.context().newCDPSession(engine.page);
    const { origin } = new URL(address);
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    const full = () =>
      caches.open('mine').then((cache) =>
        cache.put('./mine', new Response('mine'.repeat(1000))).then(
          () => 'kept',
          (error: Error) => error.name,
        ),
      );
    expect(await engine.page.evaluate(full)).toBe('QuotaExceededError');
    const before = await keptIn(engine);
    await shows(engine, 'one-score');
    // And nothing of it remains.
    expect(await keptIn(engine)).toEqual(before);
  });

  modelTest('a portal’s page in place of the model is gone when the model is there', async () => {
    const { address, site } = await serve();
    const engine = await visited(address);
    // Every file of the model is answered with the portal's page.
    const portal = '<!doctype html><title>Sign in</title>';
    const whole = join(site, 'model');
    const away = join(site, '..', 'model-away');
    await rename(whole, away);
    await mkdir(whole);
    for (const file of await readdir(away)) await writeFile(join(whole, file), portal);
    const figure = engine.page.locator('superpose-figure[name=one-score]');
    await unfold(engine.page, 'one-score');
    await figure.scrollIntoViewIfNeeded();
    const problem = async () => (await figure.locator('.problem').allTextContents()).join(' ');
    await expect.poll(problem, patience).toMatch(/^The MiniLM file .* is damaged/);
    await rm(whole, { recursive: true });
    await rename(away, whole);
    await figure.getByRole('button', { name: 'Try again' }).click();
    await shows(engine, 'one-score');
  });

  test('an update comes whole, once the last page of the old version is closed', async () => {
    const { address, site } = await serve();
    const engine = await visited(address);
    const titleOf = () => engine.page.title();
    const old = await titleOf();
    await edit(site, 'index.html', (page) => page.replace(/<title>.*?<\/title>/, '<title>Newer</title>'));
    const digest = createHash('sha256')
      .update(await readFile(join(site, 'index.html')))
      .digest('base64');
    const newer = 'f'.repeat(16);
    await edit(site, 'sw.js', (worker) =>
      worker.replace(/[0-9a-f]{16}(?=`)/, newer).replace(/("\.\/":")[^"]+/, `$1sha256-${digest}`),
    );

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

    // When the last page of the old version closes, the new version takes over.
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
    expect(caches.filter((name) => !name.includes('model'))).toEqual([`superpose /superpose/ ${newer}`]);
  });
});
