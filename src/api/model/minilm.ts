// all-MiniLM-L6-v2, opened like any other BERT, from files so small that a page fetches only what it needs.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { Table } from '../table.js';
import type { Told } from './modelOver.js';
import type { ModelInput, OpenedModel, PositionChange } from './openedModel.js';
import { type MiniLMOptions, manifestIn, parsedReader } from './packedFiles.js';

/** The three tables that BERT adds up, each [n, 384]. */
export type Summands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

export interface MiniLM extends Omit<OpenedModel, Told | 'rows' | 'changed'> {
  /** Heads of a layer: 12. */
  readonly heads: number;
  /** Bytes of each of the six layers’ own files, which are fetched when they are run. */
  readonly layerBytes: readonly number[];
  /** See OpenedModel. */
  rows(input: ModelInput): Promise<Summands>;
  /** See OpenedModel. */
  changed(input: ModelInput, change: PositionChange): Promise<Summands>;
}

/** Loads the tokenizer and the first layer; rows of the tables are read when a sentence needs them. */
export async function loadMiniLM(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<MiniLM> {
  check.reading(superpose, options);
  const read = await parsedReader(superpose, options);
  // A page’s first figure does without.
  const [manifest, { packedModel }] = await Promise.all([
    manifestIn(read, options),
    import('./packedModel.js'),
  ]);
  // A BERT sums these three tables.
  return packedModel(superpose, read, manifest, options) as Promise<object> as Promise<MiniLM>;
}
