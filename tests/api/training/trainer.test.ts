// The trainer as JavaScript sees it: its numbers against the oracle in numpy, and its answers to the four
// questions. The sentences that it refuses with are in refusals.txt.
import type {
  BatchTrainerOptions,
  Table,
  Task,
  Trainer,
  TrainingBatch,
  TrainingTerm,
} from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import oracle from '../../reference/training.json' with { type: 'json' };
import { builds, oneBuild, plain } from '../support/builds.ts';
import { rowsOf } from '../support/numbers.ts';

type Rows = readonly (number | readonly number[])[];
// biome-ignore lint/suspicious/noExplicitAny: a file of numbers in various shapes
const cases = oracle.cases as any[];
const terms = oracle.terms as TrainingTerm[];

const tableOf = (values: Rows): Table<Float64Array> => {
  const rows = (Array.isArray(values[0]) ? values : [values]) as readonly (readonly number[])[];
  return { data: Float64Array.from(rows.flat()), rows: rows.length, columns: rows[0]?.length ?? 0 };
};
const listed = (table: Table): number[][] => rowsOf(table).map((row) => Array.from(row));
const batchOf = (tokens: readonly number[][], targets: readonly number[][]): TrainingBatch => ({
  n: tokens[0]?.length ?? 0,
  tokens: tokens.flat(),
  targets: targets.flat(),
});

/** The oracle's model before its first step, on the oracle's batches. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function begunOf(item: any, of = plain): Trainer {
  const { optimizer, evaluation } = item;
  return of.trainer({
    evaluation: batchOf(evaluation.tokens, evaluation.targets),
    vocabulary: item.vocabulary,
    classes: item.classes,
    positions: item.rows,
    scheme: item.scheme,
    ...(item.table && { table: item.table }),
    d_model: item.scheme === 'concat-wide' ? item.d_model / 2 : item.d_model,
    ...(item.scheme === 'concat' && { d_position: item.d_position }),
    heads: item.heads,
    layers: item.layers,
    layerNorm: item.layer_norm,
    causal: item.causal,
    zeroScores: item.zero_scores,
    fixedTokens: item.fixed.includes('E'),
    fixedPositions: item.fixed.includes('P'),
    sigma: item.sigma,
    sigmaPositions: item.sigma_positions,
    scaleTokens: item.scale_tokens,
    learningRate: optimizer.lr,
    weightDecay: optimizer.weight_decay,
    warmUp: optimizer.warm,
    steps: optimizer.steps,
  });
}

const parametersOf = (item: { parameters: object }) =>
  Object.fromEntries(Object.entries(item.parameters).map(([name, of]) => [name, tableOf(of as Rows)]));

/**
 * Compares relative to the largest of the oracle's numbers, which are in float64, while the trainer's are in
 * float32. The largest difference seen is 7e-7. It is 4e-5 for parameters after steps, because AdamW divides
 * by the root of what may be nearly 0.
 */
