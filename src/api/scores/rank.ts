import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, toleranceOf } from '../table.js';

export interface ScoreRanksInput {
  /** Tokens. */
  n: number;
  /** Width of the token table. */
  d_token: number;
  /** Width of the position table. */
  d_position: number;
  /** Width of a head. */
  d_head: number;
  /** Width of the position’s own head when scores are untied. */
  d_position_head: number;
}

export interface ScoreRanks {
  /** min(n, d_head, d_token), for d_position = d_token. */
  readonly added: number;
  /** With any W_Q, W_K on [x; p]: min(n, d_head, d_token + d_position). */
  readonly concatenated: number;
  /** With separate projections: min(n, min(d_head, d_token) + min(d_position_head, d_position)). */
  readonly untied: number;
}

export interface RankApi {
  /** Singular values above `tolerance` (default 1e-10, or 1e-6 for float32) times the largest; 0 for an empty or zero matrix. */
  numericalRank(matrix: Table, tolerance?: number): number;
  /** The largest rank that the logits of one head can have (Chen et al. 2021, arXiv 2104.08698). */
  scoreRanks(input: ScoreRanksInput): ScoreRanks;
}

export function rankApi(raw: RawModule): RankApi {
  return {
    numericalRank(matrix, given) {
      check.table('matrix', matrix);
      const tolerance = given ?? toleranceOf(matrix);
      check.number('tolerance', tolerance, 0, 1);
      check.fits(
        `The singular values of ${matrix.rows} by ${matrix.columns}`,
        4 * matrix.rows * matrix.columns * 8,
      );
      return raw.numericalRank(matrix, tolerance);
    },
    scoreRanks(input) {
      check.object('input', input);
      const { n, d_token, d_position, d_head, d_position_head } = input;
      check.integer('n', n, 0);
      for (const [name, width] of Object.entries({ d_token, d_position, d_head, d_position_head }))
        check.integer(name, width, 1);
      return raw.scoreRanks(n, d_token, d_position, d_head, d_position_head);
    },
  };
}
