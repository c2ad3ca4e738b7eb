// Finds Eigen 5: the host's where CMake finds it, otherwise Debian's package in the user's cache.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unpackPackages } from './apt.mjs';
import { eigen as pin } from './pins.mjs';
import { ask, root } from './steps.mjs';
import { unpacked } from './unpack.mjs';

// Contains only links to these headers: the host's include folder would put its libc's headers before
// Emscripten's.
const prefix = join(root, 'build', 'prefix');

/** Returns the environment in which CMake finds the headers. */
export async function headers() {
  const { include, config } = hostHeaders() ?? (await packaged());
  link(include, join(prefix, 'include/eigen3'));
  link(config, join(prefix, 'share/eigen3/cmake'));
  return { SUPERPOSE_PREFIX: prefix };
}

/** Where CMake finds Eigen 5 on this host, if it does. */
function hostHeaders() {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-headers-'));
  try {
    writeFileSync(join(folder, 'CMakeLists.txt'), probe);
    // The prefix of an earlier set-up contains only what was found then, so it does not count.
    const named = process.env.SUPERPOSE_PREFIX === prefix ? '' : (process.env.SUPERPOSE_PREFIX ?? '');
    const where = ['-G', 'Ninja', '-S', folder, '-B', join(folder, 'build'), `-DCMAKE_PREFIX_PATH=${named}`];
    const [, include, config] = ask('cmake', where)?.match(/^-- eigen=(\/.+);(\/.+)$/m) ?? [];
    return include && { include: realpathSync(include), config: realpathSync(config) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function packaged() {
  const folder = await unpacked({
    name: `${pin.package}-${pin.version}`,
    what: `Eigen 5 (${pin.package} ${pin.version})`,
    instead:
      'put Eigen 5 where CMake finds it, or name the folder above its include folder in SUPERPOSE_PREFIX ' +
      `or CMAKE_PREFIX_PATH. tools/pins.mjs names the package that is expected, ${pin.package} ${pin.version}; ` +
      'a newer one can be tried there.',
    fill: (half, { uri }, run) =>
      unpackPackages(run, { uri, suite: pin.suite, packages: [`${pin.package}=${pin.version}*`] }, half),
  });
  return { include: join(folder, 'usr/include/eigen3'), config: join(folder, 'usr/share/eigen3/cmake') };
}

function link(target, at) {
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { force: true });
  symlinkSync(target, at);
}

const probe = `cmake_minimum_required(VERSION 3.25)
project(probe NONE)
find_package(Eigen3 5 CONFIG QUIET)
if(Eigen3_FOUND)
  get_target_property(include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "eigen=\${include};\${Eigen3_DIR}")
endif()
`;
