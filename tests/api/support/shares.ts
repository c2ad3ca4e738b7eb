// Shares over several sentences: of all heads together, or head by head.
import type { Scores } from 'superpose';
import { mean } from './numbers.ts';

/** Covariances and variances of each head, added up over sentences. */
export interface Pool {
  /** [heads][terms] */
  covariances: number[][];
  /** [heads] */
  variances: number[];
}

export function pool(all: readonly Scores[]): Pool {
  const { heads, parts } = all[0] as Scores;
  const count = parts.length ** 2;
  const total = (of: (scores: Scores) => number) => all.reduce((sum, scores) => sum + of(scores), 0);
  return {
    covariances: heads.map((_, head) =>
      Array.from({ length: count }, (_, t) =>
        total(({ covariances }) => covariances[head * count + t] as number),
      ),
    ),
    variances: heads.map((_, head) => total(({ variances }) => variances[head] as number)),
  };
}

/** [terms], over all heads and sentences: heads with large scores count most. */
export function pooledShares({ covariances, variances }: Pool): number[] {
  const all = variances.reduce((sum, x) => sum + x, 0);
  return (covariances[0] ?? []).map(
    (_, t) => covariances.reduce((sum, head) => sum + (head[t] as number), 0) / all,
  );
}

/** [heads][terms] */
export const sharesByHead = ({ covariances, variances }: Pool): number[][] =>
  covariances.map((terms, head) => terms.map((c) => c / (variances[head] as number)));

/** [terms], with every head counting the same. */
export const meanShares = (byHead: readonly number[][]): number[] =>
  (byHead[0] ?? []).map((_, t) => mean(byHead.map((shares) => shares[t] as number)));
