// The files in which test runners leave their counts.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, makeFolder, root } from './steps.mjs';

/** The path for a result of this name; an earlier run's result is removed. */
export function resultFile(name) {
  const file = join(makeFolder(join(root, 'build', 'test-results')), name);
  rmSync(file, { force: true });
  return file;
}

export function readResult(file) {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new Failure(`The test runner ended before it wrote ${file}; what it printed stands above.`);
}
