// A copy of the checkout, for following commands and guides while the checkout itself is tested.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { remembering } from '../../../tools/cmake.mjs';
import { plainEnvironment, root } from '../../package/support/project.ts';

/** Copies what a clone would have, and changes that are not committed yet. */
export function copySources(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root).filter((name) => !/^(\.git|build|dist|node_modules)$/.test(name))) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
}

/** The environment of CMake in a copy: what the last build of the checkout had. */
export function buildEnvironment(copy: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = remembering(copy, plainEnvironment());
  const file = join(root, 'build/env.sh');
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const [, name = '', value] of lines.matchAll(/^export (\w+)='(.*)'$/gm)) env[name] ??= value;
  return env;
}
