import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, rounded, type Table, table } from '../table.js';

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
  /** Token + token type + ρ · position (google-research/bert, embedding_postprocessor). */
  bertEmbeddings<A extends Floats>(input: BertEmbeddingsInput<A>): BertEmbeddings<A>;
}

export function encodingsApi(raw: RawModule): EncodingsApi {
  return {
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
