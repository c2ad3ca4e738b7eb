// What holds of all schemes, and what holds of single ones.
import {
  anovaTerms,
  load,
  type SchemeExtent,
  type SchemeInput,
  schemeTermOf,
  type Table,
} from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { largest, largestDifference } from '../support/numbers.ts';

const superpose = await load({ simd: 'plain' });

const draw = (rows: number, columns: number, stream: number) =>
  superpose.randomNormal({ rows, columns, seed: 21, stream });
const content = draw(6, 8, 0);
const base = { content, heads: 2, query: { weight: draw(8, 8, 1) }, key: { weight: draw(8, 8, 2) } };
/**
 * Every scheme, with sizes that differ from those of other parts. Each scheme takes only its own options.
 */
const every = superpose.schemeRegistry().map(({ id: scheme }) => ({
  ...base,
  scheme,
  positionScale: 3,
  clip: 3,
  ...(scheme !== 'add' && { d_position: 5 }),
  d_position_head: 3,
})) as unknown as SchemeInput[];

describe.each(every)('$scheme', (input) => {
  const scores = superpose.schemeScores({ ...input, seed: 3, standardDeviation: 1 });

  test('its terms add up and its shares to one, also when causal', () => {
    for (const causal of [false, true]) {
      const masked = superpose.schemeScores({ ...input, seed: 3, standardDeviation: 1, causal });
      masked.heads.forEach((head, place) => {
        const terms = masked.termNames.map((name) => schemeTermOf(masked, head, name));
        for (let k = 0; k < 36; k++) {
          const sum = terms.reduce((total, term) => total + (term[k] as number), 0);
          expect(sum).toBeCloseTo(masked.logits[place * 36 + k] as number, 11);
        }
        const count = masked.termNames.length;
        const shares = masked.shares.slice(place * count, (place + 1) * count);
        expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 11);
      });
      expect(Math.max(...masked.residuals)).toBeLessThan(1e-12);
    }
  });

  test('its weights are the softmax of what a query sees', () => {
    for (const causal of [false, true]) {
      const { logits, weights } = superpose.schemeScores({ ...input, causal });
      for (let row = 0; row < 12; row++) {
        const seen = causal ? (row % 6) + 1 : 6;
        const powers = Array.from(logits.subarray(row * 6, row * 6 + seen), Math.exp);
        const total = powers.reduce((a, b) => a + b);
        for (let j = 0; j < 6; j++) {
          expect(weights[row * 6 + j]).toBeCloseTo(j < seen ? (powers[j] as number) / total : 0, 12);
        }
      }
    }
  });

  test('the same seed gives the same scores, another others', () => {
    const drawn = { ...input, query: undefined, standardDeviation: 1 } as unknown as typeof input;
    const matrix = superpose.schemeScores({ ...drawn, seed: 5 });
    expect(superpose.schemeScores({ ...drawn, seed: 5 })).toEqual(matrix);
    expect(superpose.schemeScores({ ...drawn, seed: 6 }).logits).not.toEqual(matrix.logits);
  });

  test('only some heads', () => {
    const some = superpose.schemeScores({ ...input, seed: 3, standardDeviation: 1, only: [1] });
    expect(some.heads).toEqual([1]);
    expect(some.logits).toEqual(scores.logits.slice(36));
  });

  test('no tokens, no scores', () => {
    const nothing = { data: new Float64Array(), rows: 0, columns: 8 };
    expect(superpose.schemeScores({ ...input, content: nothing }).logits).toHaveLength(0);
  });
});

