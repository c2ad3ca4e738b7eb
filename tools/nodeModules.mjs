// The npm dependencies, as listed in package-lock.json.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, step } from './steps.mjs';

/** Runs `npm ci` unless node_modules already matches package-lock.json. */
export async function installNodeModules() {
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