function near(result: ArrayLike<number>, expected: readonly number[], within = 5e-6) {
  expect(result).toHaveLength(expected.length);
  const largest = Math.max(1e-3, ...expected.map(Math.abs));
  const off = Math.max(...expected.map((value, k) => Math.abs(value - (result[k] as number)) / largest));
  expect(off).toBeLessThan(within);
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(cases.map((item) => [item.name, item]))('%s: as the oracle has it', (_, item) => {
    const trainer = begunOf(item, superpose);
    trainer.setParameters(parametersOf(item));
    const first = batchOf(item.tokens[0], item.targets[0]);
    near(trainer.logits(first).data, item.logits.flat(2));

    const { evaluation } = item;
    expect(trainer.evaluate().accuracy).toBeCloseTo(evaluation.accuracy, 11);
    const shares = trainer.shares();
    expect(shares.mean === null).toBe(evaluation.shares === null);
    if (shares.mean) {
      near(shares.mean, evaluation.shares);
      const cutTo = (cuts: readonly TrainingTerm[]) => {
        trainer.cutTerms(cuts);
        return trainer.evaluate().loss;
      };
      near(
        terms.map((term) => cutTo([term])),
        evaluation.loss_cut,
      );
      near(
        terms.map((term) => cutTo(terms.filter((other) => other !== term))),
        evaluation.loss_only,
      );
      trainer.cutTerms([]);
    } else {
      expect(shares.reason).toMatch(/\.$/);
      expect(() => trainer.cutTerms(['token-token'])).toThrow(shares.reason);
    }
    const { overlap, chance } = trainer.overlap();
    expect(overlap === null).toBe(evaluation.overlap === null);
    if (overlap !== null && chance !== null)
      near([overlap, chance], [evaluation.overlap, evaluation.chance_band]);

    const batches = (item.tokens as number[][][]).map((tokens, step) => batchOf(tokens, item.targets[step]));
    const losses = batches.flatMap((batch) => [...trainer.step(batch)]);
    near(losses, item.steps.loss);
    expect(trainer.steps).toBe(item.tokens.length);
    const after = trainer.parameters();
    expect(Object.keys(after).sort()).toEqual(Object.keys(item.parameters).sort());
    for (const [name, values] of Object.entries(item.steps.parameters as Record<string, Rows>))
      near((after[name] as Table).data, [...tableOf(values).data], 1e-4);
    trainer.delete();
  });

  test.each([
    [{ scheme: 'add' }],
    [{ scheme: 'concat-wide', cuts: ['token-position', 'position-token'] }],
    [{ scheme: 'tupe', zeroScores: true }],
    [{ scheme: 'rope', layers: 2, causal: true }],
  ] as const)('%j: what attention takes, and its values, give the logits', (options) => {
    const size = { task: 'prev', n: 5, d_model: 8, heads: 2, sigma: 0.7 } as const;
    const trainer = superpose.trainer({ ...size, ...options });
    trainer.step(20);
    const { n, tokens } = superpose.taskExamples({ task: 'prev', n: 5, sequences: 2 });
    const of = Object.fromEntries(
      Object.entries(trainer.parameters()).map(([name, table]) => [name, listed(table)]),
    );
    const product = (rows: number[][], by: number[][]) =>
      rows.map((row) =>
        (by[0] ?? []).map((_, c) => row.reduce((sum, x, k) => sum + x * (by[k]?.[c] ?? 0), 0)),
      );
    const normed = (rows: number[][], [gain = []]: number[][] = []) =>
      rows.map((row) => {
        const mean = row.reduce((a, b) => a + b) / row.length;
        const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
        return row.map((x, c) => ((x - mean) / Math.sqrt(variance + 1e-5)) * (gain[c] ?? 0));
      });
    const layers = 'layers' in options ? options.layers : 1;
    const result = Array.from({ length: layers }, (_, layer) =>
      listed(trainer.attention({ n, tokens, layer })),
    );
    const logits = [0, 1].flatMap((s) => {
      let x = Array.from(tokens.slice(s * n, (s + 1) * n), (id, i) => {
        const [e = [], p = []] = [of.E?.[id], of.P?.[i]];
        if (options.scheme === 'add') return e.map((value, c) => value + (p[c] ?? 0));
        return options.scheme === 'concat-wide' ? [...e, ...p] : e;
      });
      result.forEach((weights, layer) => {
        const parameter = (name: string) => of[`layers.${layer}.${name}`] ?? [];
        const qkv = product(normed(x, parameter('g1')), parameter('W_qkv'));
        const width = (x[0] ?? []).length / 2;
        const heads = [0, 1].map((h) => {
          const attention = weights.slice((2 * s + h) * n, (2 * s + h + 1) * n);
          attention.forEach((row, i) => {
            expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
            if ('causal' in options) expect(row.slice(i + 1).every((weight) => weight === 0)).toBe(true);
          });
          return product(
            attention,
            qkv.map((row) => row.slice((4 + h) * width, (5 + h) * width)),
          );
        });
        const mixed = product(
          heads[0]?.map((row, i) => [...row, ...(heads[1]?.[i] ?? [])]) ?? [],
          parameter('W_o'),
        );
        x = x.map((row, i) => row.map((value, c) => value + (mixed[i]?.[c] ?? 0)));
      });
      return product(normed(x, of.gf), of.W_u ?? []).flat();
    });
    near(trainer.logits({ n, tokens }).data, logits);
    trainer.delete();
  });

  test('terms are cut and given back between steps, in all that is measured', () => {
    const trainer = superpose.trainer({ task: 'lookup', n: 8, d_model: 16, seed: 1, steps: 120 });
    trainer.step(100);
    const full = trainer.evaluate();
    trainer.cutTerms(['token-position', 'token-token']);
    expect(trainer.evaluate().loss).toBeGreaterThan(full.loss);
    trainer.cutTerms(['token-position']);
    expect(trainer.evaluate().accuracy).toBeLessThan(full.accuracy - 0.4);
    const shares = trainer.shares().mean ?? [];
    expect(shares[1]).toBe(0);
    expect([...shares].reduce((sum, share) => sum + share)).toBeCloseTo(1, 5);
    trainer.step(10);
    expect(trainer.evaluate().accuracy).toBeLessThan(full.accuracy - 0.4);
    trainer.cutTerms([]);
    trainer.step(10);
    expect(trainer.evaluate().accuracy).toBeGreaterThan(0.95);

    // Terms that are cut from the start give the same as terms cut between steps; the logits are those of
    // the cut model.
    const other = superpose.trainer({
      task: 'lookup',
      n: 8,
      d_model: 16,
      cuts: ['token-position', 'token-token'],
    });
    other.setParameters(trainer.parameters());
    const { n, tokens } = superpose.taskExamples({ task: 'lookup', n: 8, sequences: 2 });
    expect(other.logits({ n, tokens }).data).not.toEqual(trainer.logits({ n, tokens }).data);
    trainer.cutTerms(['token-token', 'token-position']);
    expect(other.logits({ n, tokens }).data).toEqual(trainer.logits({ n, tokens }).data);
    trainer.cutTerms(terms);
    expect(trainer.shares()).toEqual({
      mean: null,
      reason: 'The scores do not vary over keys.',
    });
    for (const item of [trainer, other]) item.delete();
  });

  test('canonical shares stay where raw ones move: tables shifted against each other', () => {
    const trainer = superpose.trainer({ task: 'lookup', seed: 1 });
    trainer.step(60);
    const shares = () =>
      [trainer.shares().mean, trainer.shares({ gauge: 'canonical' }).mean] as Float64Array[];
    const [raw = [], canonical = []] = shares();
    const { E, P } = trainer.parameters() as { E: Table; P: Table };
    const shifted = (table: Table, by: number) => ({
      ...table,
      data: Float64Array.from(table.data, (value, k) => value + by * Math.cos(k % table.columns)),
    });
    const before = trainer.evaluate().loss;
    trainer.setParameters({ E: shifted(E, 1), P: shifted(P, -1) });
    expect(trainer.evaluate().loss).toBeCloseTo(before, 5);
    const [rawAfter = [], canonicalAfter = []] = shares();
    const moved = plain.largestDifference(canonicalAfter as Float64Array, canonical as Float64Array);
    expect(moved).toBeLessThan(1e-5);
    expect(plain.largestDifference(rawAfter as Float64Array, raw as Float64Array)).toBeGreaterThan(0.02);
    // Terms with constants make up the rest of 1.
    expect([...canonical].reduce((sum, share) => sum + share)).toBeLessThan(0.999);
    trainer.delete();
  });

  test('along directions of its end a run is seen to part', () => {
    const options = { task: 'lookup', seed: 1 } as const;
    const trainer = superpose.trainer(options);
    const { E, P } = trainer.parameters();
    trainer.step(200);
    const { directions } = trainer.directions();
    expect(directions).toMatchObject({ rows: 2, columns: 32 });
    if (!directions) return;
    const spread = ({ data, rows, columns }: Table, axis: number) =>
      Math.sqrt(rowsOf({ data, rows, columns }).reduce((sum, row) => sum + (row[axis] as number) ** 2, 0));
    // How many times further each table extends along its own axis than along the other.
    const deviation = () => {
      const { tokens, positions } = trainer.coordinates(directions);
      expect([tokens.rows, tokens.columns, positions.rows, positions.columns]).toEqual([16, 2, 16, 2]);
      return [spread(tokens, 0) / spread(tokens, 1), spread(positions, 1) / spread(positions, 0)];
    };
    const [tokens = 0, positions = 0] = deviation();
    trainer.setParameters({ E, P } as Record<string, Table>);
    const [tokensBefore = 0, positionsBefore = 0] = deviation();
    expect(tokens).toBeGreaterThan(2 * tokensBefore);
    expect(positions).toBeGreaterThan(2 * positionsBefore);
    trainer.delete();
    const rope = superpose.trainer({ task: 'lookup', scheme: 'rope' });
    expect(rope.directions().reason).toBe("The stream under 'rope' is no sum of token and position rows.");
    rope.delete();
  });

  test('one seed, one run: in slices, at once, and again from its own parameters', () => {
    const options = { task: 'lookup', n: 8, d_model: 16, seed: 3 } as const;
    const [full, sliced] = [superpose.trainer(options), superpose.trainer(options)];
    const other = superpose.trainer({ ...options, seed: 4 });
    expect(other.parameters()).not.toEqual(full.parameters());
    const losses = full.step(12);
    expect([...sliced.step(5), ...sliced.step(7)]).toEqual([...losses]);
    expect(sliced.parameters()).toEqual(full.parameters());
    expect(other.evaluate().accuracy).not.toBe(full.evaluate().accuracy);
    other.setParameters(full.parameters());
    const { vocabulary, classes, ...evaluation } = superpose.taskExamples({
      task: 'lookup',
      n: 8,
      seed: 3,
      sequences: 128,
    });
    expect([vocabulary, classes]).toEqual([8, 8]);
    expect(other.evaluate(evaluation)).toEqual(full.evaluate());
    for (const trainer of [full, sliced, other]) trainer.delete();
  });
});

