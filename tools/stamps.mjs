// Skips a step while its inputs are the same as when it last succeeded: Vite and tsc would build everything
// each time, and `npm start` and `npm test` take seconds when there is nothing to do.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, root } from './steps.mjs';

/**
 * Runs `work`, unless the stamp `name` says that it succeeded with these inputs, all outputs exist, and the
 * outputs in `unchanged` are as it left them. All are files or folders, relative to the checkout, which may
 * be moved or copied with its stamps. A missing input counts as empty. `key` adds anything else that the
 * result depends on.
 */
export async function unlessStamped(name, { inputs, outputs = [], unchanged = [], key = '' }, work) {
  const file = join(makeFolder(join(root, 'build', 'stamps')), name);
  const before = fingerprint(inputs, key);
  const stamp = () => `${before}\n${fingerprint(unchanged)}\n`;
  const exist = [...outputs, ...unchanged].every((output) => existsSync(join(root, output)));
  if (exist && existsSync(file) && readFileSync(file, 'utf8') === stamp()) return;
  rmSync(file, { force: true });
  await work();
  writeFileSync(file, stamp());
}

function fingerprint(paths, key = '') {
  const hash = createHash('sha256').update(key);
  for (const path of paths) addPath(hash, path);
  return hash.digest('hex');
}

function addPath(hash, path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat) return;
  hash.update(`${path}\0`);
  if (stat.isDirectory()) {
    for (const entry of readdirSync(join(root, path)).sort()) addPath(hash, `${path}/${entry}`);
  } else {
    hash.update(readFileSync(join(root, path)));
  }
}
