// Every way to give attention positions, over the same content: logits, and the terms that add up to them.
// Adding with LayerNorm and segments is in decompose.ts.
import * as check from '../check.js';
import { type BucketOptions, checkBuckets } from '../encodings/relativePosition.js';
import { evenWidth, type RotaryConvention, rotaryConvention } from '../encodings/rotary.js';
import type { First } from '../first.js';
import type { Raw } from '../module.js';
import { type Floats, type Linear, rounded, type Table, table } from '../table.js';
import { askedTerms, type SchemeId, type SchemeScores, schemeIds } from './schemeTerms.js';

/** What all schemes share. */
export interface SchemeBase<A extends Floats = Floats> {
  /** Which scheme. */
  scheme: SchemeId;
  /** Token embeddings, [n, d]. */
  content: Table<A>;
  /** From 1; it divides the rows of query and key. */
  heads: number;
  /** W_Q [heads · d_h, d] and its bias. Left out, it is drawn from N(0, 1/d), with d_h = d_head. */
  query?: Linear<A>;
  /** W_K, likewise. */
  key?: Linear<A>;
  /** d_h, when query is left out. Default d / heads, rounded down, at least 1. */
  d_head?: number;
  /** Replaces the scheme's own factor, such as 1/√d_h; any finite number. Default: the scheme's. */
  scale?: number;
  /** Which heads to return. Default all. */
  only?: readonly number[];
  /** Whether query i sees only the keys j ≤ i. Default: as the scheme is published. */
  causal?: boolean;
  /**
   * Which terms: the scheme's own, or what they ask about, by one rule for all schemes: a term asks about what
   * it varies with, all means removed. The words of `content` are taken as equally likely at every place. Then
   * `termNames` are those of `askedTerms` for every scheme. Default own.
   */
  terms?: 'own' | 'asked';
  /** Seed of the learned parts that are drawn, from 0 to 2³²-1. Default 0. */
  seed?: number;
  /** Standard deviation of the drawn tables and vectors, at least 0. Default 0.02. Drawn weights: 1/√in. */
  standardDeviation?: number;
}

/** Content alone; not causal by default. Scale 1/√d_h. */
export interface NoPositionInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** No position at all. */
  scheme: 'none';
}

/** What adding and concatenating share. */
interface PositionTable<A extends Floats> {
  /** [n, d_p]; [n, d] when it is added. Left out, it is drawn. */
  position?: Table<A>;
  /** ρ, any finite number: the positions are multiplied by it. Default 1. */
  positionScale?: number;
}

/** W_Q(x_i + p_i) · W_K(x_j + p_j) / √d_h: four terms, a bias with the content. */
export interface AddedInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** One projection of the sum. */
  scheme: 'added';
}

/** x_i · x_j + p_i · p_j, scale 1: W_Q and W_K are not used, so all heads are alike. */
export interface ConcatenatedRawInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** Side by side, no weights. */
  scheme: 'concatenated-raw';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
}

/**
 * [W_Q U_Q][x_i; p_i] · [W_K U_K][x_j; p_j] / √d_h: four terms, a bias with the content. This is wide when d
 * + d_p exceeds the model's width, narrow when content and position share that width.
 */
export interface ConcatenatedFullInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** Side by side, any weights. */
  scheme: 'concatenated-full';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
  /** U_Q, the position's columns of the joint weight, [heads · d_h, d_p]; the bias is query's. */
  positionQuery?: Linear<A>;
  /** U_K, likewise. */
  positionKey?: Linear<A>;
}

/** (q_i · k_j + U_Q p_i · U_K p_j) / √(d_h + d_hp): a sum of two scores (arXiv 2006.15595, eq. 7). */
export interface ConcatenatedBlockDiagonalInput<A extends Floats = Floats>
  extends SchemeBase<A>,
    PositionTable<A> {
  /** Side by side, with separate projections and head channels. */
  scheme: 'concatenated-block-diagonal';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
  /** d_hp, when positionQuery is left out. Default d_h. */
  d_position_head?: number;
  /** U_Q [heads · d_hp, d_p] and its bias. */
  positionQuery?: Linear<A>;
  /** U_K, likewise. */
  positionKey?: Linear<A>;
}

