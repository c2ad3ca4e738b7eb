import { describe, expect, test } from 'vitest';
import { builds, plain } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

const line = tableOf(Array.from({ length: 40 }, (_, i) => [i, 3 - 2 * i]));

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const { positionProbe, orderProbe, tokenProbe } = superpose;

  test('a position is read from a line, in either kind of fold', () => {
    for (const shuffled of [true, false]) {
      const found = positionProbe({ rows: line, shuffled });
      expect(found.meanAbsoluteError).toBe(0);
      found.predicted.forEach((value, i) => {
        expect(value).toBeCloseTo(i, 9);
      });
    }
  });

  test('naming the middle misses by the mean distance from it', () => {
    const rows = superpose.sinusoidal({ positions: 9, d_model: 8 });
    // 4 + 3 + 2 + 1 + 0 + 1 + 2 + 3 + 4
    expect(superpose.positionProbe({ rows, penalty: 1 }).guessingError).toBeCloseTo(20 / 9, 14);
  });

  test('so is the order of two', () => {
    const found = orderProbe({ rows: line, pairs: 200, penalty: 1e-3 });
    expect(found.error).toBe(0);
    expect(found.first.every((a, k) => a !== found.second[k])).toBe(true);
    expect(orderProbe({ rows: line, pairs: 200, penalty: 1e-3 })).toEqual(found);
    expect(orderProbe({ rows: line, pairs: 200, seed: 1 }).first).not.toEqual(found.first);
  });

  test('a small penalty does not give up', () => {
    const rows = superpose.sinusoidal({ positions: 128, d_model: 64 });
    for (const penalty of [0, 1e-20, 1e-13, 1e-12]) {
      expect(positionProbe({ rows, penalty }).meanAbsoluteError).toBe(0);
    }
    const order = orderProbe({ rows, pairs: 256, penalty: 1e-15 });
    expect(order.converged).toBe(true);
    expect(order.error).toBeLessThan(0.15);
    expect(orderProbe({ rows: line, pairs: 60, penalty: 1e-300 }).converged).toBe(false);
    const times = ({ data, rows: count, columns }: typeof rows, factor: number) => ({
      data: data.map((value) => value * factor),
      rows: count,
      columns,
    });
    const token = plain.randomNormal({ rows: 60, columns: 64, seed: 1 });
    const found = tokenProbe({ token: times(token, 1e6), position: times(rows, 1e6) });
    expect(found.rSquared).toBeCloseTo(tokenProbe({ token, position: rows, penalty: 1e-12 }).rSquared, 9);
    expect(found.rSquared).not.toBeCloseTo(0, 2);
  });

  test('a token on coordinates of its own is there in the sum', () => {
    const draw = (stream: number, from: number) => {
      const { data, rows, columns } = plain.randomNormal({ rows: 50, columns: 6, seed: 4, stream });
      return { data: data.map((value, at) => (at % 6 < 3 === (from === 0) ? value : 0)), rows, columns };
    };
    const found = tokenProbe({ token: draw(0, 0), position: draw(1, 3), penalty: 1e-6 });
    expect(found.rSquared).toBeCloseTo(1, 6);
    expect([found.heldOutTokens.length, found.heldOutPositions.length]).toEqual([10, 10]);
  });

  test('bad arguments', () => {
    expect(() => positionProbe({ rows: tableOf([[1]]) })).toThrow(/at least 2 rows; it has 1/);
    expect(() => positionProbe({ rows: line, folds: 41 })).toThrow(/from 2 to 40; it is 41/);
    expect(() => positionProbe({ rows: line, index: [1] })).toThrow(/40 numbers; it is an array of 1/);
    expect(() => orderProbe({ rows: line, penalty: 0 })).toThrow(/penalty must be above 0/);
    expect(() => orderProbe({ rows: line, pairs: 20_000 })).toThrow(/MB fit/);
    expect(() => tokenProbe({ token: line, position: tableOf([[1], [2]]) })).toThrow(/2 columns; it has 1/);
    expect(() => tokenProbe({ token: line, position: line, heldOut: 2 })).toThrow(/from 0 to 1; it is 2/);
  });
});
