// CMake is the build; this only calls its presets.
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { unlessStamped } from './stamps.mjs';
import { root, step } from './steps.mjs';

/** Configures (when needed) and builds one preset of CMakePresets.json in the environment of setUp. */
export function buildPreset(preset, env) {
  return withLock(join(root, 'build', `${preset}.lock`), `the ${preset} build of this checkout`, () =>
    configureAndBuild(preset, env),
  );
}

async function configureAndBuild(preset, env) {
  const byHand =
    `read the compiler's message above; ". build/env.sh && cmake --preset ${preset} && ` +
    `cmake --build --preset ${preset}" does the same.`;
  const settings = ['SUPERPOSE_PREFIX', 'CXXFLAGS', 'LDFLAGS'];
  if (preset === 'wasm') settings.push('SUPERPOSE_EMSCRIPTEN');
  await unlessStamped(
    `configure-${preset}`,
    {
      inputs: ['CMakePresets.json'],
      outputs: [`build/${preset}/build.ninja`],
      // CMake keeps the compiler and the paths of its first run; a moved checkout or another
      // toolchain needs a fresh one.
      key: JSON.stringify([root, ...settings.map((name) => env[name])]),
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