/** q_i · (k_j + a_clip(j−i)) / √d_h (arXiv 1803.02155, eq. 4). */
export interface ShawInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Relative positions in the keys. */
  scheme: 'shaw';
  /** k, from 0. Default 16, or taken from offsetKeys. */
  clip?: number;
  /** [2k + 1, d_h], row clip(j − i) + k, shared by the heads. */
  offsetKeys?: Table<A>;
}

/** ((q_i + u) · k_j + (q_i + v) · W_kR R_{i−j}) / √d_h (arXiv 1901.02860, section 3.3). Causal. */
export interface TransformerXlInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Relative positions with two learned biases. */
  scheme: 'transformer-xl';
  /** R, [2n − 1, d_r], row (i − j) + n − 1. Default: the sinusoid of i − j, sin | cos, of width d. */
  offsets?: Table<A>;
  /** W_kR [heads · d_h, d_r]. */
  offsetKey?: Linear<A>;
  /** u, [heads · d_h]; r_w_bias in the authors' code. */
  u?: A;
  /** v, [heads · d_h]; r_r_bias in the authors' code. */
  v?: A;
}

/** q_i · k_j + b_bucket(j−i), scale 1: T5 has no 1/√d at run time. Causal when not bidirectional. */
export interface T5Input<A extends Floats = Floats> extends SchemeBase<A>, BucketOptions {
  /** A bias for each bucket of offsets. */
  scheme: 't5';
  /** [buckets, heads] */
  bias?: Table<A>;
}

/** q_i · k_j / √d_h − m_h (i − j) (arXiv 2108.12409). Causal by default; otherwise −m_h |i − j|. */
export interface AlibiInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** A penalty that grows with the distance. */
  scheme: 'alibi';
}

/** (q_i · k_j + q_i · k^r_δ(i,j) + k_j · q^r_δ) / √(3 d_h) (arXiv 2006.03654, eq. 4). */
export interface DebertaInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Content and position, disentangled. */
  scheme: 'deberta';
  /** k, from 1. Default 512, or taken from distances. */
  clip?: number;
  /** [2k, d], row δ(i, j) = clamp(i − j + k, 0, 2k − 1). */
  distances?: Table<A>;
  /** [heads · d_h, d], gives q^r. */
  positionQuery?: Linear<A>;
  /** [heads · d_h, d], gives k^r. */
  positionKey?: Linear<A>;
  /** The index of the position-to-content term: δ(j, i) in the paper, δ(i, j) in the released code. */
  convention?: 'paper' | 'released';
}

/** (q_i · k_j + U^Q p_i · U^K p_j) / √(2 d_h), [CLS] reset (arXiv 2006.15595, eqs. 7 to 9). */
export interface TupeInput<A extends Floats = Floats> extends SchemeBase<A>, BucketOptions {
  /** Untied positions; tupe-r adds relative ones. */
  scheme: 'tupe-a' | 'tupe-r';
  /** [n + 1, d], already normalised: rows 0 and 1 give θ₁ and θ₂, token i has row i + 1. */
  position?: Table<A>;
  /** U^Q [heads · d_h, d]; it has a bias in the released code. */
  positionQuery?: Linear<A>;
  /** U^K, likewise. */
  positionKey?: Linear<A>;
  /** Whether row and column 0 are θ₁ and θ₂. Default true; false is the paper's "tie-cls". */
  resetCls?: boolean;
  /**
   * tupe-r only, [buckets + 1, heads]. Row buckets/2 is for [CLS] to any token, row buckets for any token to
   * [CLS]. Added after the reset, as in the released code; zeros in these two rows give equation 9.
   */
  bias?: Table<A>;
}

