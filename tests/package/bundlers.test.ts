// The package in other bundlers: what webpack and esbuild make of it, in Node and in a page.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import webpack from 'webpack';
import { openChromium } from '../engines/chromium.ts';
import { emptyProject, type Project, pack } from './support/project.ts';

let project: Project;
beforeAll(async () => {
  project = await emptyProject((await pack()).tarball);
  await project.write(
    'entry.mjs',
    `import { load, loadMiniLM } from 'superpose';
     const superpose = await load({ simd: 'plain' });
     const { data } = superpose.sinusoidal({ positions: 1, d_model: 2 });
     const failure = await loadMiniLM(superpose).catch((error) => error.message);
     globalThis.said = JSON.stringify([...data, failure]);
     console.log(globalThis.said);`,
  );
  await project.write(
    'page.mjs',
    `import { configure } from 'superpose/embed';
     configure({ wasm: '/copied' });`,
  );
});

/** Where webpack writes its output, and what it prints. */
async function packed(target: 'node' | 'web') {
  const path = join(project.folder, `webpack-${target}`);
  const said = await new Promise<string>((done, failed) => {
    webpack(
      {
        mode: 'production',
        target,
        context: project.folder,
        entry: './entry.mjs',
        output: { path, filename: 'main.mjs', module: true, chunkFormat: 'module' },
        experiments: { outputModule: true },
        // It warns of any file above 244 KiB; tests/api/sizes.test.ts bounds the size of the modules.
        performance: { hints: false },
      },
      (error, result) =>
        error ? failed(error) : done(result?.toString({ all: false, warnings: true, errors: true }) ?? ''),
    );
  });
  return { path, said };
}

test.each(['node', 'web'] as const)('webpack has nothing to say, for %s', async (target) => {
  const { path, said } = await packed(target);
  expect(said.trim()).toBe('');
  expect((await readdir(path)).filter((file) => file.endsWith('.wasm'))).toHaveLength(4);
});

test('webpack’s bundle runs in Node, and without a model says so', async () => {
  const { path } = await packed('node');
  const outcome = await project.run(process.execPath, join(path, 'main.mjs'));
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(outcome.stdout)).toEqual([
    0,
    1,
    expect.stringMatching(/^The MiniLM files are not there\./),
  ]);
});

test('esbuild’s page runs where the files are said to be; elsewhere the sentence is a 404’s', async () => {
  const site = join(project.folder, 'esbuild');
  await mkdir(join(site, 'copied'), { recursive: true });
  const wasm = join(project.folder, 'node_modules/superpose/build/package/wasm');
  await cp(wasm, join(site, 'copied'), { recursive: true });
  for (const [entry, name] of [
    ['page.mjs', 'told'],
    ['node_modules/superpose/build/package/embed/index.js', 'untold'],
  ] as const) {
    await build({
      absWorkingDir: project.folder,
      entryPoints: { [name]: entry },
      bundle: true,
      format: 'esm',
      splitting: true,
      outdir: site,
      logLevel: 'error',
    });
    await writeFile(
      join(site, `${name}.html`),
      `<!doctype html><superpose-figure name="dot-products"></superpose-figure><script type="module" src="${name}.js"></script>`,
    );
  }
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.wasm': 'application/wasm',
  };
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://any').pathname;
    const bytes = await readFile(join(site, path)).catch(() => undefined);
    response
      .writeHead(bytes ? 200 : 404, { 'Content-Type': types[extname(path)] ?? 'text/plain' })
      .end(bytes);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const engine = await openChromium();
  onTestFinished(() => engine.close());
  const shown = async (name: string) => {
    await engine.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}.html`);
    const figure = engine.page.locator('superpose-figure');
    await figure.locator('.finding, .problem').first().waitFor();
    return (await figure.locator('.finding, .problem').allTextContents()).join(' ');
  };
  expect(await shown('told')).toContain('the two dot products correlate');
  expect(await shown('untold')).toMatch(
    /^The WebAssembly file could not be fetched: the server answered 404/,
  );
});
