// Installs what building and testing need, so that a fresh machine needs two commands, and writes
// build/env.sh, which is sourced before calling cmake by hand. To run it alone:
//   node tools/setup.mjs [wasm] [native] [style] [oracles] [chromium] [engines]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { headers } from './headers.mjs';
import { installHostPackages, missingNeeds, optional } from './hostPackages.mjs';
import { withLock } from './lock.mjs';
import { cmakeTools, emscripten } from './programs.mjs';
import { Failure, root, runTool, step, usageError } from './steps.mjs';

/**
 * The parts to choose from. `wasm` needs no root; `native` alone needs neither Emscripten nor node_modules.
 */
export const parts = ['wasm', 'native', ...optional];

/**
 * Prepares the machine for the named parts and returns the environment to run CMake in: SUPERPOSE_PREFIX
 * (the prefix with Eigen's headers) and, for wasm, SUPERPOSE_EMSCRIPTEN (Emscripten's root folder). A
 * private CMake is also put on this process's PATH.
 */
export async function setUp(...names) {
  refuseOldNode();
  return withLock(join(root, 'build', 'setup.lock'), 'the set-up of this checkout', () => prepare(names));
}

async function prepare(names) {
  const wasm = names.includes('wasm');
  await install(names);
  // At once, because npm and apt wait for the network while what has arrived is unpacked.
  const [[tools, eigen], toolchain] = await Promise.all([
    cmakeTools().then(async (folder) => [folder, await headers()]),
    wasm ? emscripten() : {},
    wasm && installNodeModules(),
  ]);
  const variables = { ...eigen, ...toolchain };
  writeEnvironment(variables, tools);
  return { ...process.env, ...variables };
}

/** A missing optional part stops CI alone; elsewhere the other tests still run. */
async function install(names) {
  try {
    await installHostPackages(names);
  } catch (error) {
    const needed = missingNeeds(names.filter((part) => !optional.includes(part)));
    if (process.env.CI === 'true' || needed.length > 0 || !(error instanceof Failure)) throw error;
    console.log(`\n${error.message}\nGoing on without; the tests that need them are skipped.\n`);
  }
}

/** Refuses an old Node here, because the errors of npm and Vite about it are cryptic. */
function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Failure(
    `This is Node ${process.versions.node}; Node 20.19 or newer is needed. Put one on PATH, then try again.`,
  );
}

/**
 * Writes build/env.sh, and keeps what an earlier set-up of other parts wrote. `tools` is a folder for PATH,
 * if any.
 */
function writeEnvironment(variables, tools) {
  const file = join(root, 'build', 'env.sh');
  const quote = (value) => `'${value.replaceAll("'", "'\\''")}'`;
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const earlier = existsSync(file) ? (readFileSync(file, 'utf8').match(/^export .*\n/gm) ?? []) : [];
  const others = earlier.filter((line) => !(line.match(/^export (\w+)=/)?.[1] in variables));
  if (tools) lines.push(`PATH="$PATH":${quote(tools)}\n`);
  writeFileSync(file, [...lines, ...others].join(''));
}

/** Runs `npm ci` unless node_modules already matches package-lock.json. */
async function installNodeModules() {
  if (upToDate()) return;
  await step(
    'Install the npm dependencies',
    { byHand: 'see that npm reaches its registry (npm ping), then run "npm ci" in this folder.' },
    (run) => run('npm', ['ci', '--no-fund', '--no-audit']),
  );
}

/**
 * Whether node_modules matches package-lock.json. npm writes node_modules/.package-lock.json last, however
 * it is run, so comparing the two detects a half-finished install and accepts one that was run by hand.
 */
function upToDate() {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const actual = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === '' || (actual[path] ? actual[path].version === version : optional),
  );
}

async function main(args) {
  const unknown = args.filter((arg) => !parts.includes(arg));
  if (unknown.length > 0) {
    throw usageError(
      `No part is called ${unknown.join(' or ')}. There are: ${parts.join(', ')} (all of them when none is named).`,
    );
  }
  await setUp(...(args.length > 0 ? args : parts));
  console.log('Ready. To call cmake by hand: . build/env.sh && cmake --preset wasm');
}

runTool(import.meta.url, main);
