// Emscripten: the one on PATH if it is new enough, otherwise a private one in the user's cache.
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpackPackages } from './apt.mjs';
import { emscripten as pin } from './pins.mjs';
import { ask, which } from './steps.mjs';
import { unpacked, wrapProgram } from './unpack.mjs';

/**
 * The oldest Emscripten that the build is known to work with, which is also the version of the private one.
 */
const floor = pin.version.split('.').map(Number);
/** Raise the number after the dash whenever the result of finish() changes. */
const privateName = `emscripten-${pin.version}-2`;

const llvmTools = [
  'clang',
  'clang++',
  'llc',
  'llvm-ar',
  'llvm-cxxfilt',
  'llvm-dwarfdump',
  'llvm-dwp',
  'llvm-nm',
  'llvm-objcopy',
  'llvm-ranlib',
  'llvm-size',
  'llvm-strip',
  'llvm-symbolizer',
]; // prettier-ignore
const binaryenTools = [
  'wasm-as',
  'wasm-ctor-eval',
  'wasm-dis',
  'wasm-emscripten-finalize',
  'wasm-merge',
  'wasm-metadce',
  'wasm-opt',
  'wasm-split',
  'wasm2js',
]; // prettier-ignore

/**
 * The environment in which CMake finds Emscripten: the host's, or a private one, unpacked first if need be.
 */
export const emscripten = async () => hostEmscripten() ?? (await privateEmscripten());

/** Undefined when none on PATH is new enough. */
function hostEmscripten() {
  if (!which('emcc') || !which('em-config')) return undefined;
  const version = ask('emcc', ['--version'])
    ?.match(/\b(\d+)\.(\d+)\.(\d+)/)
    ?.slice(1)
    .map(Number);
  const rootFolder = ask('em-config', ['EMSCRIPTEN_ROOT']);
  if (!version || !rootFolder || older(version, floor)) return undefined;
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
    // Emscripten would take the first python3 on PATH, which may be missing or a version manager's.
    EMSDK_PYTHON: join(folder, 'usr/bin/python3'),
  };
}

/** Makes the unpacked Emscripten run in place, on its own libraries, even after it is moved. */
async function finish(folder, run) {
  const usr = join(folder, 'usr');
  const llvm = readdirSync(join(usr, 'lib')).find((name) => /^llvm-\d+$/.test(name));
  const wrap = (wrapper, program, options) =>
    wrapProgram(folder, { wrapper, program, options, libraries: [`usr/lib/${llvm}/lib`] });

  const resources = ` -resource-dir "$top/usr/lib/${llvm}/lib/clang/${llvm.split('-')[1]}"`;
  for (const tool of llvmTools) {
    wrap(`llvm/${tool}`, `usr/lib/${llvm}/bin/${tool}`, tool.startsWith('clang') ? resources : '');
  }
  wrap('llvm/wasm-ld', `usr/lib/${llvm}/bin/lld`);
  for (const tool of binaryenTools) wrap(`binaryen/bin/${tool}`, `usr/bin/${tool}`);
  // Python finds its library from the name that it is called by, so the wrapper is beside the program.
  const python = readdirSync(join(usr, 'bin')).find((name) => /^python3\.\d+$/.test(name));
  wrap('usr/bin/python3', `usr/bin/${python}`);

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

function older(version, than) {
  const index = version.findIndex((part, i) => part !== than[i]);
  return index >= 0 && version[index] < than[index];
}
