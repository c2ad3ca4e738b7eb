import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface SoftmaxApi {
  /** Each row's softmax, [rows, columns], in double; see combineTerms() for the keys that a query sees. */
  softmax(logits: Table): Table<Float64Array>;
}

export function softmaxApi(raw: RawModule): SoftmaxApi {
  return {
    softmax(logits) {
      const { rows, columns } = check.table('logits', logits);
      check.fits(`The softmax of ${rows} rows of ${columns} logits`, 3 * rows * columns * 8);
      return table(raw.softmax(logits), logits.rows, logits.columns);
    },
  };
}
