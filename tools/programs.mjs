// Finds CMake, Ninja and Emscripten: the host's, or private ones in the user's cache.
import { readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackPackages } from './apt.mjs';
import { emscripten as pin } from './pins.mjs';
import { ask, which } from './steps.mjs';
import { unpacked, wrapProgram } from './unpack.mjs';

const programs = ['cmake', 'ctest', 'ninja'];

/**
 * Appends the folder of private CMake and Ninja to PATH and returns it; undefined if the host has its own.
 */
export async function cmakeTools() {
  if (['cmake', 'ninja'].every((program) => which(program))) return undefined;
  const folder = join(await privateTools(), 'usr/bin');
  process.env.PATH = `${process.env.PATH}${delimiter}${folder}`;
  return folder;
}

function privateTools() {
  return unpacked({
    name: 'cmake-ninja-1',
    what: 'CMake and Ninja (0.2 GB)',
    instead: 'put CMake 3.25 or newer and Ninja on PATH.',
    fill: async (half, { uri, release }, run) => {
      await unpackPackages(run, { uri, suite: release, packages: ['cmake', 'ninja-build'] }, half);
      // CMake finds its modules from the name that it is called by, so the wrappers take the programs' place.
      // Nothing else may be in that folder, because it is on PATH.
      renameSync(join(half, 'usr/bin'), join(half, 'usr/programs'));
      for (const program of programs) {
        wrapProgram(half, { wrapper: `usr/bin/${program}`, program: `usr/programs/${program}` });
        await run(join(half, 'usr/bin', program), ['--version']);
      }
    },
  });
}

/** Raise the number after the last dash whenever finish() changes what it leaves in the folder. */
const privateName = `emscripten-${pin.version}-2`;

/**
 * Returns the environment in which CMake finds Emscripten: the host's, or a private one, unpacked if
 * necessary.
 */
export const emscripten = async () => hostEmscripten() ?? (await privateEmscripten());

/** Undefined if none on PATH is new enough: the private one's version is the oldest that is known to work. */
function hostEmscripten() {
  const version = ask('emcc', ['--version'])?.match(/\b\d+\.\d+\.\d+/)?.[0];
  const rootFolder = ask('em-config', ['EMSCRIPTEN_ROOT']);
  if (!rootFolder || !(version?.localeCompare(pin.version, 'en', { numeric: true }) >= 0)) return undefined;
  return { SUPERPOSE_EMSCRIPTEN: rootFolder };
}

async function privateEmscripten() {
  const folder = await unpacked({
    name: privateName,
    what: `Emscripten ${pin.version} (1 GB)`,
    instead: `put Emscripten ${pin.version} or newer on PATH; emsdk has it for every system.`,
    fill: async (half, { uri }, run) => {
      await unpackPackages(
        run,
        { uri, suite: pin.suite, packages: [`${pin.package}=${pin.version}*`] },
        half,
      );
      await finish(half, run);
    },
  });
  const emscripten = join(folder, 'usr/share/emscripten');
  return {
    SUPERPOSE_EMSCRIPTEN: emscripten,
    EM_CONFIG: join(emscripten, '.emscripten'),
    // Emscripten would take the first python3 on PATH, which may be missing or belong to a version manager.
    EMSDK_PYTHON: join(folder, 'usr/bin/python3'),
  };
}

/** Makes the unpacked Emscripten run in place, on its own libraries, even after the folder has moved. */
async function finish(folder, run) {
  const usr = join(folder, 'usr');
  const named = (where, pattern) => readdirSync(join(usr, where)).filter((name) => pattern.test(name));
  const [llvm] = named('lib', /^llvm-\d+$/);
  const wrap = (wrapper, program, options) =>
    wrapProgram(folder, { wrapper, program: `usr/${program}`, options, libraries: [`usr/lib/${llvm}/lib`] });

  const resources = ` -resource-dir "$top/usr/lib/${llvm}/lib/clang/${llvm.split('-')[1]}"`;
  for (const tool of named(`lib/${llvm}/bin`, /^(clang(\+\+)?|llc|llvm-.*|wasm-ld)$/))
    wrap(`llvm/${tool}`, `lib/${llvm}/bin/${tool}`, tool.startsWith('clang') ? resources : '');
  for (const tool of named('bin', /^wasm(-|2js)/)) wrap(`binaryen/bin/${tool}`, `bin/${tool}`);
  // Python finds its library from the name that it is called by, so the wrapper is beside the program.
  wrap('usr/bin/python3', `bin/${named('bin', /^python3\.\d+$/)[0]}`);

  const emscripten = join(usr, 'share/emscripten');
  writeFileSync(join(emscripten, '.emscripten'), config);
  // Emscripten imports acorn, which Debian keeps where only Debian's own Node looks.
  symlinkSync('../nodejs', join(emscripten, 'node_modules'));
  for (const unused of [
    'cache/sysroot/lib/wasm32-emscripten/lto',
    'cache/sysroot/lib/wasm32-emscripten/lto-pic',
    'cache/sysroot/lib/wasm32-emscripten/pic',
    'test',
    'docs',
  ]) {
    rmSync(join(emscripten, unused), { recursive: true, force: true });
  }
  for (const tool of ['llvm/clang', 'llvm/wasm-ld', 'binaryen/bin/wasm-opt', 'usr/bin/python3'])
    await run(join(folder, tool), ['--version']);
}

// Emscripten sets EM_CONFIG to this file's own path before it reads it.
const config = `import os, shutil
emscripten = os.path.dirname(os.path.abspath(os.environ['EM_CONFIG']))
top = os.path.normpath(os.path.join(emscripten, '../../..'))
LLVM_ROOT = os.path.join(top, 'llvm')
BINARYEN_ROOT = os.path.join(top, 'binaryen')
NODE_JS = shutil.which('node')
CACHE = os.path.join(emscripten, 'cache')
FROZEN_CACHE = True
`;
