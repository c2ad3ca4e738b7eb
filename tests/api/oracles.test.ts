// Encodings, schemes and geometry against tests/reference: numpy, written from the formulas by someone who
// had not seen this code. All must agree to within 1e-12, where the numbers are about 1.
import type { Linear, SchemeInput, SchemeScores, Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import anova from '../reference/anova.json' with { type: 'json' };
import encodings from '../reference/encodings.json' with { type: 'json' };
import geometry from '../reference/geometry.json' with { type: 'json' };
import rotary from '../reference/rotary.json' with { type: 'json' };
import schemes from '../reference/schemes.json' with { type: 'json' };
import { builds } from './support/builds.ts';
import { apply } from './support/naive.ts';
import { flat, largestDifference, type Nested, tableOf } from './support/numbers.ts';
import { linearOf } from './support/oracles.ts';

type Matrix = number[][];

const close = (ours: ArrayLike<number>, oracle: Nested, bound = 1e-12) =>
  expect(largestDifference(ours, flat(oracle))).toBeLessThan(bound);

/** Puts per-head matrices [heads][rows][width] side by side as [rows, heads · width]. */
const sideBySide = (heads: Matrix[]): Table<Float64Array> =>
  tableOf((heads[0] as Matrix).map((_, row) => heads.flatMap((head) => head[row] as number[])));

const transposed = (matrix: Matrix): Matrix =>
  (matrix[0] as number[]).map((_, column) => matrix.map((row) => row[column] as number));

/** LayerNorm of each row, for tables that a scheme expects normalized. */
const normalized = (table: Matrix, gamma: number[], beta: number[], eps: number): Matrix =>
  table.map((row) => {
    const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
    const sigma = Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length + eps);
    return row.map((x, c) => ((gamma[c] as number) * (x - mean)) / sigma + (beta[c] as number));
  });

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe('encodings', () => {
    test('fairseq: sines, then cosines, on timescales; its padding row alone is zero', () => {
      const padded = encodings.fairseq.filter(({ padding_row }) => padding_row !== null);
      expect(padded.length).toBeGreaterThan(1);
      for (const { rows, width, padding_row, table } of padded) {
        const { data } = superpose.sinusoidal({
          positions: rows,
          d_model: width,
          layout: 'concatenated',
          spacing: 'timescales',
        });
        data.fill(0, (padding_row as number) * width, ((padding_row as number) + 1) * width);
        close(data, table);
      }
    });

    test('Transformer-XL: sines, then cosines, on the scale of the width', () => {
      for (const { positions, width, table } of encodings.transformer_xl) {
        positions.forEach((firstPosition, row) => {
          const ours = superpose.sinusoidal({
            positions: 1,
            d_model: width,
            layout: 'concatenated',
            firstPosition,
          });
          close(ours.data, table[row] as number[]);
        });
      }
    });

    test('tensor2tensor: sines, then cosines, from the shortest timescale to the longest', () => {
      for (const { length, width, longest_timescale, first, table } of encodings.t2t_1d) {
        const ours = superpose.sinusoidal({
          positions: length,
          d_model: width,
          layout: 'concatenated',
          spacing: 'timescales',
          base: longest_timescale,
          firstPosition: first,
        });
        close(ours.data, table);
      }
    });
  });

  describe('relative positions', () => {
    const scored = (input: object, n: number, heads: number) => {
      const content = { data: new Float64Array(n * heads), rows: n, columns: heads };
      return superpose.schemeScores({ content, heads, ...input } as SchemeInput).logits;
    };

    test('T5’s buckets', () => {
      for (const { bidirectional, buckets, max_distance, first_offset, bucket } of schemes.t5_buckets) {
        const n = 1 - first_offset;
        const bias = tableOf(Array.from({ length: buckets }, (_, bucket) => [bucket]));
        const ours = scored({ scheme: 't5', bidirectional, buckets, maxDistance: max_distance, bias }, n, 1);
        bucket.forEach((expected, at) => {
          const offset = first_offset + at;
          expect(ours[Math.max(0, -offset) * n + Math.max(0, offset)]).toBe(expected);
        });
      }
    });

    test('ALiBi’s slopes', () => {
      for (const { heads, slopes } of schemes.alibi_slopes) {
        const ours = scored({ scheme: 'alibi' }, 2, heads);
        close(
          slopes.map((_, head) => -(ours[4 * head + 2] as number)),
          slopes,
          1e-15,
        );
      }
    });
  });

  describe.each(schemes.cases)('schemes over $heads heads of $x.length tokens', (oracle) => {
    const { heads } = oracle;
    const n = oracle.x.length;
    const shared = {
      content: tableOf(oracle.x),
      heads,
      query: linearOf(oracle.query_weight),
      key: linearOf(oracle.key_weight),
    };
    const run = (input: object) => superpose.schemeScores({ ...shared, ...input } as SchemeInput);

    test('no position, and causal', () => {
      const causal = run({ scheme: 'none', causal: true });
      expect(
        largestDifference(
          causal.weights,
          flat(oracle.none.softmax as Nested).map((w) => w ?? 0),
        ),
      ).toBeLessThan(1e-12);
    });

    test('Shaw', () => {
      const { key_table, logits, content, position } = oracle.shaw;
      const clip = (key_table.length - 1) / 2;
      const ours = run({ scheme: 'shaw', clip, offsetKeys: tableOf(key_table) });
      close(ours.logits, logits);
      close(
        ours.terms,
        content.flatMap((head, h) => [head, position[h] as Matrix]),
      );
    });

    test('Transformer-XL, its four terms', () => {
      const xl = oracle.transformer_xl;
      const ours = run({
        scheme: 'transformer-xl',
        offsetKey: linearOf(xl.position_weight),
        u: Float64Array.from(flat(xl.content_bias)),
        v: Float64Array.from(flat(xl.position_bias)),
      });
      close(ours.logits, xl.logits);
      const { content_content, content_position, global_content, global_position } = xl;
      const terms = [content_content, content_position, global_content, global_position];
      close(
        ours.terms,
        content_content.flatMap((_, h) => terms.map((example) => example[h] as Matrix)),
      );
    });

    test('T5 without 1/√d', () => {
      for (const { bidirectional, buckets, max_distance, bias_table, logits } of oracle.t5) {
        const ours = run({
          scheme: 't5',
          bidirectional,
          buckets,
          maxDistance: max_distance,
          bias: tableOf(bias_table),
        });
        close(ours.logits, logits);
      }
    });

    test('ALiBi, where it is defined', () => {
      const ours = run({ scheme: 'alibi' }).logits;
      flat(oracle.alibi.logits as Nested).forEach((logit, at) => {
        if (logit !== null) expect(Math.abs((ours[at] as number) - logit)).toBeLessThan(1e-12);
      });
    });

    test('DeBERTa', () => {
      const { position_table, position_query_weight, position_key_weight, logits_paper } = oracle.deberta;
      const ours = run({
        scheme: 'deberta',
        clip: position_table.length / 2,
        distances: tableOf(position_table),
        positionQuery: linearOf(position_query_weight),
        positionKey: linearOf(position_key_weight),
      });
      close(ours.logits, logits_paper);
    });

    test('TUPE-A and TUPE-R, as released and as in equation 9', () => {
      const t = oracle.tupe;
      const inputs = {
        position: tableOf(normalized(t.position_table, t.gamma, t.beta, t.eps)),
        positionQuery: linearOf(t.position_query_weight, t.position_query_bias),
        positionKey: linearOf(t.position_key_weight, t.position_key_bias),
      };
      close(run({ scheme: 'tupe-a', ...inputs }).logits, t.tupe_a_logits);
      const relative = { scheme: 'tupe-r', ...inputs, buckets: t.buckets, maxDistance: t.max_distance };
      close(run({ ...relative, bias: tableOf(t.bias_table) }).logits, t.tupe_r_logits_code);
      const reset = t.bias_table.map((row, at) =>
        at === t.buckets / 2 || at === t.buckets ? row.map(() => 0) : row,
      );
      close(run({ ...relative, bias: tableOf(reset) }).logits, t.tupe_r_logits_paper);
    });

    test('DIET-ABS and DIET-REL', () => {
      const { position_query, position_key, relative, ...logits } = oracle.diet;
      const absolute = { positionQuery: sideBySide(position_query), positionKey: sideBySide(position_key) };
      const d_position = absolute.positionQuery.columns / heads;
      close(run({ scheme: 'diet-abs', d_position, ...absolute }).logits, logits.diet_abs_logits);
      const bias = tableOf(transposed(relative));
      expect(bias.rows).toBe(2 * n - 1);
      close(run({ scheme: 'diet-rel', clip: n - 1, bias }).logits, logits.diet_rel_logits);
    });
  });

  describe('what a score asks about', () => {
    /** The content is each query next to its key, and W_Q and W_K pick out the two halves. */
    const optionsOf = ({ query, key, scale }: { query: Matrix; key: Matrix; scale: number }) => {
      const width = (query[0] as number[]).length;
      const block = (at: number) => ({
        weight: tableOf(
          Array.from({ length: width }, (_, row) =>
            Array.from({ length: 2 * width }, (_, column) => Number(column === at + row)),
          ),
        ),
      });
      const content = tableOf(query.map((row, i) => [...row, ...(key[i] as number[])]));
      return { content, heads: 1, query: block(0), key: block(width), scale, terms: 'anova' };
    };
    const run = (input: object) => superpose.schemeScores(input as SchemeInput);
    const closeTerms = (ours: SchemeScores, theirs: Record<string, Matrix>, causal: boolean) => {
      const n = ours.n;
      for (const [name, expected] of Object.entries(theirs)) {
        const at = ours.termNames.indexOf(name as never) * n * n;
        // The oracle subtracts from each row its mean over the keys that the query sees.
        const rows = Array.from({ length: n }, (_, i) => {
          const row = ours.terms.subarray(at + i * n, at + (i + 1) * n);
          const seen = row.subarray(0, causal ? i + 1 : n);
          const mean = seen.reduce((sum, x) => sum + x, 0) / seen.length;
          return Array.from(row, (x, j) => (j < seen.length ? x - mean : 0));
        });
        close(rows.flat(), expected);
      }
    };

    test.each(anova.rope)('RoPE, base $base, causal $causal', (example) => {
      const { base, causal, terms, shares } = example;
      const ours = run({ ...optionsOf(example), scheme: 'rope', base, causal });
      closeTerms(ours, terms, causal);
      for (const [name, share] of Object.entries(shares))
        expect(ours.shares[ours.termNames.indexOf(name as never)]).toBeCloseTo(share, 12);
    });

    test.each(anova.others)('schemes that do not rotate, causal $causal', (example) => {
      const width = (example.query[0] as number[]).length;
      const identity = Array.from({ length: width }, (_, row) =>
        Array.from({ length: width }, (_, column) => Number(row === column)),
      );
      // Each row of `distances` is a query's row next to a key's row.
      const half = (of: (row: number[]) => number[]) => ({ weight: tableOf(identity.map(of)) });
      const none = new Array<number>(width).fill(0);
      const schemes: Record<string, object> = {
        alibi: { scheme: 'alibi' },
        bias: {
          scheme: 'diet-rel',
          clip: (example.bias.length - 1) / 2,
          bias: tableOf(example.bias.map((x) => [x]).reverse()),
        },
        diet_abs: {
          scheme: 'diet-abs',
          d_position: (example.position_query[0] as number[]).length,
          positionQuery: tableOf(example.position_query),
          positionKey: tableOf(example.position_key),
        },
        shaw: {
          scheme: 'shaw',
          clip: (example.shaw_keys.length - 1) / 2,
          offsetKeys: tableOf(example.shaw_keys),
        },
        transformer_xl: {
          scheme: 'transformer-xl',
          d_offset: width,
          offsets: tableOf([...example.offsets].reverse()),
          offsetKey: { weight: tableOf(identity) },
          u: Float64Array.from(example.u),
          v: Float64Array.from(example.v),
        },
        deberta: {
          scheme: 'deberta',
          clip: example.distance_queries.length / 2,
          distances: tableOf(
            example.distance_queries.map((row, at) => [...row, ...(example.distance_keys[at] as number[])]),
          ),
          positionQuery: half((row) => [...row, ...none]),
          positionKey: half((row) => [...none, ...row]),
        },
      };
      expect(Object.keys(example.schemes).sort()).toEqual(Object.keys(schemes).sort());
      for (const [name, { score, terms }] of Object.entries(example.schemes)) {
        const ours = run({ ...optionsOf(example), ...schemes[name], causal: example.causal });
        // A causal layer never reads the logits above the diagonal, where ALiBi's bias may have either sign.
        const isRead = (_: number, k: number) => !example.causal || k % ours.n <= Math.floor(k / ours.n);
        close(ours.logits.filter(isRead), flat(score).filter(isRead));
        closeTerms(ours, terms, example.causal);
      }
    });
  });

  describe.each(rotary.cases)('rotary over $heads heads of $x.length tokens', (oracle) => {
    const shared = {
      content: tableOf(oracle.x),
      heads: oracle.heads,
      query: linearOf(oracle.query_weight),
      key: linearOf(oracle.key_weight),
    };

    // Scores do not depend on the first position, but rotated rows do.
    test('queries and keys, turned by their positions', () => {
      const { rotated_query, rotated_key, rotated_query_half_split } = oracle.rope;
      const rotated = (linear: Linear<Float64Array>, layout?: 'concatenated') => {
        const rows = tableOf(oracle.x.map((row) => [...apply(linear, row)]));
        return superpose.rotate({ rows, heads: oracle.heads, ...(layout && { layout }) }).data;
      };
      close(rotated(shared.query), [...sideBySide(rotated_query).data]);
      close(rotated(shared.key), [...sideBySide(rotated_key).data]);
      close(rotated(shared.query, 'concatenated'), [...sideBySide(rotated_query_half_split).data]);
    });

    test('RoPE, interleaved and half-split', () => {
      const { logits, logits_half_split } = oracle.rope;
      close(superpose.schemeScores({ scheme: 'rope', ...shared }).logits, logits);
      close(
        superpose.schemeScores({ scheme: 'rope', layout: 'concatenated', ...shared }).logits,
        logits_half_split,
      );
    });

    test('decoupled RoPE', () => {
      const { rotary_query_weight, rotary_key_weight, content, position, logits } = oracle.decoupled_rope;
      const ours = superpose.schemeScores({
        scheme: 'decoupled-rope',
        d_rotary: rotary_query_weight.length / oracle.heads,
        ...shared,
        rotaryQuery: linearOf(rotary_query_weight),
        rotaryKey: linearOf(rotary_key_weight),
      });
      close(ours.logits, logits);
      close(
        ours.terms,
        content.flatMap((head, h) => [head, position[h] as Matrix]),
      );
      expect(Math.max(...ours.residuals)).toBeLessThan(1e-12);
    });
  });

  describe('geometry', () => {
    const relative = (ours: number, oracle: number, bound = 1e-10): void => {
      expect(Math.abs(ours - oracle)).toBeLessThanOrEqual(bound * Math.abs(oracle));
    };

    test('the cosine law', () => {
      for (const { d, t, density, mean_absolute, thresholds, tail } of geometry.cosine_law) {
        if (d < 2) continue;
        t.forEach((at, k) => {
          relative(superpose.cosineDensity({ t: at, d }), (density as unknown as number[])[k] as number);
        });
        relative(superpose.cosineMeanSize({ d }), mean_absolute);
        thresholds.forEach((epsilon, k) => {
          relative(superpose.cosineTail({ epsilon, d }), tail[k] as number);
        });
      }
      for (const { d, m, poisson } of geometry.largest_of_m) {
        if (d >= 2) relative(superpose.largestCosineMedian({ pairs: m, d }), poisson);
      }
    });

    test('what to expect of random subspaces', () => {
      for (const { d, k1, k2, ...chance } of geometry.wachter) {
        const ours = superpose.chanceAngles({ d, k1, k2 });
        expect(Math.abs(ours.lowestCosine - chance.cos_low)).toBeLessThan(1e-12);
        expect(Math.abs(ours.highestCosine - chance.cos_high)).toBeLessThan(1e-12);
        expect(ours.zeroAngles).toBe(chance.zero_angles);
        relative(ours.cosineSquares, chance.expected_sum_of_squared_cosines, 1e-15);
      }
    });

    test('energy-weighted overlap', () => {
      for (const { e, p, raw, centred } of geometry.overlaps) {
        const tables = { tokens: tableOf(e), positions: tableOf(p) };
        if (raw !== null) relative(superpose.energyOverlap(tables), raw);
        if (centred !== null)
          expect(Math.abs(superpose.energyOverlap({ ...tables, centred: true }) - centred)).toBeLessThan(
            1e-12,
          );
      }
    });

    test('recovery of both summands', () => {
      for (const { u, w, possible, gain, recovery } of geometry.recovery) {
        const ours = superpose.obliqueProjection({ u: tableOf(u), w: tableOf(w) });
        expect(ours.exact).toBe(possible);
        if (gain === null || recovery === null) continue;
        relative(ours.gain, gain as number);
        close((ours.projector as Table<Float64Array>).data, recovery as number[][], 1e-10 * (gain as number));
      }
    });
  });
});
