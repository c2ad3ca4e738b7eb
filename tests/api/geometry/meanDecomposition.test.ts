import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

// x = t + p: tokens (1, 0), (3, 4) and positions (10, 0), (20, 2).
const input = {
  rows: tableOf([
    [11, 0],
    [13, 4],
    [21, 2],
    [23, 6],
  ]),
  positionOf: [0, 0, 1, 1],
  positions: 2,
  tokenOf: [0, 1, 0, 1],
  tokens: 2,
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const { meanDecomposition } = superpose;

  test('positions and tokens come back, less their means', () => {
    const found = meanDecomposition(input);
    expect([...found.global]).toEqual([17, 3]);
    expect([...found.position]).toEqual([-5, -1, 5, 1]);
    expect([...found.token]).toEqual([-1, -2, 1, 2]);
    expect([...found.residual]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect([found.positionShare, found.tokenShare, found.overlap]).toEqual([
      104 / 124,
      20 / 124,
      expect.closeTo(0, 14),
    ]);
  });

  test('no rows', () => {
    const none = { data: new Float64Array(), rows: 0, columns: 3 };
    const found = meanDecomposition({ rows: none, positionOf: [], positions: 1, tokenOf: [], tokens: 1 });
    expect([...found.global]).toEqual([0, 0, 0]);
    expect(found.residualShare).toBeNaN();
  });

  test.each([
    ['a missing label', { tokenOf: [0, 1] }, /4 numbers; it is an array of 2/],
    ['a label too high', { positionOf: [0, 0, 1, 2] }, /from 0 to 1; it is 2/],
    ['no positions', { positions: 0 }, /positions must be a whole number/],
  ])('%s', (_, change, message) => {
    expect(() => meanDecomposition({ ...input, ...change })).toThrow(message);
  });
});
