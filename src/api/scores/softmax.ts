import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface SoftmaxApi {
  /** Each row's softmax, [rows, columns], in double; see combineTerms() for the keys that a query sees. */
  softmax(logits: Table): Table<Float64Array>;
  /**
   * cap · tanh(logit / cap) of each, [rows, columns], in double, as Gemma 2 does before softmax (arXiv 2408.00118,
   * section 2). Throws RangeError, TypeError.
   */
  softCap(logits: Table, cap: number): Table<Float64Array>;
}

export function softmaxApi(raw: RawModule): SoftmaxApi {
  const fits = (what: string, logits: Table): void => {
    const { rows, columns } = check.table('logits', logits);
    check.fits(`${what} of ${rows} rows of ${columns} logits`, 3 * rows * columns * 8);
  };
  return {
    softmax(logits) {
      fits('The softmax', logits);
      return table(raw.softmax(logits), logits.rows, logits.columns);
    },
    softCap(logits, cap) {
      fits('The cap', logits);
      return table(raw.softCap(logits, check.positive('cap', cap)), logits.rows, logits.columns);
    },
  };
}
