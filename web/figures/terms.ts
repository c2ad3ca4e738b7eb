// The five terms of a score, as the figures call them: four pairs of token and position, and the rest.
import type { PoolableScores, PooledShares, SmallSuperpose } from 'add-or-concatenate';
import type { Term } from '../plot/scene.js';

export const termLabels = {
  'token-token': 'token → token',
  'token-position': 'token → position',
  'position-token': 'position → token',
  'position-position': 'position → position',
  rest: 'the rest',
} as const satisfies Record<Term, string>;

export const terms = Object.keys(termLabels) as Term[];
export const termKinds = terms.map((term) => ({ label: termLabels[term], term }));

/**
 * For each of the five terms, the numbers of those of a layer's sixteen terms that it sums up. Number 4 s + r
 * is query part s with key part r, of token, position, token_type and constant.
 */
export const ofSixteen: Record<Term, number[]> = {
  'token-token': [0],
  'token-position': [1],
  'position-token': [4],
  'position-position': [5],
  rest: [2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
};

/** For each of the sixteen terms, its place in `terms`. */
export const kindOfSixteen = Array.from({ length: 16 }, (_, number) =>
  terms.findIndex((term) => ofSixteen[term].includes(number)),
);

/**
 * The parts of a layer's input in three groups: token, position and, as the rest, everything else that the
 * family adds up or that earlier layers have written. `summands` are those of the embedding, token and
 * position first.
 */
export function groupsOf(summands: readonly string[], layer: number) {
  const [token = '', position = '', ...others] = summands;
  const written = layer > 0 ? ['attention', 'mlp'] : [];
  return { token: [token], position: [position], rest: [...others, ...written, 'constant'] };
}

const summandsOfMiniLM = ['token', 'position', 'token_type'];
export const groups = groupsOf(summandsOfMiniLM, 0);
export const laterGroups = groupsOf(summandsOfMiniLM, 1);

/**
 * For each of the nine terms of three groups, its place in `terms`; number 3 s + r is query group s with key
 * group r.
 */
export const kindOf = [0, 1, 4, 2, 3, 4, 4, 4, 4];

/** For each of the nine terms, 1 if it is a cross term and 0 if not. */
const isCross = [0, 1, 0, 1, 0, 0, 0, 0, 0];

export interface HeadShares {
  label: string;
  /** The five shares; they sum to 1, or are NaN when the scores do not vary. */
  shares: number[];
  /** The sum of the cross terms' shares. */
  cross: number;
}

/** The shares of scores that were decomposed into three groups, and so have nine terms. */
export const sharedOut = (superpose: SmallSuperpose, scores: readonly PoolableScores[]): HeadShares[] =>
  rowsIn(superpose.poolShares(scores, kindOf), superpose.poolShares(scores, isCross));

/** A row for each head, one for the mean and one for the pooled shares. */
function rowsIn(kindShares: PooledShares, crossShares: PooledShares): HeadShares[] {
  const count = kindShares.heads.length / termKinds.length;
  const labels = [...Array.from({ length: count }, (_, head) => `head ${head}`), 'mean', 'pooled'];
  const all = ({ heads, mean, pooled }: PooledShares) => [...heads, ...mean, ...pooled];
  const [shares, crossed] = [all(kindShares), all(crossShares)];
  return labels.map((label, place) => ({
    label,
    shares: shares.slice(place * termKinds.length, (place + 1) * termKinds.length),
    cross: crossed[2 * place + 1] as number,
  }));
}
