// all-MiniLM-L6-v2, opened like any other BERT, from files so small that a page fetches only what it needs.
import * as check from '../check.js';
import type { SmallSuperpose } from '../smallModule.js';
import type { Table } from '../table.js';
import type { MiniLMOptions } from './minilmFiles.js';
import type { OpenedModel, PositionChange } from './openedModel.js';
import type { ModelInput } from './sentences.js';

/** The three tables of rows that BERT sums, [n, 384] each. */
export type Summands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

export interface MiniLM extends OpenedModel {
  /** Heads of a layer: 12. */
  readonly heads: number;
  /** See OpenedModel. */
  rows(input: ModelInput): Promise<Summands>;
  /** See OpenedModel. */
  changed(input: ModelInput, change: PositionChange): Promise<Summands>;
}

/**
 * Loads all-MiniLM-L6-v2: the tokenizer and the first layer at once, and rows of the tables and later layers
 * when they are needed. Throws TypeError, RangeError, and an Error that says which file is missing or
 * damaged.
 *
 * @category Decompose a model
 */
export async function loadMiniLM(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<MiniLM> {
  check.superposeArgument(superpose);
  check.knownOptions('options', options, { from: true, read: true, rest: true });
  // The page's first figure does not need this code.
  const { openMinilm } = await import('./minilmFiles.js');
  // The cast is safe, because a BERT sums these three tables.
  return openMinilm(superpose, options) as Promise<object> as Promise<MiniLM>;
}
