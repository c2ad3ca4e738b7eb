import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const of = (...rows: number[][]) => Array.from(superpose.softmax(tableOf(rows)).data);

  test('the odds of two keys are the exponential of the difference of their logits', () => {
    const [a, b, c] = of([Math.log(2), Math.log(3), 0]) as [number, number, number];
    expect(a).toBeCloseTo(2 / 6, 15);
    expect(b).toBeCloseTo(3 / 6, 15);
    expect(c).toBeCloseTo(1 / 6, 15);
  });

  test('a cap bends logits below itself: tanh(ln(3) / 2) is a half', () => {
    const logits = [0, 3.5 * Math.log(3), -3.5 * Math.log(3), 1e300];
    const found = superpose.softCap(tableOf([logits.slice(0, 2), logits.slice(2)]), 7);
    expect(found).toMatchObject({ rows: 2, columns: 2 });
    expect(Array.from(found.data)).toEqual([0, 3.5, -3.5, 7].map((value) => expect.closeTo(value, 14)));
    expect(() => superpose.softCap(tableOf([logits]), 0)).toThrow('cap must be above 0; it is 0.');
  });

  test('rows are apart, more of them than columns too', () => {
    expect(of([0, 0], [5, 5], [-1, -1])).toEqual(Array(6).fill(0.5));
    expect(of([7], [-7])).toEqual([1, 1]);
  });

  test('logits whose exponentials are beyond every number', () => {
    expect(of([1e6, 1e6 - Math.log(3), -1e6])).toEqual(
      [0.75, 0.25, 0].map((weight) => expect.closeTo(weight, 9)),
    );
  });
});
