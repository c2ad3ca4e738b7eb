import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const { obliqueProjection } = superpose;

  test('two lines at an angle', () => {
    const angle = 0.3;
    const found = obliqueProjection({
      u: tableOf([[3], [0]]),
      w: tableOf([[Math.cos(angle)], [Math.sin(angle)]]),
    });
    expect(found.exact).toBe(true);
    expect(found.smallestAngle).toBeCloseTo(angle, 14);
    expect(found.gain).toBeCloseTo(1 / Math.sin(angle), 13);
    const expected = [1, -1 / Math.tan(angle), 0, 0];
    found.projector?.data.forEach((value, at) => {
      expect(value).toBeCloseTo(expected[at] as number, 13);
    });
  });

  test('what noise grows by, and what recovery misses', () => {
    const angle = 0.3;
    const u = tableOf([[3], [0]]);
    const w = tableOf([[Math.cos(angle)], [Math.sin(angle)]]);
    const noise = tableOf([
      [2, 0],
      [0, 5],
      [0, 0],
    ]);
    const { noiseGains, recoveryError } = obliqueProjection({ u, w, noise });
    expect(noiseGains[0]).toBeCloseTo(1, 14);
    expect(noiseGains[1]).toBeCloseTo(1 / Math.tan(angle), 13);
    expect(noiseGains[2]).toBeNaN();
    expect(recoveryError).toBeLessThan(1e-14);
    expect(obliqueProjection({ u, w }).noiseGains).toHaveLength(0);
    expect(obliqueProjection({ u, w: u, noise }).recoveryError).toBeNaN();
    expect(() => obliqueProjection({ u, w, noise: tableOf([[1]]) })).toThrow(/noise must have 2 columns/);
  });

  test('subspaces that meet', () => {
    const found = obliqueProjection({ u: tableOf([[1], [2]]), w: tableOf([[2], [4]]) });
    expect(found).toMatchObject({ exact: false, projector: undefined, gain: Infinity });
  });
});
