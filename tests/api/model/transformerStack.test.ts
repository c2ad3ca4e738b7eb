// Transformer stacks of one or two small layers: formulas, refusals and memory.
import type {
  ForwardInput,
  ForwardPass,
  PositionStatistics,
  Table,
  TransformerLayer,
  TransformerStack,
  TransformerStackInput,
} from 'add-or-concatenate';
import { beforeEach, describe, expect, test } from 'vitest';
import { gatherMeans } from '../../../build/package/model/corpusMeans.js';
import { internalsOf, type PassInternals } from '../../../build/package/model/forwardPass.js';
import { plain } from '../support/builds.ts';
import { inPrecision, largestDifference, mean, rowsOf } from '../support/numbers.ts';
import { drawn, drawnLayer, layerNorm, linear, residentBytes } from './tinyMinilm.ts';

const [d, heads, inner, n] = [4, 2, 6, 3];
const layers = [drawnLayer(d, inner, 10), drawnLayer(d, inner, 30)];
const [layer] = layers as [TransformerLayer];
const summands = { token: drawn(n, d, 1), position: drawn(n, d, 2) };
const input = { d_model: d, heads } as const;
const zeros = (rows: number, columns: number) => ({ data: new Float64Array(rows * columns), rows, columns });

/** Calls `run` with a transformer stack of `count` layers, and deletes the stack. */
async function withStack<T>(
  change: Partial<TransformerStackInput>,
  run: (stack: TransformerStack) => T | Promise<T>,
  count = 1,
): Promise<T> {
  const stack = plain.transformerStack({ ...input, ...change });
  try {
    for (const layer of layers.slice(0, count)) await stack.addLayer(layer);
    return await run(stack);
  } finally {
    stack.delete();
  }
}

const forwarded = <T>(forwardInput: ForwardInput, run: (forward: ForwardPass) => T | Promise<T>, count = 1) =>
  withStack({}, async (stack) => run(await stack.forward(summands, forwardInput)), count);

