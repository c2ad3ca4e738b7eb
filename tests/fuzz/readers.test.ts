// The readers in TypeScript against inputs drawn from a seed: a few thousand, or as many as
// SUPERPOSE_FUZZ_SECONDS allow. A failure names the seed and the number of the input.
import { expect, test } from 'vitest';
import { drawing } from '../api/support/drawing.ts';
import { targets } from './readers.ts';

const seconds = Number(process.env.SUPERPOSE_FUZZ_SECONDS ?? 0) / targets.length;
const seed = Number(process.env.SUPERPOSE_SEED ?? 1);
const few = 3000;

test.each(targets.map((target) => [target.name, target] as const))(
  '%s',
  async (name, target) => {
    const until = performance.now() + 1000 * seconds;
    const least = Math.ceil(few / (target.slow ? 10 : 1));
    let count = 0;
    for (; count < least || performance.now() < until; count++) {
      try {
        await target.once(drawing(seed * 1_000_003 + count));
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, input ${count}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
    if (seconds > 0) console.log(`${name}: ${count} inputs, seed ${seed}, nothing found`);
    expect(count).toBeGreaterThanOrEqual(least);
  },
  // As long as was asked for.
  seconds > 0 ? 24 * 3_600_000 : undefined,
);
