import { load } from 'superpose';
import { expect, test } from 'vitest';

const superpose = await load({ simd: 'plain' });

test('slopes for any number of heads', () => {
  expect([...superpose.alibiSlopes(8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((h) => 2 ** -h));
  expect([...superpose.alibiSlopes(3)]).toEqual([1 / 16, 1 / 256, 1 / 4]);
  expect(() => superpose.alibiSlopes(0)).toThrow(/heads/);
});

test('buckets, keys after the query in the upper half', () => {
  expect([...superpose.t5Buckets({ n: 3 })]).toEqual([0, 17, 18, 1, 0, 17, 2, 1, 0]);
  expect([...superpose.t5Buckets({ n: 3, bidirectional: false })]).toEqual([0, 0, 0, 1, 0, 0, 2, 1, 0]);
  const far = superpose.t5Buckets({ n: 65 });
  expect([15, 16, 63, 64].map((distance) => far[distance * 65])).toEqual([9, 10, 13, 14]);
  expect(() => superpose.t5Buckets({ n: 3, buckets: 3 })).toThrow(/buckets/);
  expect(() => superpose.t5Buckets({ n: 20_000 })).toThrow(/MB/);
});
