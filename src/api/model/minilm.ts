// all-MiniLM-L6-v2, opened like any other BERT, from files so small that a page fetches only what it needs.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { Table } from '../table.js';
import type { MiniLMOptions } from './minilmFiles.js';
import type { ModelInput, OpenedModel, PositionChange } from './openedModel.js';

/** The three tables that BERT adds up, each [n, 384]. */
export type Summands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

export interface MiniLM extends OpenedModel {
  /** Heads of a layer: 12. */
  readonly heads: number;
  /** See OpenedModel. */
  rows(input: ModelInput): Promise<Summands>;
  /** See OpenedModel. */
  changed(input: ModelInput, change: PositionChange): Promise<Summands>;
}

/** Loads the tokenizer and the first layer; rows of the tables are read when a sentence needs them. */
export async function loadMiniLM(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<MiniLM> {
  check.reading(superpose);
  check.knownOptions('options', options, { from: true, read: true, rest: true });
  // A page’s first figure does without.
  const { opened } = await import('./minilmFiles.js');
  // A BERT sums these three tables.
  return opened(superpose, options) as Promise<object> as Promise<MiniLM>;
}