describe('adding and concatenating, side by side', () => {
  const position = draw(6, 5, 14);
  const wide = draw(6, 8, 15);
  const bias = draw(1, 8, 16).data;
  const [query, key] = [
    { ...base.query, bias },
    { ...base.key, bias },
  ];
  const options = { content, heads: 2, query, key };

  test('add is decompose() without LayerNorm, its constant with the token', () => {
    const scores = superpose.schemeScores({ ...options, scheme: 'add', position: wide });
    const summands = { content, position: wide };
    const groups = { content: ['content', 'constant'], position: ['position'] };
    const decomposition = superpose.decompose({ summands, query, key, heads: 2, gauge: 'raw', groups });
    expect(scores.termNames).toEqual([
      'content-content',
      'content-position',
      'position-content',
      'position-position',
    ]);
    // decompose() computes in float; the largest difference seen is 1.7e-7 of the largest value.
    for (const name of ['logits', 'terms', 'shares'] as const)
      expect(
        largestDifference(scores[name], decomposition[name]) / largest(decomposition[name]),
      ).toBeLessThan(1e-6);
  });

  test('raw is the same for every head', () => {
    const { logits } = superpose.schemeScores({
      ...options,
      scheme: 'concat-raw',
      d_position: 5,
      position,
      positionScale: 2,
    });
    expect(logits.subarray(0, 36)).toEqual(logits.subarray(36));
  });

  test('block-diagonal weights may have biases', () => {
    const [positionQuery, positionKey] = [{ weight: draw(6, 5, 17) }, { weight: draw(6, 5, 18) }];
    const sizes = { d_position: 5, d_position_head: 3 };
    const parts = {
      scheme: 'concat-block-diagonal' as const,
      ...sizes,
      position,
      positionQuery,
      positionKey,
    };
    const none = superpose.schemeScores({ ...options, scheme: 'none', scale: 1 / Math.sqrt(4 + 3) });
    const biased = schemeTermOf(superpose.schemeScores({ ...options, ...parts }), 1, 'content-content');
    schemeTermOf(none, 1, 'content-content').forEach((value, at) => {
      expect(biased[at]).toBeCloseTo(value, 12);
    });
  });

  test('one seed draws one table for all of them; with equal blocks full weights are adding, and ρ is in both', () => {
    const drawn = { ...options, seed: 4, standardDeviation: 1 };
    const blocks = { positionQuery: base.query, positionKey: base.key };
    const added = superpose.schemeScores({ ...drawn, scheme: 'add', positionScale: 2 });
    const tied = superpose.schemeScores({ ...drawn, scheme: 'concat-full', ...blocks });
    Object.entries({
      'content-content': 1,
      'content-position': 2,
      'position-content': 2,
      'position-position': 4,
    }).forEach(([name, factor]) => {
      const theirs = schemeTermOf(tied, 0, name);
      schemeTermOf(added, 0, name).forEach((value, at) => {
        expect(value).toBeCloseTo(factor * (theirs[at] as number), 11);
      });
    });
  });
});

test('TUPE resets [CLS]: first its column, then its row', () => {
  const scores = superpose.schemeScores({ ...base, scheme: 'tupe-a', standardDeviation: 1 });
  const term = schemeTermOf(scores, 1, 'position-position');
  for (let k = 1; k < 6; k++) {
    expect(term[k]).toBe(term[0]);
    expect(term[k * 6]).toBe(term[6]);
  }
  expect(term[6]).not.toBe(term[0]);
});

test('as published, ALiBi, Transformer-XL, decoupled RoPE and one-directional T5 see no later key', () => {
  const causal = every.filter((input) => superpose.schemeScores(input).weights[1] === 0);
  expect(causal.map(({ scheme }) => scheme)).toEqual(['transformer-xl', 'alibi', 'decoupled-rope']);
  for (const bidirectional of [true, false]) {
    const { weights } = superpose.schemeScores({ ...base, scheme: 't5', bidirectional });
    expect(weights[1] === 0).toBe(!bidirectional);
  }
});

