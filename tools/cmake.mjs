// Configures and builds the presets of CMakePresets.json.
import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { unlessStamped } from './stamps.mjs';
import { makeFolder, root, step, which } from './steps.mjs';

const whileLocked = (preset, work) =>
  withLock(join(root, 'build', `${preset}.lock`), `the ${preset} build of this checkout`, work);

/** Configures (when needed) and builds one preset of CMakePresets.json in the environment of setUp. */
export const buildPreset = (preset, env) =>
  whileLocked(preset, () => (preset === 'wasm' ? buildModules(env) : configureAndBuild(preset, env)));

/** Builds the TypeScript declarations of the modules, for which the core itself need not be built. */
export const buildDeclarations = (env) =>
  whileLocked('wasm', () =>
    unlessStamped('declarations', { ...wasmStamp(env), unchanged: [declarations] }, () =>
      configureAndBuild('wasm', env, 'declared'),
    ),
  );

const settings = ['SUPERPOSE_PREFIX', 'CXXFLAGS', 'LDFLAGS'];
const wasmSettings = [...settings, 'SUPERPOSE_EMSCRIPTEN'];
// The prefix contains only links, so their targets count; the prefix's own path changes with the checkout's.
const valuesOf = (names, env) =>
  names.map((name) => (name === 'SUPERPOSE_PREFIX' ? eigenOf(env[name]) : env[name]));
const eigenOf = (prefix) => prefix && realpathSync(join(prefix, 'include/eigen3'));

const declarations = 'build/declarations/raw.d.ts';
const wasmStamp = (env) => ({
  inputs: ['src/core', 'src/wasm', 'CMakeLists.txt', 'CMakePresets.json'],
  key: JSON.stringify(valuesOf(wasmSettings, env)),
});

/**
 * Builds the modules. This is stamped, because in a checkout that was moved or copied CMake would recompile
 * everything, only to make the same modules.
 */
function buildModules(env) {
  const folder = 'build/package/wasm';
  const files = ['plain', 'relaxed', 'small-plain', 'small-relaxed'].flatMap((module) =>
    ['js', 'wasm'].map((kind) => `superpose-${module}.${kind}`),
  );
  // CMake leaves files of modules that no longer exist, and npm would pack them.
  for (const file of readdirSync(makeFolder(join(root, folder))))
    if (!files.includes(file)) rmSync(join(root, folder, file));
  // Somebody may have called CMake by hand in the meantime.
  const unchanged = [...files.map((file) => `${folder}/${file}`), declarations];
  return unlessStamped('wasm', { ...wasmStamp(env), unchanged }, () => configureAndBuild('wasm', env));
}

/** The environment in which ccache, if it is installed, also serves what it compiled in another checkout. */
export const remembering = (checkout, env = process.env) =>
  which('ccache')
    ? { ...env, CMAKE_CXX_COMPILER_LAUNCHER: 'ccache', CCACHE_BASEDIR: checkout, CCACHE_NOHASHDIR: '1' }
    : env;

async function configureAndBuild(preset, setUpEnv, target = 'all') {
  const env = remembering(root, setUpEnv);
  const byHand =
    `read the compiler's message above; ". build/env.sh && cmake --preset ${preset} && ` +
    `cmake --build --preset ${preset}" does the same.`;
  await unlessStamped(
    `configure-${preset}`,
    {
      inputs: ['CMakePresets.json'],
      outputs: [`build/${preset}/build.ninja`],
      // CMake keeps the compiler and the paths of its first run, so a moved checkout and another toolchain
      // need a fresh folder.
      key: JSON.stringify([
        root,
        which('cmake'),
        which('ccache'),
        ...valuesOf(preset === 'wasm' ? wasmSettings : settings, env),
      ]),
    },
    () =>
      step(`Configure ${preset}`, { byHand }, (run) =>
        run('cmake', ['--fresh', '--preset', preset], { env }),
      ),
  );
  const title = target === 'all' ? `Build ${preset}` : `Build ${preset}: ${target}`;
  await step(title, { byHand }, (run) =>
    run('cmake', ['--build', '--preset', preset, '--target', target], { env }),
  );
}

/** The folder where a preset is built. */
export const presetFolder = (preset) => join(root, 'build', preset);
