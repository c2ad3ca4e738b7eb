// What a script in tests/reference draws anew: models, each in a folder as it would be published, or
// sentences, with the results computed from them.
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { execute, root } from '../../package/support/project.ts';
import { oneThread, python } from '../../tools/support/numpy.ts';
import { digestOf, scriptsOf } from '../../tools/support/oracles.ts';

/** The place of an array in the script’s binary file, and its shape. */
export interface Stored {
  at: number;
  shape: number[];
}

/** Reads the stored array, or the part of it at these indices of its first axes. */
export type StoredNumbers = (of: Stored, ...place: number[]) => Float64Array;

/** The seed of the draws; `npm run test:all` gives another one each time. */
export const drawnSeed = Number(process.env.SUPERPOSE_SEED ?? 1);

/**
 * Puts into `folder` the files that tests/reference/drawn_NAME.py writes, NAME.json and NAME.bin. `count` is
 * passed to a script that takes a number of draws. The results for the usual seed are kept in build/drawn,
 * as long as the scripts do not change.
 */
export async function drawnModels<Drawn>(name: string, seed: number, folder: string, count?: number) {
  const args = [String(seed), ...(count === undefined ? [] : [String(count)])];
  const texts = scriptsOf(`drawn_${name}`).map((script) =>
    readFileSync(join(root, `tests/reference/${script}.py`), 'utf8'),
  );
  const cached = join(root, 'build/drawn', digestOf([name, ...args, ...texts]));
  let output = '';
  if (existsSync(cached)) cpSync(cached, folder, { recursive: true });
  else {
    const script = join(root, `tests/reference/drawn_${name}.py`);
    const outcome = await execute(python, [script, ...args, folder], root, oneThread);
    expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0);
    output = outcome.stdout;
    if (process.env.SUPERPOSE_SEED === undefined) keep(folder, cached);
  }
  const drawn = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Drawn;
  const numbers = new Float64Array(new Uint8Array(readFileSync(join(folder, `${name}.bin`))).buffer);
  const stored: StoredNumbers = ({ at, shape }, ...place) => {
    let from = at;
    let size = shape.reduce((product, extent) => product * extent, 1);
    for (const [axis, index] of place.entries()) {
      size /= shape[axis] as number;
      from += index * size;
    }
    return numbers.subarray(from, from + size);
  };
  return { drawn, stored, output };
}

/** Copies the folder completely or not at all, because another test may copy it at the same time. */
function keep(folder: string, to: string): void {
  const copy = `${to}.${process.pid}`;
  cpSync(folder, copy, { recursive: true });
  if (existsSync(to)) rmSync(copy, { recursive: true });
  else renameSync(copy, to);
}