const narrow = { content, heads: 2, d_head: 6 };
const named: [SchemeInput, object][] = [
  [
    { ...narrow, scheme: 'add' },
    { seed: 0, standardDeviation: 0.02, positionScale: 1, only: [0, 1] },
  ],
  [
    { content, heads: 3, scheme: 'none' },
    { d_head: 2, causal: false, scale: 1 / Math.sqrt(2) },
  ],
  [{ content: draw(2, 1, 3), heads: 2, scheme: 'none' }, { d_head: 1 }],
  [
    { ...narrow, scheme: 'concat-raw' },
    { d_position: 8, scale: 1 },
  ],
  [
    { ...narrow, scheme: 'concat-block-diagonal' },
    { d_position: 8, d_position_head: 6, scale: 1 / Math.sqrt(12) },
  ],
  [{ ...narrow, scheme: 'shaw' }, { clip: 16 }],
  [
    { ...narrow, scheme: 't5' },
    { bidirectional: true, buckets: 32, maxDistance: 128, scale: 1 },
  ],
  [
    { ...narrow, scheme: 'deberta' },
    { clip: 512, scale: 1 / Math.sqrt(18) },
  ],
  [{ ...narrow, scheme: 'tupe-a' }, { scale: 1 / Math.sqrt(12) }],
  [{ ...narrow, scheme: 'tupe-r' }, { scale: 1 / Math.sqrt(12) }],
  [{ ...narrow, scheme: 'diet-abs' }, { d_position: 6 }],
  [{ ...narrow, scheme: 'diet-rel' }, { clip: 128 }],
  [
    { ...narrow, scheme: 'decoupled-rope' },
    { d_rotary: 4, base: 10_000, scale: 1 / Math.sqrt(10) },
  ],
];

test.each(
  named.map(([input, options]) => [input.scheme, Object.keys(options).join(', '), input, options] as const),
)('what %s takes where nothing is said about %s', (_, _names, input, options) => {
  expect(superpose.schemeScores({ ...input, ...options } as SchemeInput)).toEqual(
    superpose.schemeScores(input),
  );
});

test('a rotary key is one for all heads, or one for each', () => {
  const parts = { d_rotary: 4, rotaryQuery: { weight: draw(8, 8, 19) } };
  const options = { ...base, scheme: 'decoupled-rope', ...parts } as const;
  const matrix = draw(4, 8, 20);
  const each = {
    data: Float64Array.from([...matrix.data, ...matrix.data.map((value) => 3 * value)]),
    columns: 8,
  };
  const rotary = (weight: Table<Float64Array>) => {
    const scores = superpose.schemeScores({ ...options, rotaryKey: { weight } });
    return [0, 1].map((head) => schemeTermOf(scores, head, scores.termNames[1] as string));
  };
  const [[first, second], [third, fourth]] = [rotary(matrix), rotary({ ...each, rows: 8 })] as const;
  expect(third).toEqual(first);
  fourth?.forEach((value, at) => {
    expect(value).toBeCloseTo(3 * (second?.[at] as number), 12);
  });
});

test('what belongs to another scheme is not looked at', () => {
  const other = { distances: 'none', u: 0, offsets: null, clip: -1, position: 7, bias: [] };
  const input = { ...base, scheme: 'none', ...other } as unknown as SchemeInput;
  expect(superpose.schemeScores(input)).toEqual(superpose.schemeScores({ ...base, scheme: 'none' }));
  const tupe = { ...base, scheme: 'tupe-r', standardDeviation: 1 } as const;
  expect(superpose.schemeScores({ ...tupe, bidirectional: false })).toEqual(superpose.schemeScores(tupe));
});

test('the registry has one entry for each scheme, and its counts', () => {
  const registry = superpose.schemeRegistry();
  expect(new Set(registry.map(({ id }) => id))).toHaveProperty('size', registry.length);
  const differ = registry.filter((entry) => entry.bidirectionalFormula);
  expect(differ.map(({ id }) => id)).toEqual(['alibi']);
  const clips = Object.fromEntries(registry.map(({ id, clip }) => [id, clip]));
  expect(clips).toMatchObject({ shaw: 16, deberta: 512, 'diet-rel': 128, none: 0, t5: 0 });
  for (const { clip, options } of registry) expect(clip > 0).toBe(options.includes('clip'));
  const bert = { d_model: 768, heads: 12, d_head: 64, positions: 512 };
  expect(superpose.schemeParameters('tupe-a', bert) - 513 * 768).toBe(1_179_648);
  expect(superpose.schemeParameters('rope', bert)).toBe(0);
  // A table of offsets is computed, so it adds no parameters.
  const xl = { ...bert, layers: 12, d_offset: 768 };
  expect(superpose.schemeParameters('transformer-xl', xl)).toBe(12 * 768 ** 2 + 2 * 768);
  // Sizes that are left out are 0.
  for (const { id } of registry)
    expect(superpose.schemeParameters(id, { ...bert, clip: 0, buckets: 0 }), id).toBe(
      superpose.schemeParameters(id, bert),
    );
});

