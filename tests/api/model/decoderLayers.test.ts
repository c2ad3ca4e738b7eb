// What decoders have that BERT lacks: means of queries and keys, heads that share keys, and their refusals.
// Scores and terms are tested in drawnModels.test.ts.
import type {
  PositionStatistics,
  ScoreMeans,
  StateMeans,
  TransformerLayer,
  TransformerStack,
  TransformerStackInput,
} from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { gatherMeans } from '../../../build/package/model/corpusMeans.js';
import { internalsOf, type PassInternals } from '../../../build/package/model/forwardPass.js';
import { plain } from '../support/builds.ts';
import { dot, rowsOf } from '../support/numbers.ts';
import { drawn, linear } from './tinyMinilm.ts';

const [d, heads, keyHeads, d_head, inner, n] = [5, 4, 2, 6, 7, 5];
const frequencies = Float64Array.of(1, 0.3);
const rms = (width: number, seed: number) => ({
  kind: 'rms_norm' as const,
  gamma: drawn(1, width, seed).data.map((x) => 1 + x / 2),
  epsilon: 0.01,
});
const input = {
  d_model: d,
  heads,
  keyHeads,
  d_head,
  norm: 'pre',
  activation: 'silu',
  causal: true,
} as const;
const layerOf = (seed: number): TransformerLayer => ({
  query: linear(heads * d_head, d, seed),
  key: linear(keyHeads * d_head, d, seed + 1),
  value: linear(keyHeads * d_head, d, seed + 2),
  output: linear(d, heads * d_head, seed + 3),
  attentionNorm: rms(d, seed + 4),
  gate: linear(inner, d, seed + 5),
  up: linear(inner, d, seed + 6),
  down: linear(d, inner, seed + 7),
  mlpNorm: rms(d, seed + 8),
  queryNorm: rms(d_head, seed + 9),
  keyNorm: rms(d_head, seed + 10),
  rotary: { frequencies },
});
const token = drawn(n, d, 1);

async function withStack<T>(
  change: Partial<TransformerStackInput>,
  layers: readonly TransformerLayer[],
  run: (stack: TransformerStack) => T | Promise<T>,
): Promise<T> {
  const stack = plain.transformerStack({ ...input, ...change } as TransformerStackInput);
  try {
    for (const layer of layers) await stack.addLayer(layer);
    return await run(stack);
  } finally {
    stack.delete();
  }
}
const ofLayers = [layerOf(10), layerOf(40)];
const means = (width: number, seed: number, placed: boolean): StateMeans => ({
  mean: drawn(1, width, seed).data,
  position: placed
    ? drawn(n, width, seed + 1)
    : { data: new Float64Array(n * width), rows: n, columns: width },
});
const scoreMeans = (placed: boolean) => ({
  query: means(heads * d_head, 70, placed),
  key: means(keyHeads * d_head, 72, placed),
});

test('means of queries and keys are gathered before they are rotated, and the first position may be left out', async () => {
  const scores = { layers: 1, query: heads * d_head, key: keyHeads * d_head };
  let means: ReturnType<typeof gatherMeans> | undefined;
  // Without norms and rotation, a query is W_Q x + b, so its mean is W_Q times the mean of x, plus b.
  const { rotary: _, queryNorm: __, keyNorm: ___, attentionNorm: ____, ...layer } = layerOf(10);
  await withStack({}, [{ ...layer, rotary: { frequencies } }], async (stack) => {
    for (let window = 0; window < 4; window++) {
      const forward = await stack.forward(
        { token: drawn(n, d, 90 + window) },
        { scores: false, projections: true },
      );
      const pass = internalsOf.get(forward) as PassInternals;
      means ??= gatherMeans(pass, { positions: 3, first: 2 }, { layers: 1, scores });
      means.add(pass);
    }
    const all = means as unknown as ReturnType<typeof gatherMeans>;
    const [ofState] = all.states() as [PositionStatistics];
    const [{ query, key }] = all.scores(true) as [ScoreMeans];
    expect([query.first, key.position.columns]).toEqual([2, keyHeads * d_head]);
    for (const [means, { weight, bias }] of [
      [query, layer.query],
      [key, layer.key],
    ] as const) {
      for (const [channel, row] of rowsOf(weight).entries()) {
        const expected = dot(row, ofState.mean) + ((bias as Float64Array)[channel] as number);
        expect(means.mean[channel]).toBeCloseTo(expected, 6);
        for (const [place, x] of rowsOf(ofState.position).entries())
          expect(means.position.data[place * weight.rows + channel]).toBeCloseTo(dot(row, x), 6);
      }
    }
    // In the first layer of a model that adds no positions, all positions are the same by definition.
    const [bare] = all.scores(false) as [ScoreMeans];
    expect(bare.query.mean).toEqual(query.mean);
    expect(bare.key.position).toEqual({ ...key.position, data: new Float64Array(3 * keyHeads * d_head) });
    all.delete();
  });
});

