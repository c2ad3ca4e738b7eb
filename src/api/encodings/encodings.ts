import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, type FloatsOf, type Precision, rounded, type Table, table } from '../table.js';

interface Precise<P extends Precision> {
  /** Default float64. Angles are formed in double either way. */
  precision?: P;
}

export interface FairseqSinusoidalOptions<P extends Precision = Precision> extends Precise<P> {
  /** How many tokens a sequence may have, from 0. */
  positions: number;
  /** From 4: fairseq divides by zero below that. */
  d_model: number;
  /** From 0; default 1. */
  paddingIdx?: number;
}

export interface BertEmbeddingsInput<A extends Floats = Floats> {
  /** Word embeddings of the tokens, [n, d]. */
  token: Table<A>;
  /** [L, d], L ≥ n: token i has row i. */
  position: Table<A>;
  /** [S, d]; left out, none is added. */
  token_type?: Table<A>;
  /** [n], from 0 to S − 1. Default all 0. */
  tokenTypeIds?: readonly number[];
  /** ρ, any finite number: the positions are multiplied by it. Default 1. */
  positionScale?: number;
}

export interface BertEmbeddings<A extends Floats = Floats> {
  /** [n, d], before LayerNorm. */
  sum: Table<A>;
  /** Its summands, [n, d], as decompose takes them. */
  summands: { token: Table<A>; position: Table<A>; token_type: Table<A> };
}

export interface EncodingsApi {
  /**
   * fairseq's table, [paddingIdx + 1 + positions, d_model]: row paddingIdx is zero, token t has row
   * paddingIdx + 1 + t (sinusoidal_positional_embedding.py).
   */
  fairseqSinusoidal<P extends Precision = 'float64'>(
    options: FairseqSinusoidalOptions<P>,
  ): Table<FloatsOf<P>>;
  /** Token + token type + ρ · position (google-research/bert, embedding_postprocessor). */
  bertEmbeddings<A extends Floats>(input: BertEmbeddingsInput<A>): BertEmbeddings<A>;
}

export function encodingsApi(raw: RawModule): EncodingsApi {
  return {
    fairseqSinusoidal<P extends Precision = 'float64'>(options: FairseqSinusoidalOptions<P>) {
      check.object('options', options);
      const positions = check.integer('positions', options.positions, 0);
      const d = check.integer('d_model', options.d_model, 4);
      const padding = check.integer('paddingIdx', options.paddingIdx ?? 1, 0);
      const rows = padding + 1 + positions;
      const single = check.precision(options.precision ?? 'float64') === 'float32';
      check.fits(`A table of ${rows} positions by ${d} channels`, 3 * rows * d * 8);
      const data = rounded<FloatsOf<P>>(raw.fairseqSinusoidal(positions, d, padding), single);
      return table(data, rows, d);
    },
    bertEmbeddings<A extends Floats>(input: BertEmbeddingsInput<A>) {
      check.object('input', input);
      const { token, position, token_type, tokenTypeIds, positionScale = 1 } = input;
      check.table('token', token);
      const [n, d] = [token.rows, token.columns];
      check.table('position', position, { columns: d });
      if (position.rows < n) {
        check.refuseCount('position', `at least ${n} rows, one for each token`, position.rows);
      }
      if (token_type) check.table('token_type', token_type, { columns: d });
      const types = token_type ?? table(new Float64Array(d), 1, d);
      const ids = check.integers('tokenTypeIds', tokenTypeIds ?? Array<number>(n).fill(0), types.rows - 1, n);
      check.samePrecision({
        'token.data': token.data,
        'position.data': position.data,
        'token_type.data': token_type?.data,
      });
      const single = check.isSingle(token.data);
      check.representable('positionScale', positionScale, single);
      const values = 6 * token.data.length + position.data.length + types.data.length;
      check.fits(`The embeddings of ${n} tokens`, 2 * values * 8);
      const result = raw.bertEmbeddings(token, position, types, ids, positionScale);
      const made = (data: Float64Array) => table(rounded<A>(data, single), n, d);
      return {
        sum: made(result.sum),
        summands: { token, position: made(result.position), token_type: made(result.token_type) },
      };
    },
  };
}