test.each(cases.map((item) => [item.name, item]))('%s: what it begins with', (_, item) => {
  using trainer = begunOf(item);
  for (const [name, { data, rows, columns }] of Object.entries(trainer.parameters())) {
    const standardDeviation = item.initial_spread[name];
    if (/^(gf|.*g1)$/.test(name)) expect(data.every((gain) => gain === 1)).toBe(true);
    else if (standardDeviation === undefined) near(data, [...(parametersOf(item)[name] as Table).data], 1e-6);
    else {
      const size = { rows, columns, seed: 1, standardDeviation } as const;
      const streams = Array.from({ length: 20 }, (_, stream) => plain.randomNormal({ ...size, stream }).data);
      const off = streams.map((drawn) => plain.largestDifference(Float64Array.from(data), drawn));
      expect(Math.min(...off), name).toBeLessThan(1e-6);
    }
  }
});

test.skipIf(oneBuild)('the curve is the same in both builds, but for rounding', () => {
  const curves = builds.map(({ superpose }) => {
    const trainer = superpose.trainer({ task: 'lookup', seed: 1 });
    const losses = trainer.step(100);
    trainer.delete();
    return losses;
  });
  const [first = new Float64Array(), second = new Float64Array()] = curves;
  expect(plain.largestDifference(first, second)).toBeLessThan(1e-3);
});