interface Segments<A extends Floats> {
  /** E_S, [S², heads], row seg_i · S + seg_j. Left out, none. */
  segmentBias?: Table<A>;
  /** [n], from 0 to S − 1. */
  segmentIds?: readonly number[];
}

/** q_i · k_j / √d_h + p^Q_i · p^K_j + E_S: positions are not scaled (arXiv 2104.08698). */
export interface DietAbsoluteInput<A extends Floats = Floats> extends SchemeBase<A>, Segments<A> {
  /** Decoupled absolute positions. */
  scheme: 'diet-abs';
  /** d_p, when the tables are left out. Default d_h. */
  d_position?: number;
  /** [n, heads · d_p] */
  positionQuery?: Table<A>;
  /** [n, heads · d_p] */
  positionKey?: Table<A>;
}

/** q_i · k_j / √d_h + R_clip(i−j) + E_S (arXiv 2104.08698). */
export interface DietRelativeInput<A extends Floats = Floats> extends SchemeBase<A>, Segments<A> {
  /** Decoupled relative positions. */
  scheme: 'diet-rel';
  /** k, from 0. Default 128, or taken from bias. */
  clip?: number;
  /** R, [2k + 1, heads], row clip(i − j) + k. */
  bias?: Table<A>;
}

/** (R_i q_i) · (R_j k_j) / √d_h (arXiv 2104.09864); d_h even. */
export interface RopeInput<A extends Floats = Floats> extends SchemeBase<A>, RotaryConvention {
  /** Queries and keys turned by their positions. */
  scheme: 'rope';
}

/** [q_i; R_i q^r_i] · [k_j; R_j k^r_j] / √(d_h + d_r) (DeepSeek-V2, arXiv 2405.04434). Causal. */
export interface DecoupledRopeInput<A extends Floats = Floats> extends SchemeBase<A>, RotaryConvention {
  /** Content and a rotary part, concatenated. */
  scheme: 'decoupled-rope';
  /** d_r, even, when rotaryQuery is left out. Default 2⌈d_h/4⌉. */
  d_rotary?: number;
  /** [heads · d_r, d] */
  rotaryQuery?: Linear<A>;
  /** [d_r, d], one for all heads, or [heads · d_r, d]. */
  rotaryKey?: Linear<A>;
}

export type SchemeInput<A extends Floats = Floats> =
  | NoPositionInput<A>
  | AddedInput<A>
  | ConcatenatedRawInput<A>
  | ConcatenatedFullInput<A>
  | ConcatenatedBlockDiagonalInput<A>
  | ShawInput<A>
  | TransformerXlInput<A>
  | T5Input<A>
  | AlibiInput<A>
  | DebertaInput<A>
  | TupeInput<A>
  | DietAbsoluteInput<A>
  | DietRelativeInput<A>
  | RopeInput<A>
  | DecoupledRopeInput<A>;

export interface SchemesApi {
  /**
   * The logits of a scheme, and their terms. Learned parts that are left out are drawn: equal inputs and
   * seeds give equal scores. Computed in double, then returned in the arrays' element type. Throws RangeError
   * or TypeError before allocating.
   */
  schemeScores<A extends Floats>(input: SchemeInput<A>): SchemeScores<A>;
}

/** Random streams of the drawn parts: one each, so that giving one part does not change another. */
const parts = [
  'query',
  'key',
  'offsetKeys',
  'offsetKey',
  'u',
  'v',
  'bias',
  'distances',
  'positionQuery',
  'positionKey',
  'position',
  'rotaryQuery',
  'rotaryKey',
] as const;
type Part = (typeof parts)[number];

