// A resident layer gives the same numbers as decompose() in one call, for as long as it exists.
import { type DecomposeInput, load } from 'add-or-concatenate';
import { describe, expect, test, vi } from 'vitest';
import { builds, plain } from '../support/builds.ts';

const [n, d, heads] = [6, 16, 4];
const drawn = (rows: number, stream: number, superpose = plain) =>
  superpose.randomNormal({ rows, columns: d, seed: 5, stream });
const inputs = (superpose = plain) => {
  const linear = (stream: number) => ({
    weight: drawn(d, stream, superpose),
    bias: drawn(1, stream + 1, superpose).data,
  });
  const [gamma, beta] = [drawn(1, 6, superpose).data, drawn(1, 7, superpose).data];
  return {
    layer: {
      normalization: { kind: 'layer_norm', gamma, beta, epsilon: 1e-12 } as const,
      query: linear(2),
      key: linear(4),
      heads,
    },
    summands: { token: drawn(n, 0, superpose), position: drawn(n, 1, superpose) },
  };
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('it gives what one go gives', () => {
    const { layer, summands } = inputs(superpose);
    const resident = superpose.layer(layer);
    const requests = [
      {},
      { only: [2, 0] },
      { only: [3, 2, 1, 0] },
      { gauge: 'raw', excludedRows: [0], groups: { token: ['token', 'constant'], position: ['position'] } },
    ] as Omit<DecomposeInput, keyof typeof layer | 'summands'>[];
    for (const how of requests) {
      const expected = superpose.decompose({ ...layer, summands, ...how });
      expect(resident.decompose({ summands, ...how })).toEqual(expected);
      expect(superpose.decompose({ ...layer, summands, ...how })).toEqual(expected);
    }
    resident.delete();
    expect(resident.isAlive()).toBe(false);
  });
});

test('it is lost with its instance, and says so', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const superpose = await load();
  const { layer, summands } = inputs();
  const resident = superpose.layer(layer);
  const grown = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
    throw new RangeError('There is no more memory.');
  });
  expect(() => superpose.randomUniform({ rows: 4096, columns: 1024, seed: 1 })).toThrow('broke off');
  grown.mockRestore();
  expect(() => resident.decompose({ summands })).toThrow('This layer was lost when its module broke off');
  expect(superpose.decompose({ ...layer, summands }).n).toBe(n);
  vi.restoreAllMocks();
});