test('options that do not fit a transformer stack are refused', () => {
  const refused = (change: Partial<TransformerStackInput> | Record<string, unknown>, sentence: string) =>
    expect(() => plain.transformerStack({ ...input, ...change } as TransformerStackInput)).toThrow(sentence);
  refused({ keyHeads: 3 }, 'keyHeads must divide the 4 heads; 3 does not.');
  refused({ keyHeads: 0 }, 'keyHeads must be a whole number from 1');
  refused({ d_head: 1.5 }, 'd_head must be a whole number; it is 1.5.');
  refused({ d_head: undefined }, 'heads must divide the 5 channels of d_model; 4 does not.');
});

test('weights that do not fit a layer are refused', async () => {
  await withStack({}, [], async (stack) => {
    const refused = async (change: Partial<TransformerLayer> | Record<string, unknown>, sentence: string) =>
      await expect(stack.addLayer({ ...layerOf(10), ...change } as TransformerLayer)).rejects.toThrow(
        sentence,
      );
    await refused({ query: linear(d, d, 1) }, 'query.weight needs 24 rows; got 5.');
    await refused({ key: linear(heads * d_head, d, 1) }, 'key.weight needs 12 rows; got 24.');
    await refused({ value: linear(heads * d_head, d, 1) }, 'value.weight needs 12 rows; got 24.');
    await refused({ output: linear(d, d, 1) }, 'output.weight needs 24 columns; got 5.');
    await refused({ gate: linear(inner + 1, d, 1) }, 'gate.weight needs 7 rows; got 8.');
    await refused({ queryNorm: rms(d, 1) }, 'queryNorm.gamma needs 6 values; got 5.');
    await refused(
      { keyNorm: { kind: 'batch_norm', epsilon: 1 } },
      "keyNorm.kind must be 'layer_norm' or 'rms_norm'",
    );
    await refused(
      { rotary: { frequencies: [1] } },
      'rotary.frequencies must be a Float32Array or a Float64Array',
    );
    await refused(
      { rotary: { frequencies: new Float64Array(4) } },
      'rotary.frequencies needs from 1 to 3 values, one for each pair of a head’s 6 channels; got 4.',
    );
    await refused(
      { rotary: { frequencies: Float64Array.of(Number.NaN) } },
      'rotary.frequencies must be finite',
    );
    expect(stack.layers).toBe(0);
  });
});

test('options that do not fit the way by mechanism are refused', async () => {
  await withStack({}, ofLayers, async (stack) => {
    const forward = await stack.forward({ token });
    const valid = scoreMeans(true);
    const refused = (change: object, sentence: string) =>
      expect(() => forward.decompose({ layer: 0, way: 'mechanism', means: valid, ...change })).toThrow(
        sentence,
      );
    const gaugeSentence = "The way 'mechanism' takes its gauge and excluded rows from its means";
    refused({ gauge: 'raw' }, gaugeSentence);
    refused({ excludedRows: [0] }, gaugeSentence);
    refused({ means: undefined }, 'means must be an object');
    refused({ means: means(d, 1, true) }, 'Unknown option `means.mean`. Options: query, key.');
    refused({ means: { ...valid, key: valid.query } }, 'means.key.mean needs 12 values; got 24.');
    refused(
      { means: { ...valid, key: { ...valid.key, first: 0 } } },
      'means.key.first must be 1, as means.query.first is; it is 0.',
    );
    refused({ groups: { all: ['content'] } }, 'the parts are token, position, constant, offset');
  });
});

test('wide MLPs with a gate and wide heads are counted before anything is allocated', async () => {
  const wide = { d_model: 1, heads: 1 } as const;
  const ones = (rows: number, columns: number) => ({
    weight: { data: new Float32Array(rows * columns), rows, columns },
  });
  const stack = plain.transformerStack(wide);
  const square = ones(1, 1);
  const many = 2 ** 18;
  const mlp = { up: ones(many, 1), gate: ones(many, 1), down: ones(1, many) };
  await stack.addLayer({ query: square, key: square, value: square, output: square, ...mlp });
  const rows = { data: new Float32Array(600), rows: 600, columns: 1 };
  await expect(stack.forward({ rows })).rejects.toThrow(
    'A forward of 600 tokens through 1 layer would take 1,2',
  );
  stack.delete();
  const heads = plain.transformerStack({ ...wide, d_head: many });
  const across = ones(many, 1);
  await heads.addLayer({
    query: across,
    key: across,
    value: across,
    output: ones(1, many),
    up: square,
    down: square,
  });
  await expect(heads.forward({ rows })).rejects.toThrow('A forward of 600 tokens through 1 layer would take');
  heads.delete();
});
