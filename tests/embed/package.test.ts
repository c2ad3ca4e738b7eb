// The tarball in a project built by Vite, opened in Chromium.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { load } from 'add-or-concatenate';
import { build } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { emptyProject, type Project, pack, root } from '../package/support/project.ts';
import { findingOf, readFigures } from './support/figures.ts';

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
};

/** A project with the package and these files. */
async function projectOf(files: Record<string, string>): Promise<Project> {
  const project = await emptyProject((await pack()).tarball);
  for (const [name, text] of Object.entries(files)) await project.write(name, text);
  return project;
}

/** Builds the files with Vite, and opens the result. */
async function builtPage(files: Record<string, string>, isLost?: (path: string) => boolean) {
  const { folder } = await projectOf(files);
  await build({ root: folder, configFile: false, logLevel: 'error' });
  return openFolder(join(folder, 'dist'), isLost);
}

/** Serves a folder to any origin. Returns the address, which ends in a slash. */
async function served(folder: string, isLost: (path: string) => boolean = () => false): Promise<string> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').replace(/\/$/, '/index.html');
    const bytes = await readFile(join(folder, path)).catch(() => undefined);
    if (!bytes || isLost(path)) {
      response.writeHead(404).end('Not found');
      return;
    }
    const type = types[extname(path)] ?? 'application/octet-stream';
    response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' }).end(bytes);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function openFolder(folder: string, isLost?: (path: string) => boolean) {
  const engine = await openChromium();
  onTestFinished(() => engine.close());
  await engine.open(await served(folder, isLost));
  return engine;
}

const html = (body: string) =>
  `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><link rel="icon" href="data:,"></head><body>${body}<script type="module" src="/main.js"></script></body></html>`;

test('the typed API finds its WebAssembly', async () => {
  const engine = await builtPage({
    'index.html': html('<output></output>'),
    'main.js': `import { load } from 'add-or-concatenate';
      const superpose = await load({ simd: 'plain' });
      const { data } = superpose.sinusoidal({ positions: 3, d_model: 4 });
      document.querySelector('output').textContent = JSON.stringify(Array.from(data));`,
  });
  const readText = () => engine.evaluate(() => document.querySelector('output')?.textContent ?? '');
  await expect.poll(readText).not.toBe('');
  const here = (await load({ simd: 'plain' })).sinusoidal({ positions: 3, d_model: 4 });
  expect(JSON.parse(await readText())).toEqual(Array.from(here.data));
  expect(engine.complaints).toEqual([]);
});

test('add-or-concatenate/embed makes figures live, in a worker', async () => {
  const engine = await builtPage({
    'index.html': html('<superpose-figure name="dot-products" n="6"></superpose-figure>'),
    'main.js': `import { configure } from 'add-or-concatenate/embed';
      configure({ home: 'https://example.org/s/' });
      window.refused = [null, 5, 'x', { home: 5 }, { model: {} }, { wasm: 'http://' }, { home: null }, { hom: 'a' }].map((no) => {
        try { configure(no); } catch (error) { return String(error); }
      });`,
  });
  const must = (name: string, what: string) => `TypeError: ${name} must be an address; got ${what}.`;
  const options = 'TypeError: configure() takes an object with home, model or wasm.';
  const refused = [
    ...[options, options, options, must('home', '5'), must('model', '[object Object]')],
    ...[must('wasm', '“http://”'), must('home', 'null')],
    'RangeError: Unknown option `hom`. Options: home, model, wasm. Did you mean `home`?',
  ];
  await expect
    .poll(() => engine.evaluate(() => (window as unknown as { refused: unknown }).refused))
    .toEqual(refused);
  const finding = async () => (await engine.evaluate(readFigures))[0]?.finding;
  await expect.poll(finding).toBe(await findingOf('dot-products', { n: '6' }));
  const [shownFigure] = await engine.evaluate(readFigures);
  expect(shownFigure).toMatchObject({ runsIn: 'blob worker', problem: '' });
  expect(shownFigure?.link).toMatch(/^https:\/\/example\.org\/s\/#v=1&figure=dot-products&/);
  expect(engine.complaints).toEqual([]);
});

test('esbuild, as docs/hosts.md has it', async () => {
  const [, guide = ''] = (await readFile(join(root, 'docs/hosts.md'), 'utf8')).split(/^### esbuild$/m);
  const blockOf = (language: string) =>
    guide.match(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``))?.[1] ?? '';
  const [, loaded = ''] = guide.match(/Load the result with `([^`]*)`/) ?? [];
  const project = await projectOf({
    'main.js': blockOf('js'),
    'public/index.html': html('<superpose-figure name="dot-products" n="6"></superpose-figure>').replace(
      /<script.*<\/script>/,
      loaded,
    ),
  });
  const commands = blockOf('sh').replace('npx esbuild', join(root, 'node_modules/.bin/esbuild'));
  const { code, stderr } = await project.run('sh', '-ec', commands);
  expect(code, stderr).toBe(0);
  const engine = await openFolder(join(project.folder, 'public'));
  const finding = async () => (await engine.evaluate(readFigures))[0]?.finding;
  await expect.poll(finding).toBe(await findingOf('dot-products', { n: '6' }));
  expect(engine.complaints).toEqual([]);
});

test('from a CDN, as docs/hosts.md has it', async () => {
  const [, guide = ''] = (await readFile(join(root, 'docs/hosts.md'), 'utf8')).split(/^### From a CDN$/m);
  const [, script = ''] = guide.match(/```html\n([\s\S]*?)```/) ?? [];
  const [, pictures = ''] = guide.match(/pictures of first views are in `([^`]*)` of the package/) ?? [];
  const [, cdn = ''] = script.match(/(https:\/\/cdn\.example\.org\/npm\/[^/]*\/)/) ?? [];
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  expect(cdn).toBe(`https://cdn.example.org/npm/${name}@${version}/`);
  const { folder } = await projectOf({});
  const unpacked = await served(join(folder, 'node_modules', name));
  const picture = `<img src="${unpacked}${pictures}dot-products-wide.svg" alt="">`;
  const figure = `<superpose-figure name="dot-products" n="6">${picture}</superpose-figure>`;
  const page = await projectOf({
    'index.html': html(figure).replace(/<script.*<\/script>/, script.replaceAll(cdn, unpacked)),
  });
  const engine = await openFolder(page.folder);
  const isDrawn = () => engine.evaluate(() => (document.querySelector('img')?.naturalWidth ?? 0) > 0);
  await expect.poll(isDrawn).toBe(true);
  const finding = async () => (await engine.evaluate(readFigures))[0]?.finding;
  await expect.poll(finding).toBe(await findingOf('dot-products', { n: '6' }));
  const [shownFigure] = await engine.evaluate(readFigures);
  expect(shownFigure).toMatchObject({ runsIn: 'blob worker', problem: '' });
  expect(shownFigure?.link).toMatch(/^https:\/\/example\.org\/superpose\/#v=1&figure=dot-products&/);
  expect(engine.complaints).toEqual([]);
});
