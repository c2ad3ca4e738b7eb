// What the set-up finds on PATH, what it downloads instead, and what it says when it can do neither. Runs in
// a copy of the checkout, with an empty cache and nothing on PATH except what a test puts there.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import * as pins from '../../tools/pins.mjs';
import { which } from '../../tools/steps.mjs';
import { wrapProgram } from '../../tools/unpack.mjs';
import { execute, plainEnvironment, root } from '../package/support/project.ts';
import { copySources } from './support/copy.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'superpose-setup-')));
afterAll(() => rmSync(top, { recursive: true }));
const copy = join(top, 'checkout');
const cache = join(top, 'cache');
const bin = join(top, 'bin');
copySources(copy);
await execute('cp', ['-al', join(root, 'node_modules'), copy], root);

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Puts a shell script, or a program of this machine, on the test's PATH. */
function onPath(name: string, script = `exec '${which(name)}' "$@"`): void {
  write(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

function fakeEmscripten(version: string): string {
  const emscripten = join(top, 'emsdk/upstream/emscripten');
  onPath(
    'emcc',
    `echo 'emcc (Emscripten gcc/clang-like replacement + linker emulating GNU ld) ${version} (a1b2)'`,
  );
  onPath('em-config', `echo ${emscripten}`);
  return emscripten;
}

/** Makes headers as Eigen's `make install` leaves them. */
function fakeHeaders(version: string): string {
  const prefix = join(top, `prefix-${version}`);
  const config = join(prefix, 'share/eigen3/cmake/Eigen3Config');
  write(
    `${config}.cmake`,
    `add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${prefix}/include/eigen3")
`,
  );
  const [major] = version.split('.');
  write(
    `${config}Version.cmake`,
    `set(PACKAGE_VERSION ${version})
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL "${major}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
`,
  );
  write(join(prefix, 'include/eigen3/Eigen/Core'), '');
  return prefix;
}

/** Makes apt's sources name a mirror in a folder. The rest of apt is the machine's own. */
function fakeMirror(): string {
  const mirror = join(top, 'mirror');
  mkdirSync(mirror, { recursive: true });
  const codename = readFileSync('/etc/os-release', 'utf8').match(/^VERSION_CODENAME=(.*)$/m)?.[1];
  const answer = `echo 'copy:${mirror}/ ${codename} main'`;
  onPath('apt-get', `[ "$1" = indextargets ] && ${answer} && exit\nexec '${which('apt-get')}' "$@"`);
  for (const program of ['apt-config', 'dpkg', 'dpkg-deb']) onPath(program);
  return mirror;
}

async function setUp(env: NodeJS.ProcessEnv = {}, ...[part = 'wasm', ...others]: string[]) {
  const clean = plainEnvironment();
  for (const name of ['SUPERPOSE_PREFIX', 'CMAKE_PREFIX_PATH', 'EM_CONFIG']) delete clean[name];
  const outcome = await execute(process.execPath, ['tools/setup.mjs', part, ...others], copy, {
    ...clean,
    PATH: bin,
    XDG_CACHE_HOME: cache,
    ...env,
  });
  return { code: outcome.code, output: outcome.stdout + outcome.stderr };
}

const unpacked = () =>
  (existsSync(cache) ? readdirSync(join(cache, 'superpose')) : []).filter((name) => !name.endsWith('.lock'));

beforeEach(() => {
  for (const folder of [bin, cache, join(top, 'mirror'), join(copy, 'build')])
    rmSync(folder, { recursive: true, force: true });
  for (const name of ['node', 'sh', 'cat', 'flock'].filter((name) => which(name))) onPath(name);
});

test('who must install packages by hand is told of all of them at once', async () => {
  onPath('apt-get', 'exit 1');
  onPath('env');
  const { code, output } = await setUp({}, 'native', 'chromium', 'engines');
  expect(code).not.toBe(0);
  const [, byHand] = /By hand: as root, run: (.*)/.exec(output) ?? [];
  for (const name of ['g++', 'clang', 'chromium', 'firefox-esr', 'xvfb'])
    expect(byHand?.split(' '), output).toContain(name);
});

describe('without apt, as on macOS', () => {
  test.each(['CMAKE_PREFIX_PATH', 'SUPERPOSE_PREFIX'])(
    'takes Emscripten and CMake from PATH, Eigen 5 from %s, and downloads nothing',
    async (variable) => {
      const emscripten = fakeEmscripten('4.0.1');
      const prefix = fakeHeaders('5.0.0');
      for (const name of ['cmake', 'ninja']) onPath(name);
      const { code, output } = await setUp({ [variable]: prefix });
      expect(code, output).toBe(0);
      const environment = readFileSync(join(copy, 'build/env.sh'), 'utf8');
      const linkedPrefix = join(copy, 'build/prefix');
      expect(environment).toBe(
        `export SUPERPOSE_PREFIX='${linkedPrefix}'\nexport SUPERPOSE_EMSCRIPTEN='${emscripten}'\n`,
      );
      expect(readlinkSync(join(linkedPrefix, 'include/eigen3'))).toBe(join(prefix, 'include/eigen3'));
      expect(readlinkSync(join(linkedPrefix, 'share/eigen3/cmake'))).toBe(join(prefix, 'share/eigen3/cmake'));
      expect(existsSync(cache)).toBe(false);
    },
  );

  test('an Emscripten that is too old is refused', async () => {
    fakeEmscripten('3.1.68');
    for (const name of ['cmake', 'ninja']) onPath(name);
    const { code, output } = await setUp({ CMAKE_PREFIX_PATH: fakeHeaders('5.0.0') });
    expect(code).toBe(1);
    expect(output).toContain('This machine has no apt to download from.');
    expect(output).toContain(`By hand: put Emscripten ${pins.emscripten.version} or newer on PATH`);
  });

  test('an Eigen older than 5 is refused', async () => {
    fakeEmscripten('4.0.1');
    for (const name of ['cmake', 'ninja']) onPath(name);
    const { code, output } = await setUp({ CMAKE_PREFIX_PATH: fakeHeaders('3.4.0') });
    expect(code).toBe(1);
    expect(output).toContain('By hand: put Eigen 5 where CMake finds it');
  });

  test.each(['cmake', 'ninja'])('says that it needs %s', async (missing) => {
    fakeEmscripten('4.0.1');
    for (const name of ['cmake', 'ninja'].filter((name) => name !== missing)) onPath(name);
    const { code, output } = await setUp({ CMAKE_PREFIX_PATH: fakeHeaders('5.0.0') });
    expect(code).toBe(1);
    expect(output).toContain('By hand: put CMake 3.25 or newer and Ninja on PATH.');
  });
});

describe.skipIf(!which('apt-get'))('with apt', () => {
  beforeEach(() => {
    fakeEmscripten('4.0.1');
    for (const name of ['cmake', 'ninja']) onPath(name);
  });

  test('where the mirror has no Eigen, the error says what was expected, and what to do', async () => {
    fakeMirror();
    const { code, output } = await setUp();
    expect(code).toBe(1);
    expect(output).toContain(`The step "Unpack Eigen 5 (libeigen3-dev ${pins.eigen.version})`);
    expect(output).toMatch(
      /put Eigen 5 where CMake finds it, or name .* in SUPERPOSE_PREFIX or CMAKE_PREFIX_PATH/,
    );
    expect(unpacked()).toEqual([]);
  });

  test('Eigen comes from its suite, signed', async () => {
    // The rest of apt is the machine's own, with everything that apt calls to check a signature.
    const { code, output } = await setUp({ PATH: `${bin}:/usr/bin:/bin` });
    expect(code, output).toBe(0);
    const macros = readFileSync(join(copy, 'build/prefix/include/eigen3/Eigen/Version'), 'utf8');
    const [major, minor, patch] = ['MAJOR', 'MINOR', 'PATCH'].map(
      (part) => macros.match(new RegExp(`EIGEN_${part}_VERSION (\\d+)`))?.[1],
    );
    expect(`${major}.${minor}.${patch}`).toBe(pins.eigen.version);
    expect(unpacked()).toEqual([`libeigen3-dev-${pins.eigen.version}`]);
  });

  test('a mirror without a signature is refused', async () => {
    const suite = join(fakeMirror(), 'dists', pins.emscripten.suite);
    write(join(suite, 'Release'), `Suite: ${pins.emscripten.suite}\nSHA256:\n`);
    rmSync(join(bin, 'emcc'));
    const { code, output } = await setUp({ CMAKE_PREFIX_PATH: fakeHeaders('5.0.0') });
    expect(code).toBe(1);
    expect(output).toContain(`The step "Unpack Emscripten ${pins.emscripten.version}`);
    expect(output).toMatch(/is not signed/);
    expect(unpacked()).toEqual([]);
  });
});

test('building needs no package of the host, and no file names a mirror', () => {
  const tools = readdirSync(join(root, 'tools')).filter((name) => name.endsWith('.mjs'));
  const texts = tools.map((name) => readFileSync(join(root, 'tools', name), 'utf8'));
  for (const text of texts) expect(text).not.toMatch(/mmdebstrap|debian\.org/);
});

const loader = ['/lib64', '/lib', '/usr/lib'].flatMap((folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^ld-linux.*\.so\.\d+$/.test(name))
        .map((name) => join(folder, name))
    : [],
)[0];

test.skipIf(!loader)(
  'an unpacked program runs on its own libraries, under its own name, after a move',
  async () => {
    const before = join(top, 'unpacked');
    const libraries = join(before, 'lib/any-linux-gnu');
    const shell = realpathSync('/bin/sh');
    mkdirSync(libraries, { recursive: true });
    mkdirSync(join(before, 'usr/programs'), { recursive: true });
    copyFileSync(shell, join(before, 'usr/programs/sh'));
    const needed = (await execute('ldd', [shell], root)).stdout.matchAll(/=> (\/\S+)/g);
    for (const [, library = ''] of needed)
      cpSync(library, join(libraries, basename(library)), { dereference: true });
    cpSync(loader as string, join(libraries, basename(loader as string)), { dereference: true });
    wrapProgram(before, { wrapper: 'usr/bin/shell', program: 'usr/programs/sh', options: ' -u' });
    const after = join(top, 'moved');
    renameSync(before, after);
    const wrapper = join(after, 'usr/bin/shell');
    const { stdout, stderr } = await execute(wrapper, ['-c', 'echo "$0"; echo $-; cat /proc/$$/maps'], root);
    expect(stdout.split('\n')[0], stderr).toBe(wrapper);
    expect(stdout.split('\n')[1]).toContain('u');
    const loaded = [...stdout.matchAll(/(\/\S+\.so[.\d]*)$/gm)].map(([, file]) => file as string);
    expect(loaded.length).toBeGreaterThan(0);
    for (const file of loaded) expect(file.startsWith(join(after, 'lib/')), file).toBe(true);
  },
);