test('with a constant rate a run does not depend on how many steps are planned', () => {
  const options = { task: 'lookup', n: 8, d_model: 16, schedule: 'constant' } as const;
  const [some, many] = [
    plain.trainer({ ...options, steps: 30 }),
    plain.trainer({ ...options, steps: 16_000 }),
  ];
  expect(some.step(60)).toEqual(many.step(60));
  using cosine = plain.trainer({ ...options, schedule: 'cosine', steps: 30 });
  cosine.step(60);
  expect(cosine.parameters()).not.toEqual(some.parameters());
  for (const trainer of [some, many]) trainer.delete();
});

test('parameters come back from a file', () => {
  const options = { task: 'prev', n: 6, d_model: 8 } as const;
  const [first, second] = [plain.trainer(options), plain.trainer({ ...options, seed: 2 })];
  first.step(20);
  const file = plain.encodeSafetensors(first.parameters(), { task: 'prev' });
  const read = [...plain.readSafetensorsHeader(file)].map(
    ([name, entry]) => [name, plain.decodeSafetensors(entry, file.subarray(entry.begin, entry.end))] as const,
  );
  second.setParameters(Object.fromEntries(read));
  expect(second.parameters()).toEqual(first.parameters());
  first.delete();
  second.delete();
});

test('the tasks answer as the oracle has them', () => {
  for (const { task, n, tokens, targets, vocabulary, classes } of oracle.tasks) {
    const result = plain.taskTargets({ task: task as Task, n, tokens: tokens.flat() });
    expect({ ...result, targets: [...result.targets] }).toMatchObject({
      n,
      vocabulary,
      classes,
      targets: targets.flat(),
    });
  }
});