test('every part in the registry is accepted in its shape, refused in another, and changes the scores', () => {
  const sizes = { d_model: 8, heads: 2, d_head: 4, positions: 6, layers: 1, clip: 3, buckets: 32 };
  const widths = { d_position: 5, d_position_head: 3, d_offset: 8 };
  let parts = 0;
  for (const input of every) {
    const info = superpose.schemeRegistry().find(({ id }) => id === input.scheme);
    const d_position = info?.options.includes('d_rotary') ? 2 : widths.d_position;
    const all = { one: 1, ...sizes, ...widths, d_position };
    const extent = (at: SchemeExtent) => at.times * all[at.by] * all[at.andBy] + at.plus;
    const before = superpose.schemeScores(input);
    expect(before.termNames).toEqual(info?.terms);
    for (const { name, kind, ...shape } of info?.parts ?? []) {
      parts++;
      const [rows, columns] = [extent(shape.rows), extent(shape.columns)];
      const options = (more: number) => {
        const drawn = draw(rows + more, columns, 30);
        if (kind === 'vector') return draw(1, columns + more, 30).data;
        return kind === 'table' || kind === 'offsets' ? drawn : { weight: drawn };
      };
      const call = (part: unknown) => superpose.schemeScores({ ...input, [name]: part } as SchemeInput);
      expect(call(options(0)).logits, `${input.scheme} ${name}`).not.toEqual(before.logits);
      expect(() => call(options(1)), `${input.scheme} ${name}`).toThrow(name);
    }
  }
  expect(parts).toBeGreaterThan(20);
});

test('in the analysis of variance all schemes have the same terms, which add up to their scores', () => {
  for (const options of every) {
    const scores = superpose.schemeScores(options as SchemeInput);
    const anova = superpose.schemeScores({ ...options, terms: 'anova' } as SchemeInput);
    expect(anova.termNames, options.scheme).toEqual(anovaTerms);
    expect(anova.logits).toEqual(scores.logits);
    expect(anova.weights).toEqual(scores.weights);
    const { n, logits } = anova;
    let widest = 0;
    for (let cell = 0; cell < n * n; cell++) {
      let sum = 0;
      for (let t = 0; t < anovaTerms.length; t++) sum += anova.terms[t * n * n + cell] as number;
      widest = Math.max(widest, Math.abs(sum - (logits[cell] as number)));
    }
    expect(widest).toBeLessThan(1e-12);
    expect(anova.residuals[0]).toBe(widest);
    const shares = Array.from(anova.shares.subarray(0, anovaTerms.length));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    // Softmax does not see what is the same for every key.
    expect(shares.at(-1)).toBeCloseTo(0, 12);
  }
});

test('RoPE asks about positions by what tokens share, and ALiBi by its bias', () => {
  const { content } = base;
  const shares = (scheme: 'rope' | 'alibi', shared: number) => {
    const moved = {
      ...content,
      data: content.data.map((value) => value + shared) as Float64Array<ArrayBuffer>,
    };
    const { shares: of } = superpose.schemeScores({
      ...base,
      scheme,
      content: moved,
      terms: 'anova',
      only: [0],
    });
    return Object.fromEntries(anovaTerms.map((name, t) => [name, of[t] as number]));
  };
  expect(shares('rope', 3)['position-position']).toBeGreaterThan(
    2 * (shares('rope', 0)['position-position'] as number),
  );
  const alibi = superpose.schemeScores({
    ...base,
    scheme: 'alibi',
    causal: false,
    terms: 'anova',
    only: [0],
  });
  const bias = schemeTermOf(alibi, 0, 'position-position');
  // The term is the bias minus its mean over all pairs; the first of the two slopes is 1/16.
  expect((bias[1] as number) - (bias[0] as number)).toBeCloseTo(-1 / 16, 13);
  expect(bias.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 11);
});
