// Calls at the limits of what is allowed: the last, the widest, one more of the same. Calls beyond a limit
// are in refusals.txt.
import { expect, test } from 'vitest';
import { plain } from './support/builds.ts';
import { combined } from './support/naive.ts';

const drawn = (rows: number, columns: number) => plain.randomNormal({ rows, columns, seed: 3 });
const linear = (rows: number, columns: number) => ({ weight: drawn(rows, columns) });

const three = drawn(3, 4);
const right = { token: three, position: three };
const weights = { query: linear(4, 4), key: linear(4, 4), heads: 2 };
const scores = plain.decompose({ summands: right, ...weights, gauge: 'raw', excludedRows: [2] });

test('a search of six words in slices of three', async () => {
  using search = plain.collisionSearch({ tokens: drawn(7, 4), positions: drawn(3, 4) });
  const progress: number[][] = [];
  await search.allWords({ words: 6, slice: 3, onProgress: (...at) => progress.push(at) });
  expect(progress).toEqual([
    [3, 6],
    [6, 6],
  ]);
});

test('the last row is excluded, and of heads of any number the parts are pooled', () => {
  expect(combined(plain, scores, 1, Array<boolean>(9).fill(true)).share).toBeCloseTo(1, 12);
  const groupOf = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const pooled = plain.poolShares([scores], groupOf);
  expect(pooled.mean).toHaveLength(9);
  expect([...pooled.mean].reduce((sum, share) => sum + share)).toBeCloseTo(1, 12);
});

test('positions wider than the model, side by side', () => {
  const shape = { vocabulary: 9, positions: 4, d_model: 8, heads: 2, layers: 1 };
  expect(plain.positionCost('concat-wide', { ...shape, d_position: 9 }).width).toBe(17);
  expect(plain.positionCost('project', { ...shape, d_position: 9 }).width).toBe(8);
});

test('a count of 2^53 − 1 is exact', () => {
  // With one channel, each token is one number, and LayerNorm and the pooler have two each.
  const shape = { positions: 0, d_model: 1, heads: 1, layers: 0 };
  const most = Number.MAX_SAFE_INTEGER;
  expect(plain.positionCost('add', { ...shape, vocabulary: most - 4 }).total).toBe(most);
});