const outcomeOf = async (run: () => unknown) => {
  try {
    await run();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return 'It did not fail.';
};

// drawnModels.test.ts compares states, logits, weights and embeddings with numpy.
describe('a forward', () => {
  test('defaults are post, gelu, every key, all layers, all tokens and scores; either kind of array gives the same', async () => {
    const single = plain.transformerStack({ d_model: d, heads });
    await single.addLayer(inPrecision(layer, 'float32'));
    const result = (await single.forward(inPrecision(summands, 'float32'))).state(1).data;
    const named = { norm: 'post', activation: 'gelu', causal: false } as const;
    const stateIn = (change: object, forwardInput: ForwardInput = {}) =>
      withStack(change, async (stack) => (await stack.forward(summands, forwardInput)).state(1).data);
    const expected = await stateIn(named, { layers: 1 });
    expect(result).toEqual(expected);
    // The stack computes in float32.
    expect(result).toEqual(result.map(Math.fround));
    const all = { layers: 1, scores: true, attention: {} };
    expect(await forwarded(all, (forward) => forward.state(1).data)).toEqual(expected);
    single.delete();
    const tanh = await stateIn({ activation: 'gelu_tanh' });
    expect(largestDifference(tanh, expected)).toBeGreaterThan(1e-7);
  });

  test('a LayerNorm loses no digits to an offset of all channels', async () => {
    const token = { ...summands.token, data: summands.token.data.map((x) => Math.fround(100 + x / 10)) };
    const run = async (stack: TransformerStack) => (await stack.forward({ token })).logits(0);
    const result = await withStack({ norm: 'pre' }, run);
    const { query, key, attentionNorm } = layer;
    const expected = plain.decompose({
      summands: { token },
      query,
      key,
      heads,
      gauge: 'raw',
      normalization: attentionNorm as NonNullable<typeof attentionNorm>,
    }).logits;
    expect(largestDifference(result, expected)).toBeLessThan(2e-6 * Math.max(...expected.map(Math.abs)));
  });

  test('attention weights in the input replace the softmax, and such a pass has no terms', async () => {
    const drawnWeights = drawn(heads * n, n, 64);
    const rows = rowsOf(drawnWeights).map((row) => row.map(Math.abs));
    const weights = Float64Array.from(rows.flatMap((row) => [...row]));
    const attention = { 1: weights };
    const unchanged = await forwarded(
      {},
      (forward) => [forward.state(1).data, forward.state(2).data, forward.logits(1)],
      2,
    );
    await forwarded(
      { attention },
      async (forward) => {
        expect([forward.state(1).data, forward.logits(1)]).toEqual([unchanged[0], unchanged[2]]);
        expect(forward.attention(1)).toEqual(weights);
        expect(largestDifference(forward.state(2).data, unchanged[1] as Float64Array)).toBeGreaterThan(1e-3);
        expect(await outcomeOf(() => forward.decompose({ layer: 1 }))).toBe(
          'Error: The scores of a forward pass with attention weights are not those of its summands. Run it without attention.',
        );
      },
      2,
    );
  });

  test('layers may be left out at the end', async () => {
    const run = (forwardInput: ForwardInput) =>
      forwarded(forwardInput, (oneLayer) => [oneLayer.layers, oneLayer.state(1).data], 2);
    const [oneLayer, twoLayers] = [await run({ layers: 1 }), await run({})];
    expect([oneLayer?.[0], twoLayers?.[0]]).toEqual([1, 2]);
    expect(oneLayer?.[1]).toEqual(twoLayers?.[1]);
    await forwarded({ layers: 0 }, async (forward) => {
      expect(forward.state(0).data).toEqual(
        summands.token.data.map((x, at) => Math.fround(x + (summands.position.data[at] as number))),
      );
      expect(await outcomeOf(() => forward.logits(0))).toBe(
        'RangeError: layer is 0, but there is none to name: 0 are given.',
      );
    });
  });
});

test('means of states are those of the rows after the first', async () => {
  const stack = plain.transformerStack({ d_model: d, heads });
  await stack.addLayer(layer);
  let means: ReturnType<typeof gatherMeans> | undefined;
  const rows: Float64Array[] = [];
  for (let window = 0; window < 4; window++) {
    // The pass has one row more than the means count.
    const forward = await stack.forward({ x: drawn(4, d, 40 + window) });
    const pass = internalsOf.get(forward) as PassInternals;
    means ??= gatherMeans(pass, { positions: 2, first: 1 }, { layers: 1 });
    means.add(pass);
    rows.push(Float64Array.from(forward.state(1).data));
  }
  const all = means as unknown as ReturnType<typeof gatherMeans>;
  const { mean: middle, position } = all.states()[1] as PositionStatistics;
  const at = (row: number, c: number) => mean(rows.map((state) => state[row * d + c] as number));
  for (let c = 0; c < d; c++) {
    const rowMeans = [at(1, c), at(2, c)];
    expect(middle[c]).toBeCloseTo(mean(rowMeans), 6);
    for (const row of [0, 1])
      expect(position.data[row * d + c]).toBeCloseTo((rowMeans[row] as number) - mean(rowMeans), 6);
  }
  expect([position.rows, position.columns]).toEqual([2, d]);
  all.delete();
  stack.delete();
});

describe('refusals of a transformer stack', () => {
  const outcomeOfInput = (change: object) =>
    outcomeOf(() => plain.transformerStack({ ...input, ...change } as never).delete());
  const beyond = (name: string) =>
    `RangeError: an entry of ${name} must be at most 3.4e38 in float32; it is 1e+39.`;
  const large = (count: number) => new Float64Array(count).fill(1e39, 1);
  const single = { ...layerNorm(d, 1), gamma: large(d), beta: undefined };
  const bias = { ...layerNorm(d, 1), gamma: undefined, beta: large(d) };

  test.each<[object, string]>([
    [{ d_model: 0 }, 'RangeError: d_model must be a whole number from 1 to 4194304; it is 0.'],
    [{ heads: 3 }, 'RangeError: heads must divide the 4 channels of d_model; 3 does not.'],
    [{ norm: 'none' }, `RangeError: norm must be 'post' or 'pre'; it is "none".`],
    [
      { activation: 'swish' },
      `RangeError: activation must be 'gelu' or 'gelu_tanh' or 'relu' or 'silu'; it is "swish".`,
    ],
    [{ causal: 1 }, 'TypeError: causal must be true or false; it is 1.'],
    [{ embeddingNorm: single }, beyond('embeddingNorm.gamma')],
    [{ embeddingNorm: bias }, beyond('embeddingNorm.beta')],
    [{ finalNorm: single }, beyond('finalNorm.gamma')],
    [{ finalNorm: 5 }, 'TypeError: finalNorm must be an object; it is 5.'],
  ])('%j', async (change, sentence) => {
    expect(await outcomeOfInput(change)).toBe(sentence);
  });

  test('no options at all', async () => {
    expect(await outcomeOf(() => plain.transformerStack(null as never))).toBe(
      'TypeError: input must be an object; it is null.',
    );
  });

  const weight = { ...zeros(d, d), data: large(d * d) };
  const shapes = (name: string) => [
    [{ [name]: linear(3, d, 1) }, `RangeError: ${name}.weight needs 4 rows; got 3.`],
    [{ [name]: linear(d, 3, 1) }, `RangeError: ${name}.weight needs 4 columns; got 3.`],
  ];
  const norms = (name: string) => [
    [{ [name]: null }, `TypeError: ${name} must be an object; it is null.`],
    [{ [name]: single }, beyond(`${name}.gamma`)],
    [{ [name]: layerNorm(3, 1) }, `RangeError: ${name}.gamma needs 4 values; got 3.`],
  ];
  const ofLayers = [
    ...['query', 'key', 'value', 'output'].flatMap(shapes),
    ...['attentionNorm', 'mlpNorm'].flatMap(norms),
    ...['queryNorm', 'keyNorm'].map((name) => [
      { [name]: layerNorm(3, 1) },
      `RangeError: ${name}.gamma needs 2 values; got 3.`,
    ]),
    [{ up: linear(inner, 3, 1) }, 'RangeError: up.weight needs 4 columns; got 3.'],
    [{ down: linear(3, inner, 1) }, 'RangeError: down.weight needs 4 rows; got 3.'],
    [{ down: linear(d, inner + 1, 1) }, 'RangeError: down.weight needs 6 columns; got 7.'],
    [{ up: undefined }, 'TypeError: up must be an object; it is undefined.'],
    [{ up: {} }, 'TypeError: up.weight must be an object; it is undefined.'],
    [{ value: { weight } }, beyond('value.weight.data')],
    [{ value: { ...layer.value, bias: large(d) } }, beyond('value.bias')],
  ] as [change: object, sentence: string][];

  const blocksOf = (...blocks: [Table, number][]) => ({
    rows: d,
    columns: d,
    read: async (visit: (block: Table, from: number) => void) => {
      for (const [block, from] of blocks) visit(block, from);
    },
  });
  const half = zeros(d / 2, d);
  const read = { weight: blocksOf([half, 0], [half, d / 2]), place: 0, of: 1, transposed: false };
  const sized = (rows: number, columns: number) => ({ weight: { ...read.weight, rows, columns } });
  const wholeNumber = 'must be a whole number';
  // Changes to a W_Q that is read, and the errors that they cause.
  const ofReadMaps: [change: object, sentence: string][] = [
    [sized(3, d), 'RangeError: query.weight needs 4 rows; got 3.'],
    [sized(d, 5), 'RangeError: query.weight needs 4 columns; got 5.'],
    [sized(d, 0.5), `RangeError: query.weight.columns ${wholeNumber}; it is 0.5.`],
    [{ of: 0 }, `RangeError: query.of ${wholeNumber} from 1 to 4194304; it is 0.`],
    [{ place: 1 }, `RangeError: query.place ${wholeNumber} from 0 to 0; it is 1.`],
    [{ transposed: 1 }, 'TypeError: query.transposed must be true or false; it is 1.'],
    [{ bias: new Float64Array(3) }, 'RangeError: query.bias needs 4 values; got 3.'],
    [
      { weight: blocksOf([zeros(d, 3), 0]) },
      'RangeError: A block of query.weight.read needs 4 columns; got 3.',
    ],
    [{ weight: blocksOf([half, 0]) }, 'RangeError: query.weight.read needs all 4 rows of its tensor; got 2.'],
    ...(
      [
        [half, 1],
        [half, -1],
        [zeros(d + 1, d), 0],
      ] as [Table, number][]
    ).map(([block, from]): [object, string] => [
      { weight: blocksOf([block, from]) },
      `RangeError: query.weight.read must continue with row 0 of 4; it gives ${block.rows} rows from row ${from} on.`,
    ]),
  ];
  const changedLayers: [layer: unknown, sentence: string][] = [
    [2, 'TypeError: layer must be an object; it is 2.'],
    ...ofLayers.map(([change, sentence]): [object, string] => [{ ...layer, ...change }, sentence]),
    ...ofReadMaps.map(([change, sentence]): [object, string] => [
      { ...layer, query: { ...read, ...change } },
      sentence,
    ]),
    [
      { ...layer, query: read, key: { ...read, of: 2 } },
      'RangeError: key is read from a tensor of 8 by 4, and another map from the same one of 4 by 4.',
    ],
  ];

  test('layers of other shapes or of numbers beyond float32, and maps that are read in part', async () => {
    await withStack(
      {},
      async (stack) => {
        for (const [changed, sentence] of changedLayers)
          expect(await outcomeOf(() => stack.addLayer(changed as never))).toBe(sentence);
        expect(stack.layers).toBe(0);
        for (const sound of [layer, { ...layer, query: read }])
          expect(await outcomeOf(() => stack.addLayer(sound as never))).toBe('It did not fail.');
        expect(stack.layers).toBe(2);
      },
      0,
    );
  });

  const weights = (count: number) => new Float64Array(count);
  test.each<[summands: unknown, input: unknown, sentence: string]>([
    [3, {}, 'TypeError: summands must be an object; it is 3.'],
    ...['attention', 'mlp'].map((name): [object, object, string] => [
      { ...summands, [name]: summands.token },
      {},
      `RangeError: No summand may be named '${name}': that is a part of its own.`,
    ]),
    [{ token: zeros(n, 3) }, {}, 'RangeError: summands.token needs 4 columns; got 3.'],
    [{ token: { ...zeros(n, d), data: large(n * d) } }, {}, beyond('summands.token.data')],
    [{ token: zeros(0, d) }, {}, 'RangeError: summands needs at least 1 row; got 0.'],
    [{ token: zeros(1, d) }, {}, 'It did not fail.'],
    [summands, 4, 'TypeError: input must be an object; it is 4.'],
    [summands, { layers: 2 }, `RangeError: layers ${wholeNumber} from 0 to 1; it is 2.`],
    [summands, { scores: 1 }, 'TypeError: scores must be true or false; it is 1.'],
    [summands, { signal: 5 }, 'TypeError: signal must be an AbortSignal; it is 5.'],
    [summands, { attention: 5 }, 'TypeError: attention must be an object; it is 5.'],
    [
      summands,
      { attention: { 1: weights(heads * n * n) } },
      `RangeError: a layer of attention ${wholeNumber} from 0 to 0; it is 1.`,
    ],
    [
      summands,
      { attention: { 0: weights(2) } },
      `RangeError: attention.0 needs ${heads * n * n} values; got 2.`,
    ],
    [summands, { attention: { 0: large(heads * n * n) } }, beyond('attention.0')],
  ])('a forward of %j with %j', async (rows, forwardInput, sentence) => {
    await withStack({}, async (stack) => {
      expect(await outcomeOf(() => stack.forward(rows as never, forwardInput as never))).toBe(sentence);
    });
  });

  const means = { mean: weights(d), position: zeros(n - 1, d) };
  const byMeans = (change: object, more: object = {}) => ({
    layer: 0,
    way: 'mean',
    means: { ...means, ...change },
    ...more,
  });
  test.each<[question: unknown, sentence: string]>([
    [1, 'TypeError: input must be an object; it is 1.'],
    [{ layer: 1 }, `RangeError: layer ${wholeNumber} from 0 to 0; it is 1.`],
    [
      { layer: 0, way: 'other' },
      `RangeError: way must be 'direct' or 'streams' or 'mean' or 'mechanism'; it is "other".`,
    ],
    [{ layer: 0, way: 'mean' }, 'TypeError: means must be an object; it is undefined.'],
    [byMeans({}), 'It did not fail.'],
    [byMeans({ mean: weights(3) }), 'RangeError: means.mean needs 4 values; got 3.'],
    [byMeans({ mean: large(d) }), beyond('means.mean')],
    [byMeans({ position: zeros(2, 3) }), 'RangeError: means.position needs 4 columns; got 3.'],
    [byMeans({ position: { ...zeros(2, d), data: large(2 * d) } }), beyond('means.position.data')],
    [byMeans({ position: zeros(1, d) }), 'RangeError: means.position needs at least 2 rows; got 1.'],
    [byMeans({}, { gauge: 'canonical' }), 'It did not fail.'],
  ])('a decomposition of %j', async (question, sentence) => {
    await forwarded({}, async (forward) => {
      expect(await outcomeOf(() => forward.decompose(question as never))).toBe(sentence);
    });
  });

  test('states and scores that a forward does not have', async () => {
    await forwarded({}, async (forward) => {
      expect(await outcomeOf(() => forward.state(2))).toBe(
        `RangeError: layers ${wholeNumber} from 0 to 1; it is 2.`,
      );
      expect(await outcomeOf(() => forward.logits(1))).toBe(
        `RangeError: layer ${wholeNumber} from 0 to 0; it is 1.`,
      );
      expect(await outcomeOf(() => forward.attention(0, [2]))).toBe(
        `RangeError: an entry of only ${wholeNumber} from 0 to 1; it is 2.`,
      );
    });
    await forwarded({ scores: false }, async (forward) => {
      const sentence = 'Error: This forward pass kept no scores. Run it with scores: true.';
      expect(forward.state(1).rows).toBe(n);
      for (const ask of [
        () => forward.logits(0),
        () => forward.attention(0),
        () => forward.decompose({ layer: 0 }),
      ])
        expect(await outcomeOf(ask)).toBe(sentence);
    });
  });

  test('a forward pass ends with the next one, and with its stack', async () => {
    await withStack({}, async (stack) => {
      const first = await stack.forward(summands);
      const second = await stack.forward(summands);
      const ended =
        'Error: The transformer stack has run again since this forward pass. Read what you need from a pass before the next one.';
      for (const ask of [() => first.state(0), () => first.logits(0), () => first.decompose({ layer: 0 })])
        expect(await outcomeOf(ask)).toBe(ended);
      expect(second.state(0).rows).toBe(n);
      stack.delete();
      const gone = 'Error: This transformer stack has been deleted; make another one.';
      expect(stack.isAlive()).toBe(false);
      for (const ask of [() => second.state(0), () => stack.forward(summands), () => stack.addLayer(layer)])
        expect(await outcomeOf(ask)).toBe(gone);
    });
  });

  test('a running pass ends with the next one and with its signal, and no layer is added meanwhile', async () => {
    // Large enough for more than one step of multiplications.
    const [wide, inner] = [64, 2 ** 16];
    const stack = plain.transformerStack({ d_model: wide, heads: 1 });
    await stack.addLayer(drawnLayer(wide, inner, 3));
    const run = (signal?: AbortSignal) => stack.forward({ x: drawn(96, wide, 1) }, { signal });
    const before = residentBytes();
    const { embedding } = await run();
    const residentBefore = residentBytes();
    const overtaken = outcomeOf(() => run());
    expect(await outcomeOf(() => stack.addLayer(drawnLayer(wide, 1, 4)))).toBe(
      'Error: A forward pass of this transformer stack is running. Add layers when it has ended.',
    );
    expect((await run()).embedding).toEqual(embedding);
    expect(await overtaken).toContain('Error: The transformer stack has run again since');
    expect(residentBytes()).toBe(residentBefore);
    const stop = new AbortController();
    const stopped = run(stop.signal);
    stop.abort(new Error('enough'));
    expect(await outcomeOf(() => stopped)).toBe('Error: enough');
    expect(residentBytes()).toBe(before);
    expect((await run()).embedding).toEqual(embedding);
    stack.delete();
  });

  test('parts are summands, attention, mlp and constant; by means, position, content and constant', async () => {
    await forwarded({}, async (forward) => {
      const parts = ['token', 'position', 'attention', 'mlp', 'constant'];
      const scores = forward.decompose({ layer: 0 });
      expect(scores.parts).toEqual(parts);
      expect([scores.n, scores.heads]).toEqual([n, [0, 1]]);
      expect([scores.gauge, scores.excludedRows]).toEqual(['canonical', []]);
      const named = { layer: 0, way: 'direct', gauge: 'canonical', excludedRows: [] } as const;
      expect(forward.decompose(named)).toEqual(scores);
      const means = { mean: new Float64Array(d), position: zeros(n - 1, d) };
      expect(forward.decompose({ layer: 0, way: 'mean', means }).parts).toEqual([
        'position',
        'content',
        'constant',
      ]);
      const grouped = forward.decompose({
        layer: 0,
        only: [1],
        groups: { all: ['token', 'position', 'attention', 'mlp', 'constant'] },
      });
      expect([grouped.parts, grouped.heads]).toEqual([['all'], [1]]);
      expect(largestDifference(grouped.terms, forward.logits(0, [1]))).toBeLessThan(1e-7);
    });
  });
});

describe('memory', () => {
  let before = 0;
  beforeEach(() => {
    before = residentBytes();
  });
  const expectHeld = (bytes: number) => expect(residentBytes() - before).toBe(bytes);

  test('a transformer stack holds its layers and its last pass until it is deleted', async () => {
    const count = 64;
    const stack = plain.transformerStack(input);
    await stack.addLayer(layer);
    const weights = 4 * d * (4 * d + 2 * inner);
    expectHeld(weights);
    const rows: Table<Float64Array> = drawn(count, d, 2);
    await stack.forward({ a: rows, b: rows });
    // A traced pass keeps queries and keys, four tables of the layer, and the parts that the layer reads.
    const traced = count * (2 * d + 4 * d + 5 * d);
    const working = count * (10 * d + 2 * count) + 2 * count * d;
    expectHeld(weights + 4 * (traced + working));
    await stack.forward({ a: rows, b: rows }, { scores: false });
    expectHeld(weights + 4 * (count * d + working));
    stack.delete();
    stack.delete();
    expectHeld(0);
  });

  test('a refused pass leaves the pass before it, and its memory', async () => {
    const stack = plain.transformerStack({ ...input, d_model: 1, heads: 1 });
    const forward = await stack.forward({ x: zeros(64, 1) });
    const residentBefore = 4 * (64 * (5 + 5 + 2 * 64) + 64);
    expectHeld(residentBefore);
    expect(await outcomeOf(() => stack.forward({ x: zeros(11600, 1) }))).toContain('would take 1,028 MB');
    expectHeld(residentBefore);
    expect(forward.state(0).rows).toBe(64);
    stack.delete();
    expectHeld(0);
  });

  test.runIf(Symbol.dispose)('nothing after `using`', async () => {
    const stack = plain.transformerStack(input);
    await stack.addLayer(layer);
    stack[Symbol.dispose]();
    expect(stack.isAlive()).toBe(false);
    expectHeld(0);
  });

  test('means hold what they gather', async () => {
    const stack = plain.transformerStack({ ...input, d_model: 7, heads: 1 });
    const pass = internalsOf.get(await stack.forward({ x: drawn(1, 7, 1) }, { layers: 0 })) as PassInternals;
    stack.delete();
    expectHeld(0);
    const means = gatherMeans(
      pass,
      { positions: 5, first: 0 },
      { layers: 2, scores: { layers: 2, query: 4, key: 3 } },
    );
    // The sums at each position, separately for even and odd windows; for states also a covariance and two
    // rows.
    expectHeld(3 * (2 * 5 + 7 + 2) * 7 * 8 + 2 * 2 * 5 * (4 + 3) * 8);
    means.delete();
    expectHeld(0);
    expect(() => gatherMeans({ ...pass, d: 2 ** 14 }, { positions: 2, first: 1 }, { layers: 0 })).toThrow(
      'Means of 1 states of 2 positions would take 2,049 MB; at most 1,024 MB fit.',
    );
    expect(() => gatherMeans(pass, { positions: 1, first: 1 }, { layers: 0 })).toThrow('positions must be');
  });

  test('a forward, scores and a layer that do not fit are refused with their size', async () => {
    const fit = 'at most 1,024 MB fit.';
    const thin = plain.transformerStack({ ...input, d_model: 1, heads: 1 });
    expect(await outcomeOf(() => thin.forward({ x: zeros(11600, 1) }))).toBe(
      `RangeError: A forward of 11600 tokens through 0 layers would take 1,028 MB; ${fit} Run fewer tokens or layers, or leave out the scores with scores: false.`,
    );
    thin.delete();
    const wide = plain.transformerStack({ ...input, d_model: 8, heads: 1 });
    await wide.addLayer(drawnLayer(8, 1, 5));
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`part${at}`, zeros(370, 8)]));
    const forward = await wide.forward(many);
    expect(await outcomeOf(() => forward.decompose({ layer: 0 }))).toBe(
      `RangeError: 1 head of 1089 terms for 370 tokens would take 1,147 MB; ${fit} Decompose fewer heads at a time with \`only\`, or add parts up with \`groups\`.`,
    );
    wide.delete();
  });
});
