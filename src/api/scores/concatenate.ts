import type { Heads } from '../../wasm/bound.js';
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, type Linear, roundedIn, type Table } from '../table.js';
import { fitsScores, type Scores } from './scores.js';

interface TokenAndPosition<A extends Floats> {
  /** Token embeddings, [n, d_t]. */
  token: Table<A>;
  /** Position embeddings, [n, d_p]; any width. */
  position: Table<A>;
}

export interface ConcatenateRawInput<A extends Floats = Floats> extends TokenAndPosition<A> {
  /** ρ, any finite number. Default 1. */
  positionScale?: number;
}

export interface ConcatenateFullInput<A extends Floats = Floats> extends TokenAndPosition<A> {
  /** W_Q [heads · d_h, d_t + d_p], the token's columns first, and its bias. */
  query: Linear<A>;
  /** W_K, likewise. */
  key: Linear<A>;
  /** Heads; they divide the rows of the weights. */
  heads: number;
  /** Default 1/√d_h. */
  scale?: number;
  /** Which heads to return. Default all. */
  only?: readonly number[];
}

export interface ConcatenateBlockDiagonalInput<A extends Floats = Floats> extends TokenAndPosition<A> {
  /** The token's W_Q [heads · d_ht, d_t]. */
  tokenQuery: Table<A>;
  /** The token's W_K, likewise. */
  tokenKey: Table<A>;
  /** The position's W_Q [heads · d_hp, d_p]. */
  positionQuery: Table<A>;
  /** The position's W_K, likewise. */
  positionKey: Table<A>;
  /** Heads; they divide the rows of the weights. */
  heads: number;
  /** Default 1/√(d_ht + d_hp). */
  scale?: number;
  /** Which heads to return. Default all. */
  only?: readonly number[];
}

/** The three things that "concatenate the position" can mean for an attention score. */
export interface ConcatenateApi {
  /** [x; ρp]·[y; ρq] without weights, one head: token and position terms, no cross terms. */
  concatenateRaw<A extends Floats>(input: ConcatenateRawInput<A>): Scores<A>;
  /**
   * Any W_Q, W_K on the joined vector: four terms from four blocks W_Qaᵀ W_Kb, and a constant part if there
   * is a bias. Adding is the case where the two blocks of each weight are equal.
   */
  concatenateFull<A extends Floats>(input: ConcatenateFullInput<A>): Scores<A>;
  /** Separate projections and head dimensions: a sum of two scores (TUPE, arXiv 2006.15595, eq. 7). */
  concatenateBlockDiagonal<A extends Floats>(input: ConcatenateBlockDiagonalInput<A>): Scores<A>;
}

export function concatenateApi(raw: RawModule): ConcatenateApi {
  return {
    concatenateRaw<A extends Floats>(input: ConcatenateRawInput<A>): Scores<A> {
      const { n, token, position } = rows(input);
      const scale = check.representable(
        'positionScale',
        input.positionScale ?? 1,
        check.isSingle(token.data),
      );
      fitsScores(n, 2, 1, token.columns + position.columns, token.data);
      const result = raw.concatenateRaw(token, position, scale, [0]);
      return { n, heads: [0], parts: ['token', 'position'], ...ungauged, ...inType<A>(result, token) };
    },

    concatenateFull<A extends Floats>(input: ConcatenateFullInput<A>): Scores<A> {
      const { n, token, position } = rows(input);
      const { query, key } = input;
      const columns = token.columns + position.columns;
      check.linear('query', query, { columns });
      check.linear('key', key, { rows: query.weight.rows, columns });
      check.samePrecision({
        'token.data': token.data,
        'query.weight.data': query.weight.data,
        'query.bias': query.bias,
        'key.weight.data': key.weight.data,
        'key.bias': key.bias,
      });
      const headWidth = check.headWidth(input.heads, query.weight.rows, 'query.weight');
      const scale = check.scale(input.scale, headWidth, check.isSingle(token.data));
      const only = check.chosenHeads(input.only, input.heads);
      const parts = ['token', 'position', ...(query.bias || key.bias ? ['constant'] : [])];
      fitsScores(n, parts.length, only.length, query.weight.rows + columns, token.data, query, key);
      const result = raw.concatenateFull(token, position, query, key, input.heads, scale, only);
      return { n, heads: only, parts, ...ungauged, ...inType<A>(result, token) };
    },

    concatenateBlockDiagonal<A extends Floats>(input: ConcatenateBlockDiagonalInput<A>): Scores<A> {
      const { n, token, position } = rows(input);
      const { tokenQuery, tokenKey, positionQuery, positionKey } = input;
      check.table('tokenQuery', tokenQuery, { columns: token.columns });
      check.table('tokenKey', tokenKey, { rows: tokenQuery.rows, columns: token.columns });
      check.table('positionQuery', positionQuery, { columns: position.columns });
      check.table('positionKey', positionKey, { rows: positionQuery.rows, columns: position.columns });
      check.samePrecision({
        'token.data': token.data,
        'tokenQuery.data': tokenQuery.data,
        'tokenKey.data': tokenKey.data,
        'positionQuery.data': positionQuery.data,
        'positionKey.data': positionKey.data,
      });
      const headWidth =
        check.headWidth(input.heads, tokenQuery.rows, 'tokenQuery') +
        check.headWidth(input.heads, positionQuery.rows, 'positionQuery');
      if (headWidth === 0) throw new RangeError('tokenQuery and positionQuery must not both have 0 rows.');
      const scale = check.scale(input.scale, headWidth, check.isSingle(token.data));
      const only = check.chosenHeads(input.only, input.heads);
      const weights = [tokenQuery, tokenKey, positionQuery, positionKey];
      fitsScores(n, 2, only.length, 2 * headWidth * input.heads, token.data, ...weights);
      const result = raw.concatenateBlockDiagonal(
        token,
        position,
        tokenQuery,
        tokenKey,
        positionQuery,
        positionKey,
        input.heads,
        scale,
        only,
      );
      return { n, heads: only, parts: ['token', 'position'], ...ungauged, ...inType<A>(result, token) };
    },
  };
}

const inType = <A extends Floats>(result: Heads, { data }: Table): Heads<A> =>
  roundedIn(result, ['terms', 'logits'], check.isSingle(data)) as Heads<A>;

/** The gauge of tables as they are. */
const ungauged = { gauge: 'raw', apart: [] } as const;

function rows<A extends Floats>(input: TokenAndPosition<A>) {
  check.object('input', input);
  const { token, position } = input;
  check.table('token', token);
  check.table('position', position, { rows: token.rows });
  check.samePrecision({ 'token.data': token.data, 'position.data': position.data });
  return { n: token.rows, token, position };
}