const batchOptions: BatchTrainerOptions = {
  evaluation: { n: 4, tokens: [0, 1, 2, 3], targets: [1, 2, 3, -1] },
  vocabulary: 4,
  classes: 4,
  d_model: 8,
};
const batch: TrainingBatch = { n: 4, tokens: [0, 1, 2, 3], targets: [1, 2, 3, -1] };

test('recipes begin as loud as their closed form says', () => {
  const recipes = plain.loudnessRecipes({ d_model: 128 });
  expect(recipes.map(({ name }) => name)).toEqual(['transformer', 'unscaled', 'pytorch', 'bert', 'gpt2']);
  const sinusoid = { table: 'sinusoid', sigmaTokens: 128 ** -0.5, sigmaPositions: Math.SQRT1_2 } as const;
  const options = [
    { ...sinusoid, scaleTokens: true },
    sinusoid,
    { sigma: 1 },
    { sigma: 0.02 },
    { sigma: 0.02, sigmaPositions: 0.01 },
  ];
  for (const [at, { tokens, positions, positionScale }] of recipes.entries()) {
    // There are 1,280 token rows and 256 position rows, so root mean squares are within 2 %.
    const sizes = { task: 'badge', n: 256, d_model: 128, heads: 2, evaluationSequences: 1 } as const;
    using trainer = plain.trainer({ ...sizes, ...options[at] });
    expect(positionScale).toBeCloseTo((Math.SQRT2 * positions) / tokens, 14);
    const drawn = trainer.loudness();
    expect(Math.abs(drawn.tokens / tokens - 1)).toBeLessThan(0.02);
    expect(Math.abs((drawn.positions as number) / positions - 1)).toBeLessThan(0.02);
  }
  using none = plain.trainer({ task: 'lookup', scheme: 'alibi' });
  expect(none.loudness().positions).toBeNull();
});

test('what is refused changes nothing: steps and parameters stay', () => {
  using trainer = plain.trainer(batchOptions);
  expect(trainer.step(batch)).toHaveLength(1);
  const before = trainer.parameters();
  const E = before.E as Table;
  const zeros = { ...E, data: new Float32Array(E.data.length) };
  expect(() => trainer.step({ ...batch, tokens: [0, 1, 2, 9] })).toThrow('batch.tokens');
  expect(() => trainer.evaluate({ ...batch, n: 2, targets: [4, 0, 0, 0] })).toThrow('batch.targets');
  expect(() => trainer.setParameters({ P: zeros, E: { ...zeros, rows: 3 } })).toThrow(
    'E needs 4 rows; got 3.',
  );
  const beyond = { ...E, data: Float64Array.from(E.data).fill(1e300, 2, 3) };
  expect(() => trainer.setParameters({ P: zeros, E: beyond })).toThrow('an entry of E');
  expect(trainer.steps).toBe(1);
  expect(trainer.parameters()).toEqual(before);
  using ofTask = plain.trainer({ task: 'lookup', n: 4, d_model: 8 });
  expect(ofTask.step(batch)).toHaveLength(1);
  expect(ofTask.steps).toBe(1);
});

test.each([
  [{ task: 'prev' } as const, undefined],
  [batchOptions, batch],
])('a run that diverges says so and stops', (options, batch) => {
  const trainer = plain.trainer({ ...options, learningRate: 1e30, layerNorm: false });
  const losses = batch ? [] : [...trainer.step(50)];
  while (batch && losses.length < 50 && !trainer.diverged) losses.push(...trainer.step(batch));
  expect(trainer.diverged).toBe(true);
  expect(losses.length).toBeLessThan(50);
  expect(trainer.steps).toBe(losses.length - 1);
  const parametersBefore = trainer.parameters();
  expect(() => trainer.step(batch)).toThrow(
    `This run diverged at step ${trainer.steps + 1}: its loss or gradient is not finite.`,
  );
  expect(trainer.parameters()).toEqual(parametersBefore);
  trainer.delete();
});

test('rows that are all equal have no overlap, and a sentence says so', () => {
  const trainer = plain.trainer({ task: 'lookup', sigma: 0 });
  const reason = 'All token rows or all position rows are equal.';
  const none = { overlap: null, chance: null, reason };
  expect(trainer.overlap()).toEqual(none);
  // Equal rows that are not zero differ from their mean only by rounding, which is not a direction either.
  const { E } = trainer.parameters();
  if (!E) throw new Error('There is no E.');
  trainer.setParameters({ E: { ...E, data: E.data.map(() => 0.1) } });
  expect(trainer.overlap()).toEqual(none);
  trainer.delete();
});

