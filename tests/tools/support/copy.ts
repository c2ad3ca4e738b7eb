// A copy of the checkout, for following commands and guides while the checkout itself is tested.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../package/support/project.ts';

/** Copies what a clone would have, and changes that are not committed yet. */
export function copySources(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root).filter((one) => !/^(\.git|build|dist|node_modules)$/.test(one))) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
}
