// The header-only libraries: Eigen 5 and RapidJSON. The host's Eigen when CMake finds one,
// otherwise both from Debian's newest, unpacked into the user's cache.
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ask, root } from './steps.mjs';
import { isUnpacked, unpacked } from './unpack.mjs';

const privateName = 'eigen-5-rapidjson-1';

export const privateHeadersCached = () => isUnpacked(privateName);

/**
 * Where the host has Eigen 5 and RapidJSON, as far as CMake finds them:
 * { eigenInclude, eigenConfig, rapidjson }, all undefined on a Debian 12.
 */
export function hostHeaders() {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-headers-'));
  try {
    writeFileSync(join(folder, 'CMakeLists.txt'), probe);
    const answer = ask('cmake', ['-S', folder, '-B', join(folder, 'build')]) ?? '';
    const found = (name) => answer.match(new RegExp(`^-- ${name}=(/.+)$`, 'm'))?.[1];
    const eigenInclude = found('eigenInclude');
    if (!eigenInclude) return {};
    return { eigenInclude, eigenConfig: found('eigenConfig'), rapidjson: found('rapidjson') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The environment that leads CMake to the headers, given what the host has of them. */
export async function headers(host) {
  if (!host.eigenInclude) return { SUPERPOSE_PREFIX: join(await privateHeaders(), 'usr') };
  const rapidjson = host.rapidjson ?? join(await privateHeaders(), 'usr/include');
  // Links to just these, because a host's whole include folder would put its libc's headers before
  // Emscripten's own.
  const prefix = join(root, 'build', 'host-headers');
  link(host.eigenInclude, join(prefix, 'include/eigen3'));
  link(host.eigenConfig, join(prefix, 'share/eigen3/cmake'));
  link(join(rapidjson, 'rapidjson'), join(prefix, 'include/rapidjson'));
  return { SUPERPOSE_PREFIX: prefix };
}

function privateHeaders() {
  return unpacked({
    name: privateName,
    what: 'Eigen 5 and RapidJSON (26 MB)',
    suite: 'sid',
    packages: ['libeigen3-dev', 'rapidjson-dev'],
    // A mirror's index of a suite that moves every day may be some days old.
    options: ['--aptopt=Acquire::Check-Valid-Until "false"'],
  });
}

function link(target, at) {
  try {
    if (readlinkSync(at) === target) return;
  } catch {
    // Not there yet.
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
  message(STATUS "eigenInclude=\${include}")
  message(STATUS "eigenConfig=\${Eigen3_DIR}")
  find_path(RAPIDJSON rapidjson/reader.h)
  message(STATUS "rapidjson=\${RAPIDJSON}")
endif()
`;