const small: BatchTrainerOptions = { ...batchOptions, d_model: 4, positions: 5 };

describe('options', () => {
  const shapesOf = (options: object) => {
    const trainer = plain.trainer({ task: 'prev', n: 4, ...options } as never);
    const { E, P, W_u } = trainer.parameters();
    trainer.delete();
    return [E, P, W_u].map((table) => [table?.rows, table?.columns]);
  };

  test('a stream of one channel is enough, and of two to part', () => {
    const item = { heads: 1 };
    expect(shapesOf({ ...item, d_model: 1 })).toEqual([
      [4, 1],
      [4, 1],
      [1, 4],
    ]);
    expect(shapesOf({ ...item, d_model: 2, scheme: 'concat' })).toEqual([
      [4, 1],
      [4, 1],
      [2, 4],
    ]);
  });

  test('half of the channels are for positions, rounded down', () => {
    const options = { heads: 1, d_model: 9, scheme: 'concat' };
    expect(shapesOf(options)).toEqual(shapesOf({ ...options, d_position: 4 }));
    expect(shapesOf(options)[1]).toEqual([4, 4]);
  });

  test('the first class may be the only target', () => {
    const zeros = { n: 2, tokens: [0, 1], targets: [0, -1] };
    const trainer = plain.trainer({ ...small, evaluation: zeros });
    expect(trainer.evaluate().targets).toBe(1);
    expect(trainer.step(zeros)).toHaveLength(1);
    trainer.delete();
  });
});

