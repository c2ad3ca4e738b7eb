import * as check from '../check.js';
import type { RawModule } from '../module.js';

export interface BucketOptions {
  /** Whether keys after the query have buckets of their own. Default true. */
  bidirectional?: boolean;
  /** How many buckets: even and at least 4 when bidirectional, otherwise at least 2. Default 32. */
  buckets?: number;
  /**
   * The distance at which the last bucket begins. It must be above the number of exact buckets in a
   * direction, which is a quarter of `buckets`, or half when one-directional. Default 128.
   */
  maxDistance?: number;
}

export interface RelativePositionApi {
  /** ALiBi's m_h, [heads], for any number of heads (arXiv 2108.12409, section 3; get_slopes). */
  alibiSlopes(heads: number): Float64Array;
  /** T5's bucket of j − i for query i and key j, [n, n] (mesh_tensorflow, _relative_position_bucket). */
  t5Buckets(options: BucketOptions & { n: number }): Int32Array;
}

export function checkBuckets(options: BucketOptions) {
  const { bidirectional = true, buckets = 32, maxDistance = 128 } = options;
  check.flag('bidirectional', bidirectional);
  check.integer('buckets', buckets, bidirectional ? 4 : 2);
  if (bidirectional && buckets % 2 !== 0) {
    check.refuse('buckets', 'even when bidirectional', buckets);
  }
  const exact = Math.floor((bidirectional ? buckets / 2 : buckets) / 2);
  check.integer('maxDistance', maxDistance, exact + 1);
  return { bidirectional, buckets, maxDistance };
}

export function relativePositionApi(raw: RawModule): RelativePositionApi {
  return {
    alibiSlopes: (heads) => raw.alibiSlopes(check.integer('heads', heads, 1)),
    t5Buckets(options) {
      check.object('options', options);
      const buckets = checkBuckets(options);
      const n = check.integer('n', options.n, 0);
      check.fits(`The buckets of ${n} tokens`, 8 * n * n);
      return raw.t5Buckets(n, buckets);
    },
  };
}
