// The readers in TypeScript against inputs that a seed draws: a few thousand here, as many as the seconds allow under
// `npm run fuzz`. A failure names the seed and the number of the input.
import { expect, test } from 'vitest';
import { drawing } from '../../tools/mutants.mjs';
import { targets } from './readers.ts';

const seconds = Number(process.env.SUPERPOSE_FUZZ_SECONDS ?? 0) / targets.length;
const seed = Number(process.env.SUPERPOSE_SEED ?? 1);
const few = 3000;

test.each(targets.map((target) => [target.name, target] as const))('%s', (name, target) => {
  const until = performance.now() + 1000 * seconds;
  let count = 0;
  for (; count < few || performance.now() < until; count++) {
    try {
      target.once(drawing(seed * 1_000_003 + count));
    } catch (error) {
      throw new Error(`${name}, seed ${seed}, input ${count}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (seconds > 0) console.log(`${name}: ${count} inputs, seed ${seed}, nothing found`);
  expect(count).toBeGreaterThanOrEqual(few);
});
