// Ten thousand calls of every kind, every tenth of them wrong: nothing is kept of any.

import type { Simd, Table } from 'superpose';
import { describe, expect, test } from 'vitest';
import { concatenateApi } from '../../build/package/concatenate.js';
import { decomposeApi } from '../../build/package/decompose.js';
import { dotProductsApi } from '../../build/package/dotProducts.js';
import { loadModule, type Raw } from '../../build/package/module.js';
import { randomApi } from '../../build/package/random.js';
import { safetensorsApi } from '../../build/package/safetensors.js';
import { scoresApi } from '../../build/package/scores.js';
import { sinusoidalApi } from '../../build/package/sinusoidal.js';
import { builds } from './support/builds.ts';
import { inPrecision } from './support/numbers.ts';
import { fileOf } from './support/safetensors.ts';

/** load(), over a module whose own counters can be read. */
const apiOver = (raw: Raw) => ({
  ...sinusoidalApi(raw),
  ...randomApi(raw),
  ...dotProductsApi(raw),
  ...decomposeApi(raw),
  ...concatenateApi(raw),
  ...scoresApi(raw),
  ...safetensorsApi(raw),
});

/** One call of every kind in each precision, and one wrong call of each. */
function callsOver(raw: Raw) {
  const api = apiOver(raw);
  const draw = (rows: number, columns: number): Table<Float64Array> =>
    api.randomNormal({ rows, columns, seed: rows });
  const [token, position] = [draw(9, 16), draw(9, 16)];
  const linear = (columns: number) => ({ weight: draw(8, columns), bias: draw(1, 8).data });
  const normalization = {
    kind: 'layer_norm' as const,
    gamma: draw(1, 16).data,
    beta: draw(1, 16).data,
    epsilon: 1e-12,
  };
  const summed = {
    summands: { token, position },
    normalization,
    query: linear(16),
    key: linear(16),
    heads: 2,
  };
  const joined = { token, position, query: linear(32), key: linear(32), heads: 2 };
  const weight = draw(8, 16);
  const blocks = {
    token,
    position,
    tokenQuery: weight,
    tokenKey: weight,
    positionQuery: weight,
    positionKey: weight,
    heads: 2,
  };
  const file = fileOf({ w: { dtype: 'F32', shape: [4, 2], bytes: new Uint8Array(32) } });
  const [entry] = api.readSafetensorsHeader(file).values();

  const right = (['float32', 'float64'] as const).flatMap((precision) => {
    const scores = api.decompose(inPrecision(summed, precision));
    return [
      () => api.sinusoidal({ positions: 20, d_model: 16, precision }),
      () => api.sinusoidalFrequencies({ d_model: 16 }),
      () => api.randomNormal({ rows: 9, columns: 16, seed: 1, precision }),
      () => api.randomUniform({ rows: 9, columns: 16, seed: 1, precision }),
      () => api.dotProducts(inPrecision({ token, position }, precision)),
      () => api.decompose(inPrecision(summed, precision)),
      () =>
        api.decompose({
          ...inPrecision(summed, precision),
          groups: { all: ['token', 'position', 'constant'] },
        }),
      () => api.concatenateRaw(inPrecision({ token, position }, precision)),
      () => api.concatenateFull(inPrecision(joined, precision)),
      () => api.concatenateBlockDiagonal(inPrecision(blocks, precision)),
      () => api.combineTerms(scores, 1, Array(9).fill(true)),
      () => api.readSafetensorsHeader(file),
      () => api.decodeSafetensors(entry as NonNullable<typeof entry>, file.subarray(entry?.begin), precision),
    ];
  });
  const wrong = [
    () => api.sinusoidal({ positions: -1, d_model: 16 }),
    () => api.randomNormal({ rows: 9, columns: 16, seed: 1.5 }),
    () => api.dotProducts({ token, position: draw(8, 16) }),
    () => api.decompose({ ...summed, heads: 3 }),
    () => api.decompose({ ...summed, only: [2] }),
    () => api.concatenateFull({ ...joined, token: { ...token, data: token.data.map(() => Number.NaN) } }),
    () => api.concatenateBlockDiagonal({ ...blocks, tokenKey: draw(4, 16) }),
    // This one is refused by the module itself.
    () => api.readSafetensorsHeader(file.subarray(0, 40)),
  ];
  return { right, wrong };
}

describe.each(builds)('$simd SIMD', ({ simd }: { simd: Simd }) => {
  test('memory and handles stay as they are after the first rounds', async () => {
    const { raw } = await loadModule({ simd });
    const { right, wrong } = callsOver(raw);
    let failures = 0;
    const run = (calls: number) => {
      for (let i = 0; i < calls; i++) {
        const list = i % 10 === 9 ? wrong : right;
        try {
          list[Math.floor(i / (list === wrong ? 10 : 1)) % list.length]?.();
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          failures++;
        }
      }
    };
    run(500);
    const kept = () => ({ bytes: raw.HEAPU8.byteLength, handles: raw.count_emval_handles() });
    const before = kept();
    expect(before.handles).toBeTypeOf('number');
    run(10_000);
    expect(kept()).toEqual(before);
    expect(failures).toBe(1050);
  });
});
