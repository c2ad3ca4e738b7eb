// A copy of the checkout, in which commands and guides are followed while the checkout itself is tested.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../package/support/project.ts';

/** What a clone would have, with changes that are not committed yet. */
export function copySources(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root).filter((one) => !/^(\.git|build|dist|node_modules)$/.test(one))) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
}
