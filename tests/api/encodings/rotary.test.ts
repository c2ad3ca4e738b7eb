import { load } from 'superpose';
import { expect, test } from 'vitest';

const superpose = await load({ simd: 'plain' });

test('turns each pair by its position', () => {
  const rows = { data: Float64Array.of(1, 0, 0, 1, 1, 0, 0, 1), rows: 2, columns: 4 };
  const { data } = superpose.rotate({ rows, firstPosition: 2 });
  expect(data[0]).toBeCloseTo(Math.cos(2), 15);
  expect(data[1]).toBeCloseTo(Math.sin(2), 15);
  expect(data[6]).toBeCloseTo(-Math.sin(0.03), 15);
  expect(data[7]).toBeCloseTo(Math.cos(0.03), 15);
});

test('one permutation between the conventions', () => {
  const order = superpose.rotaryPermutation(6);
  expect([...order]).toEqual([0, 2, 4, 1, 3, 5]);
  const rows = superpose.randomNormal({ rows: 4, columns: 6, seed: 1 });
  const permuted = (data: Float64Array) =>
    Float64Array.from(data, (_, k) => data[k - (k % 6) + (order[k % 6] as number)] as number);
  const interleaved = superpose.rotate({ rows });
  const halves = superpose.rotate({ rows: { ...rows, data: permuted(rows.data) }, layout: 'concatenated' });
  expect(halves.data).toEqual(permuted(interleaved.data));
});

test('refuses what cannot be turned', () => {
  const rows = superpose.randomNormal({ rows: 2, columns: 6, seed: 0 });
  expect(() => superpose.rotate({ rows, heads: 4 })).toThrow(/heads must divide the 6 columns/);
  expect(() => superpose.rotate({ rows, heads: 2 })).toThrow(/must be even.*3/);
  expect(() => superpose.rotate({ rows, base: 0 })).toThrow(/base must be above 0/);
  expect(() => superpose.rotaryPermutation(3)).toThrow(/d_head must be even/);
});
