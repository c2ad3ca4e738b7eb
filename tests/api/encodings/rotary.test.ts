import { load } from 'superpose';
import { describe, expect, test } from 'vitest';

const superpose = await load({ simd: 'plain' });

test('turns each pair by its position', () => {
  const rows = { data: Float64Array.of(1, 0, 0, 1, 1, 0, 0, 1), rows: 2, columns: 4 };
  const { data } = superpose.rotate({ rows, firstPosition: 2 });
  expect(data[0]).toBeCloseTo(Math.cos(2), 15);
  expect(data[1]).toBeCloseTo(Math.sin(2), 15);
  expect(data[6]).toBeCloseTo(-Math.sin(0.03), 15);
  expect(data[7]).toBeCloseTo(Math.cos(0.03), 15);
});

describe('beyond the trained length', () => {
  const usual = { d_head: 16, base: 10_000 };
  const frequencies = (stretch?: object) => [
    ...superpose.rotaryFrequencies({ ...usual, ...(stretch ? { stretch } : {}) } as never),
  ];

  test('two ways, by their formulas', () => {
    const theta = Array.from({ length: 8 }, (_, i) => 10_000 ** (-i / 8));
    const near = (expected: number[]) => expected.map((value) => expect.closeTo(value, 14));
    expect(frequencies()).toEqual(near(theta));
    expect(frequencies({ way: 'interpolate', factor: 4 })).toEqual(near(theta.map((w) => w / 4)));
    const parts = theta.map((w) => {
      const stays = Math.min(1, Math.max(0, ((16 * w) / (2 * Math.PI) - 0.1) / 0.9));
      return w * (stays + (1 - stays) / 4);
    });
    const ramp = { factor: 4, trained: 16, alpha: 0.1, beta: 1 };
    expect(frequencies({ way: 'parts', ...ramp })).toEqual(near(parts));
  });

  test('at factor 1 nothing changes', () => {
    for (const way of ['interpolate', 'parts'])
      for (const [i, value] of frequencies({ way, factor: 1, trained: 16 }).entries())
        expect(value).toBeCloseTo(frequencies()[i] as number, 15);
  });
});
