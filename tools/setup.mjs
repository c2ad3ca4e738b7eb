// Installs what building and testing need, unless it is already there. To run it alone:
//   node tools/setup.mjs [wasm] [native] [style] [oracles] [chromium] [engines]
// which also writes build/env.sh, to be sourced before calling cmake by hand.
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
 * Prepares the machine for the named parts and returns the environment to run CMake in:
 * SUPERPOSE_PREFIX (the prefix with Eigen's headers) and, for wasm, SUPERPOSE_EMSCRIPTEN (Emscripten's root folder).
 * A private CMake is also put on this process's PATH.
 */
export async function setUp(...wanted) {
  refuseOldNode();
  return withLock(join(root, 'build', 'setup.lock'), 'the set-up of this checkout', () => prepare(wanted));
}

async function prepare(wanted) {
  const wasm = wanted.includes('wasm');
  await install(wanted);
  // npm and apt wait for the network while what came is unpacked.
  const [[tools, eigen], toolchain] = await Promise.all([
    cmakeTools().then(async (folder) => [folder, await headers()]),
    wasm ? emscripten() : {},
    wasm && installNodeModules(),
  ]);
  const found = { ...eigen, ...toolchain };
  writeEnvironment(found, tools);
  return { ...process.env, ...found };
}

/** What is optional stops CI alone; elsewhere the other tests still run. */
async function install(wanted) {
  try {
    await installHostPackages(wanted);
  } catch (error) {
    const needed = missingNeeds(wanted.filter((part) => !optional.includes(part)));
    if (process.env.CI === 'true' || needed.length > 0 || !(error instanceof Failure)) throw error;
    console.log(`\n${error.message}\nGoing on without; the tests that need them are skipped.\n`);
  }
}

/** Checked here, because the errors of npm and Vite about it are cryptic. */
function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Failure(
    `This is Node ${process.versions.node}; Node 20.19 or newer is needed. Put one on PATH, then try again.`,
  );
}

/** Keeps what an earlier set-up of other parts wrote. `tools` is a folder for PATH, if any. */
function writeEnvironment(found, tools) {
  const file = join(root, 'build', 'env.sh');
  const quote = (value) => `'${value.replaceAll("'", "'\\''")}'`;
  const lines = Object.entries(found).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const earlier = existsSync(file) ? (readFileSync(file, 'utf8').match(/^export .*\n/gm) ?? []) : [];
  const kept = earlier.filter((line) => !(line.match(/^export (\w+)=/)?.[1] in found));
  if (tools) lines.push(`PATH="$PATH":${quote(tools)}\n`);
  writeFileSync(file, [...lines, ...kept].join(''));
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
 * npm writes node_modules/.package-lock.json last, however it is run. Comparing it with ours detects a
 * half-finished install and accepts one made by hand.
 */
function upToDate() {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (have[path] ? have[path].version === version : optional),
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