export function schemesApi(raw: Raw, first: First): SchemesApi {
  return {
    schemeScores<A extends Floats>(input: SchemeInput<A>): SchemeScores<A> {
      check.object('input', input);
      const id = check.oneOf('scheme', input.scheme, schemeIds);
      const { content } = input;
      check.table('content', content);
      const [n, d] = [content.rows, content.columns];
      const heads = check.integer('heads', input.heads, 1);
      const seed = check.seed('seed', input.seed ?? 0);
      const precision = content.data instanceof Float32Array ? 'float32' : 'float64';
      const given = input.standardDeviation ?? 0.02;
      const deviation = check.representable('standardDeviation', given, precision === 'float32', 0);
      const only = check.chosenHeads(input.only, heads);
      const arrays: Record<string, Floats | undefined> = { 'content.data': content.data };

      // Given parts are checked here; the others are drawn at the end, when all sizes are known to fit.
      let values = n * d;
      const drawings: (() => void)[] = [];
      const learned: Record<string, unknown> = {};
      const draw = (part: Part, rows: number, columns: number, sigma: number): A =>
        first.randomNormal({
          rows,
          columns,
          standardDeviation: sigma,
          seed,
          stream: parts.indexOf(part),
          precision,
        }).data as A;
      const tablePart = (name: Part, given: Table | undefined, rows: number, columns: number) => {
        values += rows * columns;
        if (given) {
          check.table(name, given, { rows, columns });
          arrays[`${name}.data`] = given.data;
          learned[name] = given;
        } else {
          drawings.push(() => {
            learned[name] = table(draw(name, rows, columns, deviation), rows, columns);
          });
        }
      };
      const linearPart = (name: Part, given: Linear | undefined, rows: number, columns: number) => {
        values += rows * (columns + n);
        if (given) {
          check.linear(name, given, { rows, columns });
          arrays[`${name}.weight.data`] = given.weight.data;
          arrays[`${name}.bias`] = given.bias;
          learned[name] = given;
        } else {
          drawings.push(() => {
            const weight = table(draw(name, rows, columns, 1 / Math.sqrt(columns)), rows, columns);
            learned[name] = { weight };
          });
        }
      };
      const vectorPart = (name: Part, given: Floats | undefined, size: number) => {
        if (given) {
          arrays[name] = check.floats(name, given, size);
          learned[name] = given;
        } else {
          drawings.push(() => {
            learned[name] = draw(name, 1, size, deviation);
          });
        }
      };

      if (input.query) check.linear('query', input.query);
      const headWidth = input.query
        ? check.headWidth(heads, input.query.weight.rows, 'query.weight')
        : check.integer('d_head', input.d_head ?? Math.max(1, Math.floor(d / heads)), 1);
      const all = headWidth * heads;
      linearPart('query', input.query, all, d);
      linearPart('key', input.key, all, d);

      const options: Record<string, unknown> = {};
      let causal = false;
      let divisor = headWidth;
      let terms = 2;
      if (input.scheme === 'none') terms = 1;
      if (
        input.scheme === 'added' ||
        input.scheme === 'concatenated-raw' ||
        input.scheme === 'concatenated-full' ||
        input.scheme === 'concatenated-block-diagonal'
      ) {
        const { position } = input;
        options.positionScale = check.representable(
          'positionScale',
          input.positionScale ?? 1,
          precision === 'float32',
        );
        if (position) check.table('position', position);
        const asked = input.scheme === 'added' ? d : (input.d_position ?? position?.columns ?? d);
        const width = check.integer('d_position', asked, 1);
        tablePart('position', position, n, width);
        terms = 4;
        let queries = all;
        if (input.scheme === 'concatenated-raw') {
          terms = 2;
          divisor = 1;
          queries = heads * (d + width);
        }
        if (input.scheme === 'concatenated-full') {
          for (const name of ['positionQuery', 'positionKey'] as const) {
            linearPart(name, input[name], all, width);
            if (input[name]?.bias)
              throw new RangeError(`${name} must have no bias; the joined weight's goes with query or key.`);
          }
        }
        if (input.scheme === 'concatenated-block-diagonal') {
          const { positionQuery, positionKey } = input;
          if (positionQuery) check.linear('positionQuery', positionQuery);
          const own = positionQuery
            ? check.headWidth(heads, positionQuery.weight.rows, 'positionQuery.weight')
            : check.integer('d_position_head', input.d_position_head ?? headWidth, 1);
          linearPart('positionQuery', positionQuery, heads * own, width);
          linearPart('positionKey', positionKey, heads * own, width);
          terms = 2;
          divisor = headWidth + own;
          queries = all + heads * own;
        }
        // Queries and keys of each part and of the joint weight, and the joined tables.
        values += 12 * n * queries + n * (d + width);
      }
      if (input.scheme === 'shaw') {
        const clip = clipOf(input.clip, halfRows('offsetKeys', input.offsetKeys, 1), 16, 0);
        tablePart('offsetKeys', input.offsetKeys, 2 * clip + 1, headWidth);
        values += n * (2 * clip + 1) + (2 * clip + 1) * all;
      }
      if (input.scheme === 'transformer-xl') {
        causal = true;
        terms = 4;
        const rows = Math.max(2 * n - 1, 0);
        if (input.offsets) {
          check.table('offsets', input.offsets, { rows });
          arrays['offsets.data'] = input.offsets.data;
        }
        const given = input.offsets;
        const columns = given ? given.columns : d;
        drawings.push(() => {
          learned.offsets =
            given ??
            first.sinusoidal({
              positions: rows,
              d_model: d,
              layout: 'concatenated',
              spacing: 'd_model',
              firstPosition: 1 - n,
              precision,
            });
        });
        linearPart('offsetKey', input.offsetKey, all, columns);
        vectorPart('u', input.u, all);
        vectorPart('v', input.v, all);
        values += rows * (columns + all + n) + 6 * n * all;
      }
      if (input.scheme === 't5') {
        Object.assign(options, checkBuckets(input));
        causal = input.bidirectional === false;
        divisor = 1;
        tablePart('bias', input.bias, options.buckets as number, heads);
      }
      if (input.scheme === 'alibi') causal = true;
      if (input.scheme === 'deberta') {
        terms = 3;
        divisor = 3 * headWidth;
        const clip = clipOf(input.clip, halfRows('distances', input.distances, 0), 512, 1);
        tablePart('distances', input.distances, 2 * clip, d);
        linearPart('positionQuery', input.positionQuery, all, d);
        linearPart('positionKey', input.positionKey, all, d);
        options.convention = check.placeOf('convention', input.convention ?? 'paper', ['paper', 'released']);
        values += 2 * clip * (2 * all + 2 * n);
      }
      if (input.scheme === 'tupe-a' || input.scheme === 'tupe-r') {
        divisor = 2 * headWidth;
        Object.assign(options, checkBuckets(input));
        if (!options.bidirectional) check.refuse('bidirectional', 'true for TUPE', false);
        options.resetCls = check.flag('resetCls', input.resetCls ?? true);
        tablePart('position', input.position, n + 1, d);
        linearPart('positionQuery', input.positionQuery, all, d);
        linearPart('positionKey', input.positionKey, all, d);
        values += (n + 1) ** 2 * (heads + 1);
        if (input.scheme === 'tupe-r') {
          terms = 3;
          tablePart('bias', input.bias, (options.buckets as number) + 1, heads);
        } else if (input.bias) {
          throw new RangeError('bias belongs to tupe-r; tupe-a has none.');
        }
      }
      if (input.scheme === 'diet-abs' || input.scheme === 'diet-rel') {
        const { segmentBias, segmentIds } = input;
        if (segmentBias || segmentIds) {
          terms = 3;
          check.table('segmentBias', segmentBias, { columns: heads });
          const rows = (segmentBias as Table).rows;
          const count = Math.round(Math.sqrt(rows));
          if (rows < 1 || count ** 2 !== rows) {
            check.refuseCount('segmentBias', 'S² rows, for S segments', rows);
          }
          check.integers('segmentIds', segmentIds, count - 1, n);
          arrays['segmentBias.data'] = (segmentBias as Table).data;
          learned.segmentBias = segmentBias;
          options.segmentIds = segmentIds;
        }
      }
      if (input.scheme === 'diet-abs') {
        const given = input.positionQuery ?? input.positionKey;
        if (given) check.table(input.positionQuery ? 'positionQuery' : 'positionKey', given);
        const columns = given
          ? given.columns
          : heads * check.integer('d_position', input.d_position ?? headWidth, 1);
        check.headWidth(heads, columns, 'positionQuery', 'columns');
        tablePart('positionQuery', input.positionQuery, n, columns);
        tablePart('positionKey', input.positionKey, n, columns);
      }
      if (input.scheme === 'diet-rel') {
        const clip = clipOf(input.clip, halfRows('bias', input.bias, 1), 128, 0);
        tablePart('bias', input.bias, 2 * clip + 1, heads);
      }
      if (input.scheme === 'rope') {
        terms = 1;
        evenWidth('The width of a head', headWidth);
        Object.assign(options, rotaryConvention(input));
      }
      if (input.scheme === 'decoupled-rope') {
        causal = true;
        Object.assign(options, rotaryConvention(input));
        const { rotaryQuery, rotaryKey } = input;
        if (rotaryQuery) check.linear('rotaryQuery', rotaryQuery);
        const turned = rotaryQuery
          ? check.headWidth(heads, rotaryQuery.weight.rows, 'rotaryQuery.weight')
          : check.integer('d_rotary', input.d_rotary ?? 2 * Math.ceil(headWidth / 4), 2);
        evenWidth('The width of a rotary head', turned);
        if (rotaryKey) check.linear('rotaryKey', rotaryKey);
        const perHead = rotaryKey?.weight.rows === heads * turned;
        linearPart('rotaryQuery', rotaryQuery, heads * turned, d);
        linearPart('rotaryKey', rotaryKey, perHead ? heads * turned : turned, d);
        values += 4 * n * (all + heads * turned);
        divisor = headWidth + turned;
      }
      const scale = check.scale(input.scale, divisor, precision === 'float32');
      causal = check.flag('causal', input.causal ?? causal);
      const asked = check.oneOf('terms', input.terms ?? 'own', ['own', 'asked']) === 'asked';
      check.samePrecision(arrays);
      const own = terms;
      if (asked) terms = askedTerms.length;
      const perHead = (2 * terms + (asked ? own : 0) + 6) * n * n;
      // The scheme of the mean token is as large again.
      const inputs = (asked ? 2 : 1) * (4 * values + 2 * n * all);
      check.fits(
        `${only.length} heads of ${terms} terms for ${n} tokens`,
        (only.length * (terms + 2) * n * n + perHead + inputs + own * n * n) * 8,
      );
      for (const drawing of drawings) drawing();
      const request = { content, ...learned, ...options, heads, scale, causal, only, asked };
      const result = raw.schemeScores(id, request);
      for (const name of ['terms', 'logits', 'weights']) {
        result[name] = rounded<A>(result[name], precision === 'float32');
      }
      return { n, heads: only, ...result };
    },
  };
}

/** The k of a table with 2k rows, or with 2k + 1. */
function halfRows(name: string, given: Table | undefined, more: 0 | 1): number | undefined {
  if (!given) return undefined;
  const { rows } = check.table(name, given);
  if (rows % 2 !== more)
    check.refuseCount(name, more ? '2k + 1 rows, an odd number' : '2k rows, an even number', rows);
  return (rows - more) / 2;
}

function clipOf(asked: unknown, given: number | undefined, usual: number, low: number): number {
  return check.integer('clip', asked ?? given ?? usual, low, 2 ** 20);
}
