// The header-only libraries: Eigen 5 and, for the native tests, RapidJSON. They are the host's where CMake
// finds them, otherwise Debian's packages in the user's cache.
import {
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unpackPackages, unpackPinned } from './apt.mjs';
import * as pins from './pins.mjs';
import { ask, root } from './steps.mjs';
import { unpacked } from './unpack.mjs';

// Links to just these headers: a host's whole include folder would put its libc's headers before
// Emscripten's own.
const prefix = join(root, 'build', 'prefix');

/** The environment that leads CMake to the headers; RapidJSON's only for `native` tests. */
export async function headers({ native }) {
  const host = hostHeaders();
  const eigen = host.eigen ? undefined : await packaged(pins.eigen, fromPool);
  link(host.eigen ?? join(eigen, 'include/eigen3'), join(prefix, 'include/eigen3'));
  link(host.eigenConfig ?? join(eigen, 'share/eigen3/cmake'), join(prefix, 'share/eigen3/cmake'));
  if (native) {
    const rapidjson =
      host.rapidjson ?? join(await packaged(pins.rapidjson, fromSuite(pins.rapidjson)), 'include/rapidjson');
    link(rapidjson, join(prefix, 'include/rapidjson'));
  }
  return { SUPERPOSE_PREFIX: prefix };
}

/**
 * Where CMake finds the headers on this host: { eigen, eigenConfig, rapidjson }, each undefined if missing.
 */
function hostHeaders() {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-headers-'));
  try {
    writeFileSync(join(folder, 'CMakeLists.txt'), probe);
    // The prefix of an earlier set-up holds only what was found then, so it does not count.
    const given = process.env.SUPERPOSE_PREFIX === prefix ? '' : (process.env.SUPERPOSE_PREFIX ?? '');
    const where = ['-G', 'Ninja', '-S', folder, '-B', join(folder, 'build'), `-DCMAKE_PREFIX_PATH=${given}`];
    const answer = ask('cmake', where) ?? '';
    const found = (name) => {
      const path = answer.match(new RegExp(`^-- ${name}=(/.+)$`, 'm'))?.[1];
      return path && realpathSync(path);
    };
    return { eigen: found('eigen'), eigenConfig: found('eigenConfig'), rapidjson: found('rapidjson') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const packaged = async (pin, fill) =>
  join(
    await unpacked({
      name: `${pin.package}-${pin.version}`,
      what: `${pin.name} (${pin.package} ${pin.version})`,
      instead:
        `put ${pin.name} where CMake finds it, or name the folder above its include folder in SUPERPOSE_PREFIX ` +
        `or CMAKE_PREFIX_PATH. tools/pins.mjs names the package that is expected, ${pin.package} ${pin.version}; ` +
        'a newer one can be tried there.',
      fill,
    }),
    'usr',
  );

const fromSuite =
  (pin) =>
  (half, { uri }, run) =>
    unpackPackages(run, { uri, suite: pin.suite, packages: [`${pin.package}=${pin.version}*`] }, half);

async function fromPool(half, mirror, run) {
  try {
    await unpackPinned(run, mirror.uri, pins.eigen, half);
  } catch (first) {
    // A file that is not the expected one is no reason to look elsewhere.
    if (!first.hasLeft) throw first;
    console.log(`${first.message} Taking the revision that ${pins.eigen.suite} has now.`);
    await fromSuite(pins.eigen)(half, mirror, run).catch((second) => {
      throw new Error(
        `${first.message} And ${pins.eigen.suite} has no ${pins.eigen.package} ${pins.eigen.version} either: ${second.message}`,
      );
    });
  }
}

function link(target, at) {
  try {
    if (readlinkSync(at) === target) return;
  } catch {
    // It does not exist yet.
  }
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { force: true });
  symlinkSync(target, at);
}

const probe = `cmake_minimum_required(VERSION 3.25)
project(probe NONE)
find_package(Eigen3 5 CONFIG QUIET)
if(Eigen3_FOUND)
  get_target_property(include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "eigen=\${include}")
  message(STATUS "eigenConfig=\${Eigen3_DIR}")
endif()
find_path(RAPIDJSON rapidjson/reader.h)
message(STATUS "rapidjson=\${RAPIDJSON}/rapidjson")
`;