describe('answers', () => {
  const using = (options: object, what: (trainer: Trainer) => void) => {
    const trainer = plain.trainer({ ...small, ...options } as never);
    try {
      what(trainer);
    } finally {
      trainer.delete();
    }
  };

  test('tables that share a stream have an overlap and directions, others a reason', () => {
    for (const scheme of ['add', 'concat', 'concat-wide', 'project']) {
      using({ scheme }, (trainer) => {
        // Channels that are side by side are at right angles.
        if (scheme.includes('concat')) expect(trainer.overlap().overlap).toBe(0);
        const { directions } = trainer.directions();
        expect(directions?.columns).toBe(scheme === 'concat-wide' ? 8 : 4);
      });
    }
    for (const scheme of ['none', 'tupe', 'rope', 'alibi', 't5', 'add-to-queries-keys', 'multiply']) {
      using({ scheme }, (trainer) => {
        const reason = `The stream under '${scheme}' is no sum of token and position rows.`;
        expect(trainer.overlap()).toEqual({ overlap: null, chance: null, reason });
        expect(trainer.directions()).toEqual({ directions: null, reason });
      });
    }
  });

  test('rows are drawn with the given sigma, positions also with their own, and scaled by the root of the width', () => {
    const rms = ({ data }: Table) => Math.hypot(...data) / Math.sqrt(data.length);
    const sizes = (options: object) => {
      let result: number[] = [];
      using({ ...wide, ...options }, (trainer) => {
        const { E, P } = trainer.parameters() as Record<string, Table>;
        result = [rms(E as Table), rms(P as Table)].map((size) => Number(size.toFixed(1)));
      });
      return result;
    };
    const wide = { d_model: 64, positions: 64, vocabulary: 64 };
    expect(sizes({ sigma: 0.3 })).toEqual([0.3, 0.3]);
    expect(sizes({ sigma: 0.3, sigmaTokens: 0.5 })).toEqual([0.5, 0.3]);
    expect(sizes({ sigmaPositions: 0.5 })).toEqual([0.1, 0.5]);
    expect(sizes({ scheme: 'multiply' })).toEqual([0.1, 1]);
    expect(sizes({ scheme: 'multiply', sigma: 0.3, sigmaPositions: 0.2 })).toEqual([0.3, 0.2]);
    // Larger position rows get smaller maps: min(1, ½ / min(1, 2σ)) / √d.
    for (const [sigmaPositions, root] of [
      [0.1, 1],
      [0.4, 0.625],
      [2, 0.5],
    ] as const)
      using({ ...wide, scheme: 'tupe', sigmaPositions }, (trainer) => {
        expect(8 * rms(trainer.parameters().U_q as Table)).toBeCloseTo(root, 1);
      });
    // Rows are scaled when they are read: the parameters stay the same, but the model behaves as if its rows
    // were larger.
    const { n, tokens } = batch;
    using({ scaleTokens: true, seed: 3 }, (scaled) => {
      using({ seed: 3 }, (trainer) => {
        const { E } = trainer.parameters() as { E: Table };
        const data = E.data.map((x) => x * Math.sqrt(E.columns));
        expect(scaled.parameters().E).toEqual(E);
        trainer.setParameters({ E: { ...E, data } });
        const expected = trainer.logits({ n, tokens }).data;
        scaled.logits({ n, tokens }).data.forEach((x, k) => {
          expect(x).toBeCloseTo(expected[k] as number, 5);
        });
      });
    });
  });

  test('what is fixed stays as it was drawn, each layer from a stream of its own', () => {
    using({ fixedPositions: true, layers: 2, seed: 3 }, (trainer) => {
      const { E, P, 'layers.1.W_qkv': second } = trainer.parameters();
      const stream = 5 + 4 * 1;
      const drawn = plain.randomNormal({ rows: 4, columns: 12, standardDeviation: 0.5, seed: 3, stream });
      expect(Array.from(second?.data ?? [])).toEqual(Array.from(Float32Array.from(drawn.data)));
      trainer.step(batch);
      expect(trainer.parameters().P).toEqual(P);
      expect(trainer.parameters().E).not.toEqual(E);
    });
    using({ table: 'sinusoid' }, (trainer) => {
      const { P } = trainer.parameters();
      trainer.step(batch);
      expect(trainer.parameters().P).toEqual(P);
    });
    using({ d_model: 1, heads: 1 }, (trainer) => {
      expect([...(trainer.parameters().gf?.data ?? [])]).toEqual([1]);
    });
  });

  test('scores of 0 attend to all alike, and small ones have shares', () => {
    for (const scheme of ['add', 'tupe', 'alibi', 't5'])
      using({ scheme, zeroScores: true }, (trainer) => {
        expect([...trainer.attention({ n: 2, tokens: [0, 1] }).data]).toEqual(Array(8).fill(0.5));
      });
    using({ layerNorm: false, sigma: 0.001 }, (trainer) => {
      expect(trainer.shares().mean?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
    });
  });

  test('a head whose scores are constant has no part in the mean of shares', () => {
    for (const gauge of ['raw', 'canonical'] as const)
      using({ layers: 1, heads: 2 }, (trainer) => {
        const mean = () => [...(trainer.shares({ gauge }).mean ?? [])];
        const full = mean();
        const W = trainer.parameters()['layers.0.W_qkv'] as Table;
        // A head whose queries are zero has scores of zero.
        const half = W.rows / 2;
        const without = (head: number) => {
          const data = Float64Array.from(W.data, (value, at) =>
            Math.floor((at % W.columns) / half) === head ? 0 : value,
          );
          trainer.setParameters({ 'layers.0.W_qkv': { ...W, data } });
          return mean();
        };
        const [second, first] = [without(0), without(1)];
        expect(full).toHaveLength(4);
        full.forEach((share, term) => {
          expect(((first[term] as number) + (second[term] as number)) / 2).toBeCloseTo(share, 6);
        });
        expect(first).not.toEqual(second);
        trainer.setParameters({ 'layers.0.W_qkv': { ...W, data: new Float64Array(W.data.length) } });
        expect(trainer.shares({ gauge }).mean).toBeNull();
      });
  });

  test('without a common stream nothing moves between tokens and positions', () => {
    using({ scheme: 'tupe' }, (trainer) => {
      expect(trainer.shares().mean).toHaveLength(4);
      expect(trainer.shares({ gauge: 'canonical' })).toEqual({
        mean: null,
        reason: "Tokens and positions of 'tupe' share no stream.",
      });
    });
    using({ scheme: 'add' }, (trainer) => {
      expect(trainer.shares({ gauge: 'canonical' }).mean).toHaveLength(4);
      expect(trainer.shares()).toEqual(trainer.shares({ gauge: 'raw' }));
    });
  });
});
