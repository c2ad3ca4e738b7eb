// Emscripten: the one on PATH when it is new enough, otherwise a private one from the user's cache.
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, which } from './steps.mjs';
import { isUnpacked, unpacked } from './unpack.mjs';

/** The oldest Emscripten that the build is known to work with. */
const floor = [3, 1, 69];
/** Raise the number behind the dash whenever what `finish` leaves changes. */
const privateName = 'emscripten-3.1.69-1';

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

/** The environment that makes CMake find Emscripten on PATH, or undefined when there is none new enough. */
export function hostEmscripten() {
  if (!which('emcc') || !which('em-config')) return undefined;
  const version = ask('emcc', ['--version'])
    ?.match(/\b(\d+)\.(\d+)\.(\d+)/)
    ?.slice(1)
    .map(Number);
  const rootFolder = ask('em-config', ['EMSCRIPTEN_ROOT']);
  if (!version || !rootFolder || older(version, floor)) return undefined;
  return { SUPERPOSE_EMSCRIPTEN: rootFolder };
}

export const privateEmscriptenCached = () => isUnpacked(privateName);

/** The same for the private Emscripten, which is unpacked first when it is not there yet. */
export async function privateEmscripten() {
  const folder = await unpacked({
    name: privateName,
    what: 'Emscripten 3.1.69 (1 GB)',
    suite: 'trixie',
    packages: ['emscripten'],
    finish,
  });
  const emscripten = join(folder, 'usr/share/emscripten');
  return {
    SUPERPOSE_EMSCRIPTEN: emscripten,
    EM_CONFIG: join(emscripten, '.emscripten'),
    // Emscripten takes the first python3 on PATH, which may be a version manager's; this one fits.
    EMSDK_PYTHON: '/usr/bin/python3',
  };
}

/** Makes the unpacked Emscripten run where it lies, on its own libraries, also after a move. */
async function finish(folder, run) {
  const usr = join(folder, 'usr');
  const triplet = readdirSync(join(usr, 'lib')).find((name) => name.endsWith('-linux-gnu'));
  const llvm = readdirSync(join(usr, 'lib')).find((name) => /^llvm-\d+$/.test(name));
  const loader = findLoader(usr);
  const wrap = (wrapper, program, options = '') =>
    writeWrapper(join(folder, wrapper), {
      up: wrapper
        .split('/')
        .slice(1)
        .map(() => '/..')
        .join(''),
      loader,
      libraries: [`usr/lib/${triplet}`, `usr/lib/${llvm}/lib`],
      program,
      options,
    });

  mkdirSync(join(folder, 'llvm'));
  const resources = ` -resource-dir "$top/usr/lib/${llvm}/lib/clang/${llvm.split('-')[1]}"`;
  for (const tool of llvmTools) {
    wrap(`llvm/${tool}`, `usr/lib/${llvm}/bin/${tool}`, tool.startsWith('clang') ? resources : '');
  }
  wrap('llvm/wasm-ld', `usr/lib/${llvm}/bin/lld`);
  mkdirSync(join(folder, 'binaryen/bin'), { recursive: true });
  for (const tool of binaryenTools) wrap(`binaryen/bin/${tool}`, `usr/bin/${tool}`);

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
  for (const tool of ['llvm/clang', 'llvm/wasm-ld', 'binaryen/bin/wasm-opt'])
    await run(join(folder, tool), ['--version']);
}

function findLoader(usr) {
  for (const folder of ['lib64', 'lib']) {
    const name = readdirSync(join(usr, folder)).find((entry) => /^ld-linux.*\.so\.\d+$/.test(entry));
    if (name) return `usr/${folder}/${name}`;
  }
  throw new Error('The unpacked packages hold no program loader (ld-linux).');
}

function writeWrapper(file, { up, loader, libraries, program, options }) {
  const path = libraries.map((library) => `$top/${library}`).join(':');
  writeFileSync(
    file,
    `#!/bin/sh
# Runs the unpacked program with the loader and the libraries that it was built for.
top=\${0%/*}${up}
exec "$top/${loader}" --argv0 "$0" --library-path "${path}" "$top/${program}"${options} "$@"
`,
  );
  chmodSync(file, 0o755);
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
