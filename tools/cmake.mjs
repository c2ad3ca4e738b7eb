// CMake does the building; this only calls its presets.
import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { unlessStamped } from './stamps.mjs';
import { makeFolder, root, step, which } from './steps.mjs';

/** Configures (when needed) and builds one preset of CMakePresets.json in the environment of setUp. */
export function buildPreset(preset, env) {
  return withLock(join(root, 'build', `${preset}.lock`), `the ${preset} build of this checkout`, () =>
    preset === 'wasm' ? unlessMade(env) : configureAndBuild(preset, env),
  );
}

const settings = ['SUPERPOSE_PREFIX', 'CXXFLAGS', 'LDFLAGS'];
const wasmSettings = [...settings, 'SUPERPOSE_EMSCRIPTEN'];
// The prefix holds only links, so their targets count; the prefix's own path changes with the checkout's.
const valuesOf = (names, env) =>
  names.map((name) => (name === 'SUPERPOSE_PREFIX' ? eigenOf(env[name]) : env[name]));
const eigenOf = (prefix) => prefix && realpathSync(join(prefix, 'include/eigen3'));

/** CMake would recompile everything in a checkout that was moved or copied, for the same modules. */
function unlessMade(env) {
  const folder = 'build/package/wasm';
  const files = ['plain', 'relaxed', 'small-plain', 'small-relaxed'].flatMap((module) =>
    ['js', 'wasm'].map((kind) => `superpose-${module}.${kind}`),
  );
  // CMake leaves the files of modules that went, and they would be packed.
  for (const file of readdirSync(makeFolder(join(root, folder))))
    if (!files.includes(file)) rmSync(join(root, folder, file));
  return unlessStamped(
    'wasm',
    {
      inputs: ['src/core', 'src/wasm', 'CMakeLists.txt', 'CMakePresets.json'],
      outputs: [],
      // Someone may have called CMake by hand in the meantime.
      kept: [...files.map((file) => `${folder}/${file}`), 'build/declarations/raw.d.ts'],
      key: JSON.stringify(valuesOf(wasmSettings, env)),
    },
    () => configureAndBuild('wasm', env),
  );
}

/** With ccache, another checkout of the same sources, or the same one made anew, is not recompiled. */
export const remembering = (checkout, env = process.env) =>
  which('ccache')
    ? { ...env, CMAKE_CXX_COMPILER_LAUNCHER: 'ccache', CCACHE_BASEDIR: checkout, CCACHE_NOHASHDIR: '1' }
    : env;

async function configureAndBuild(preset, found) {
  const env = remembering(root, found);
  const byHand =
    `read the compiler's message above; ". build/env.sh && cmake --preset ${preset} && ` +
    `cmake --build --preset ${preset}" does the same.`;
  await unlessStamped(
    `configure-${preset}`,
    {
      inputs: ['CMakePresets.json'],
      outputs: [`build/${preset}/build.ninja`],
      // CMake keeps the compiler and the paths of its first run, its own path too. So a moved checkout or
      // another toolchain needs a fresh folder.
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
  await step(`Build ${preset}`, { byHand }, (run) => run('cmake', ['--build', '--preset', preset], { env }));
}

/** The folder where a preset is built. */
export const presetFolder = (preset) => join(root, 'build', preset);
