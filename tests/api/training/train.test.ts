// What a trainer answers that has hardly been trained: the edges of its options, and its sentences.
import type { BatchesTrainerOptions, Table, Trainer, TrainingPoint } from 'superpose';
import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';

const evaluation = { n: 4, tokens: [0, 1, 2, 3], targets: [1, 2, 3, -1] };
const own: BatchesTrainerOptions = {
  ...{ batches: () => evaluation, evaluation, vocabulary: 4, classes: 4 },
  ...{ d_model: 4, positions: 5 },
};

describe('options', () => {
  const shapesOf = (options: object) => {
    const trainer = plain.trainer({ task: 'prev', n: 4, ...options } as never);
    const { E, P, W_u } = trainer.parameters();
    trainer.delete();
    return [E, P, W_u].map((table) => [table?.rows, table?.columns]);
  };

  test('a stream of one channel is enough, and of two to part', () => {
    const one = { heads: 1 };
    expect(shapesOf({ ...one, d_model: 1 })).toEqual([
      [4, 1],
      [4, 1],
      [1, 4],
    ]);
    expect(shapesOf({ ...one, d_model: 2, scheme: 'concat' })).toEqual([
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

  test('nothing is cut unless it is named', () => {
    for (const cuts of [[], ['token-position', 'token-token']] as const) {
      const trainer = plain.trainer({ ...own, cuts });
      expect(trainer.cuts).toEqual(cuts);
      trainer.delete();
    }
  });

  test('the first class may be the only target', () => {
    const zeros = { n: 2, tokens: [0, 1], targets: [0, -1] };
    const trainer = plain.trainer({ ...own, evaluation: zeros, batches: () => zeros });
    expect(trainer.evaluate().targets).toBe(1);
    expect(trainer.step(2)).toHaveLength(2);
    trainer.delete();
  });

  test.each([
    [
      { batches: [evaluation] },
      'batches must be a function that gives tokens and targets; it is an array of 1.',
    ],
    [{ cuts: 'token-token' }, 'cuts must be an array of terms; it is "token-token".'],
  ])('%j is of the wrong kind', (change, sentence) => {
    expect(() => plain.trainer({ ...own, ...change } as never)).toThrow(new TypeError(sentence));
  });
});

describe('answers', () => {
  const using = (options: object, what: (trainer: Trainer) => void) => {
    const trainer = plain.trainer({ ...own, ...options } as never);
    try {
      what(trainer);
    } finally {
      trainer.delete();
    }
  };

  test('tables that share a stream have angles and directions, others a reason', () => {
    for (const scheme of ['add', 'concat', 'concat-wide', 'project']) {
      using({ scheme }, (trainer) => {
        const { smallest, smallestLeading, reason } = trainer.angles();
        expect(reason).toBeNull();
        // What is side by side is at right angles.
        if (scheme.includes('concat')) expect(smallest).toBeCloseTo(Math.PI / 2, 12);
        expect(smallestLeading).toBeGreaterThanOrEqual(smallest as number);
        const { directions } = trainer.directions();
        expect(directions?.columns).toBe(scheme === 'concat-wide' ? 8 : 4);
      });
    }
    for (const scheme of ['none', 'untied', 'rope', 'alibi', 't5', 'qk', 'multiply']) {
      using({ scheme }, (trainer) => {
        const reason = `The stream under '${scheme}' is no sum of token and position rows.`;
        expect(trainer.angles()).toEqual({ smallest: null, smallestLeading: null, reason });
        expect(trainer.overlap()).toEqual({ overlap: null, chanceBand: null, chanceExact: null, reason });
        expect(trainer.directions()).toEqual({ directions: null, reason });
      });
    }
  });

  test('rows are drawn with the given sigma, positions also with their own, and scaled by the root of the width', () => {
    const rms = ({ data }: Table) => Math.hypot(...data) / Math.sqrt(data.length);
    const sizes = (options: object) => {
      let found: number[] = [];
      using({ ...wide, ...options }, (trainer) => {
        const { E, P } = trainer.parameters() as Record<string, Table>;
        found = [rms(E as Table), rms(P as Table)].map((size) => Number(size.toFixed(1)));
      });
      return found;
    };
    const wide = { d_model: 64, positions: 64, vocabulary: 64 };
    expect(sizes({ sigma: 0.3 })).toEqual([0.3, 0.3]);
    expect(sizes({ sigma: 0.3, sigmaTokens: 0.5 })).toEqual([0.5, 0.3]);
    expect(sizes({ sigmaPositions: 0.5 })).toEqual([0.1, 0.5]);
    expect(sizes({ scheme: 'multiply' })).toEqual([0.1, 1]);
    expect(sizes({ scheme: 'multiply', sigma: 0.3, sigmaPositions: 0.2 })).toEqual([0.3, 0.2]);
    // Scaled as they are read: the parameters stay, and what a model makes of them is that of larger rows.
    const { n, tokens } = evaluation;
    using({ scaleTokens: true, seed: 3 }, (scaled) => {
      using({ seed: 3 }, (trainer) => {
        const { E } = trainer.parameters() as { E: Table };
        const data = E.data.map((x) => x * Math.sqrt(E.columns));
        expect(scaled.parameters().E).toEqual(E);
        trainer.setParameters({ E: { ...E, data } });
        const wanted = trainer.logits({ n, tokens }).data;
        scaled.logits({ n, tokens }).data.forEach((x, k) => {
          expect(x).toBeCloseTo(wanted[k] as number, 5);
        });
      });
    });
  });

  test('without a common stream nothing moves between tokens and positions', () => {
    using({ scheme: 'untied' }, (trainer) => {
      expect(trainer.shares().mean).toHaveLength(4);
      expect(trainer.shares({ gauge: 'canonical' })).toEqual({
        mean: null,
        byHead: null,
        reason: "Tokens and positions of 'untied' share no stream.",
      });
    });
    using({ scheme: 'add' }, (trainer) => {
      expect(trainer.shares({ gauge: 'canonical' }).mean).toHaveLength(4);
      expect(trainer.shares()).toEqual(trainer.shares({ gauge: 'raw' }));
    });
  });

  test('a run on own batches that diverges ends with the step that did', () => {
    using({ learningRate: 1e30, layerNorm: false }, (trainer) => {
      const losses = trainer.step(50);
      expect(trainer.diverged).toBe(true);
      expect(losses).toHaveLength(trainer.steps + 1);
      expect(losses.length).toBeLessThan(50);
      expect([...losses].findIndex((loss) => !(loss > 0))).toBe(losses.length - 1);
    });
  });

  test.each([
    ['logits', null, new TypeError('options must be an object; it is null.')],
    ['logits', { n: 6 }, new RangeError('n must be a whole number from 1 to 5; it is 6.')],
    ['logits', { n: 0 }, new RangeError('n must be a whole number from 1 to 5; it is 0.')],
    [
      'logits',
      { n: 2, tokens: [0, 4] },
      new RangeError('an entry of tokens must be a whole number from 0 to 3; it is 4.'),
    ],
    ['attention', null, new TypeError('options must be an object; it is null.')],
    [
      'attention',
      { n: 2, tokens: [0, 1], layer: 1 },
      new RangeError('layer must be a whole number from 0 to 0; it is 1.'),
    ],
    ['shares', 5, new TypeError('options must be an object; it is 5.')],
    ['setParameters', null, new TypeError('parameters must be an object; it is null.')],
    [
      'coordinates',
      { data: new Float64Array(), rows: 0, columns: 4 },
      new RangeError('directions.rows must be above 0; it is 0.'),
    ],
    [
      'coordinates',
      { data: new Float64Array(5), rows: 1, columns: 5 },
      new RangeError('directions must have 4 columns; it has 5.'),
    ],
  ] as const)('%s(%j) is refused', (name, argument, error) => {
    using({}, (trainer) => {
      expect(() => (trainer[name] as (argument: unknown) => unknown)(argument)).toThrow(error);
    });
  });
});

describe('runs', () => {
  const all = async (points: AsyncGenerator<TrainingPoint>) => {
    const found: TrainingPoint[] = [];
    for await (const point of points) found.push(point);
    return found;
  };
  const small = { task: 'prev', n: 2, d_model: 2, heads: 1, sequences: 1 } as const;

  test('two runs of one trainer take its planned steps, and no more', async () => {
    const trainer = plain.trainer({ ...small, steps: 60, evaluationSequences: 1 });
    const losses = (await Promise.all([1, 2].map(() => all(plain.train(trainer, { every: 7 }))))).flat();
    expect(trainer.steps).toBe(60);
    expect(losses.reduce((sum, one) => sum + one.losses.length, 0)).toBe(60);
    trainer.delete();
  });

  test('points may be further apart than the steps that are taken without a pause', async () => {
    const points = await all(plain.train({ ...small, steps: 62, evaluationSequences: 1 }, { every: 60 }));
    expect(points.map(({ steps, losses }) => [steps, losses.length])).toEqual([
      [0, 0],
      [60, 60],
      [62, 2],
    ]);
  });

  test('the last point of a run that diverges has the losses up to there', async () => {
    const wild = { ...small, learningRate: 1e30, layerNorm: false, steps: 40 };
    const last = (await all(plain.train(wild, { every: 40 }))).at(-1);
    expect(last?.diverged).toBe(true);
    expect(last?.losses).toHaveLength((last?.steps ?? 0) + 1);
  });

  test('a signal is one', () => {
    expect(() => plain.train(small, { signal: 5 as never })).toThrow(
      new TypeError('signal must be an AbortSignal; it is 5.'),
    );
  });
});
