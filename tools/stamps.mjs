// Stamps: a step is skipped while its inputs are what they were when it last succeeded.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, root } from './steps.mjs';

/**
 * Runs `work` unless the stamp `name` says that it succeeded with these inputs and all outputs are
 * there. Inputs and outputs are files or folders, relative to the checkout; a missing input counts
 * as empty. `key` adds what else the result depends on.
 */
export async function unlessStamped(name, { inputs, outputs, key = '' }, work) {
  const file = join(makeFolder(join(root, 'build', 'stamps')), name);
  const before = fingerprint(inputs, key);
  const done = existsSync(file) && readFileSync(file, 'utf8') === before;
  if (done && outputs.every((output) => existsSync(join(root, output)))) return;
  rmSync(file, { force: true });
  await work();
  writeFileSync(file, before);
}

function fingerprint(inputs, key) {
  const hash = createHash('sha256').update(key);
  for (const input of inputs) addPath(hash, join(root, input));
  return hash.digest('hex');
}

function addPath(hash, path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  hash.update(`${path}\0`);
  if (stat.isDirectory()) {
    for (const entry of readdirSync(path).sort()) addPath(hash, join(path, entry));
  } else {
    hash.update(readFileSync(path));
  }
}
