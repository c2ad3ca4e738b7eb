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
