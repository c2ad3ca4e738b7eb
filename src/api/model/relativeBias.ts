// A bias by the distance of two tokens, added to the scores: one more part, whose product with itself is the bias.
import type { Scores } from '../scores/scores.js';
import type { Superpose } from '../superpose.js';
import { type Floats, type Table, table } from '../table.js';

/** The name of the part. */
const relative = 'relative';

/**
 * Scores with b[bucket(j − i)] of a table [buckets, heads] added to each head’s logits (MPNet; buckets as T5’s). The
 * part `relative` is last, and all of its terms but that with itself are zero. Shares are of the whole.
 */
export function withRelativeBias<A extends Floats>(
  superpose: Superpose,
  scores: Scores<A>,
  bias: Table<A>,
): Scores<A> {
  const { n, heads, apart } = scores;
  const parts = [...scores.parts, relative];
  const before = scores.parts.length;
  const count = parts.length ** 2;
  const size = n * n;
  const buckets = superpose.t5Buckets({ n, buckets: bias.rows, bidirectional: true, maxDistance: 128 });
  const make = (length: number) => new (scores.terms.constructor as new (length: number) => A)(length);
  const terms = make(heads.length * count * size);
  const logits = scores.logits.slice() as A;
  for (const [place, head] of heads.entries()) {
    for (let term = 0; term < before ** 2; term++) {
      const to = Math.floor(term / before) * parts.length + (term % before);
      const from = (place * before ** 2 + term) * size;
      terms.set(scores.terms.subarray(from, from + size), (place * count + to) * size);
    }
    const last = (place * count + count - 1) * size;
    for (let cell = 0; cell < size; cell++) {
      const added = bias.data[(buckets[cell] as number) * bias.columns + head] as number;
      terms[last + cell] = added;
      logits[place * size + cell] = (logits[place * size + cell] as number) + added;
    }
  }
  const shares = new Float64Array(heads.length * count);
  const variances = new Float64Array(heads.length);
  const whole: Scores<A> = {
    ...scores,
    ...{ parts, terms, logits, shares, variances, covariances: new Float64Array(heads.length * count) },
  };
  const covariances = whole.covariances;
  for (const [place, head] of heads.entries()) {
    variances[place] = variance(superpose, logits.slice(place * size, (place + 1) * size) as A, n, apart);
    for (let term = 0; term < count; term++) {
      const one = Array.from({ length: count }, (_, at) => at === term);
      const { share } = superpose.combineTerms(whole, head, one);
      shares[place * count + term] = share;
      covariances[place * count + term] =
        (variances[place] as number) && share * (variances[place] as number);
    }
  }
  return whole;
}

/** ‖Ã‖² of logits [n, n]: those of queries that are their rows, and of keys that are the identity’s. */
function variance<A extends Floats>(
  superpose: Superpose,
  logits: A,
  n: number,
  apart: readonly number[],
): number {
  const make = () => new (logits.constructor as new (length: number) => A)(n * n);
  const [identity, turned] = [make(), make()];
  for (let i = 0; i < n; i++) {
    identity[i * n + i] = 1;
    for (let j = 0; j < n; j++) turned[j * n + i] = logits[i * n + j] as number;
  }
  const same = table(identity, n, n);
  const { variances } = superpose.decompose<A>({
    summands: { x: same },
    query: { weight: table(turned, n, n) },
    key: { weight: same },
    heads: 1,
    scale: 1,
    apart,
  });
  return variances[0] as number;
}
