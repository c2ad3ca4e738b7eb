// What is known about an opened model, and the rows that are summed for a sentence.

import type { Superpose } from '../fullModule.js';
import type { SmallSuperpose } from '../smallModule.js';
import type { Table } from '../table.js';
import type { Tensors } from './checkpoint.js';
import type { Config } from './descriptor.js';
import type { Layout } from './recognize.js';
import type { SlidingWindow } from './rotaryConfig.js';
import type { CountedWatch } from './watch.js';

/** Cuts texts into tokens. */
export interface Tokenizer {
  /** The tokens of a text, with the special tokens that a sentence has. */
  cut(text: string): { ids: number[]; tokens: string[] };
  /** The texts of ids. */
  pieces(ids: readonly number[]): string[];
}

/** A model as far as its files and its caller describe it. */
export interface Model {
  /** The functions of the small module, or of the full one. */
  readonly superpose: SmallSuperpose;
  /** The tensors of its files. */
  readonly checkpoint: Tensors;
  /** The family that the tensors belong to, and their sizes. */
  readonly layout: Layout;
  /** What config.json says; empty without one. */
  readonly config: Config;
  /** The number of query heads; undefined if neither config.json nor the caller gives it. */
  readonly heads: number | undefined;
  /** ε of the norms; undefined if neither config.json nor the caller gives it. */
  readonly epsilon: number | undefined;
  /** How many layers the file has. */
  readonly layers: number;
  /** The sliding window of the layers that have one; undefined if none has. */
  readonly slidingWindow: SlidingWindow | undefined;
  /**
   * Starts the full module. If the caller did not say how, returns the functions that the model was opened
   * with.
   */
  fullModule(): Promise<Superpose>;
  /**
   * Whether the model is small enough to run through all its layers at once, instead of again for each
   * layer.
   */
  readonly isSmall: boolean;
  /** The most bytes of layers that stay in memory. */
  readonly layerBytes: number;
  /** Whether the model reads texts, not only token ids. */
  readonly readsText: boolean;
  /** The tokenizer. Throws RangeError where there is none. */
  tokenizer(): Promise<Tokenizer>;
}

/** A model of which enough is known to run its layers. */
export interface RunnableModel extends Model {
  /** Heads of queries, from 1 up. */
  readonly heads: number;
  /** ε of the norms. */
  readonly epsilon: number;
}

/** Throws RangeError where nothing says how many heads there are, or ε. */
export function runnable(model: Model): RunnableModel {
  const { heads, epsilon } = model;
  if (heads === undefined) refuseMissing('heads', 'how many heads its layers have');
  if (epsilon === undefined) refuseMissing('epsilon', 'the ε of its norms');
  return { ...model, heads, epsilon };
}

function refuseMissing(option: string, what: string): never {
  throw new RangeError(
    `A .safetensors file does not say ${what}. Put the model’s config.json beside it, or give the option ${option}.`,
  );
}

/** The largest number of tokens that a run through `layers` layers takes; 0 if nothing says it. */
export function longestOf({ layout: { positions }, slidingWindow }: Model, layers: number): number {
  const [first = Infinity] = slidingWindow?.layers ?? [];
  if (!slidingWindow || first >= layers) return positions;
  // A window hides no key of a sentence that is no longer than the window.
  return Math.min(slidingWindow.keys, positions || Infinity);
}

/** Rows to be summed, [n, d] each, by name: `token`, `position`, `token_type`. */
export type SummandRows = Readonly<Record<string, Table<Float64Array>>>;

/** The names of the rows that are summed for a sentence. */
export const summandNames = ({ tables }: Pick<Layout, 'tables'>): string[] => [
  'token',
  ...(tables.position ? ['position'] : []),
  ...(tables.segment ? ['token_type'] : []),
];

/** Reads the rows that are summed for a sentence. All its tokens are taken to be of segment 0. */
export async function rowsOf(
  { checkpoint, layout }: Model,
  ids: readonly number[],
  watch: CountedWatch,
): Promise<SummandRows> {
  const { token, position, segment } = layout.tables;
  const sources: [name: string, table: string | undefined, rows: readonly number[]][] = [
    ['token', token, ids],
    ['position', position, ids.map((_, place) => layout.firstRow + place)],
    ['token_type', segment, ids.map(() => 0)],
  ];
  const tables = await Promise.all(
    sources.flatMap(([name, table, rows]) =>
      table ? [checkpoint.rows(table, rows, watch).then((read) => [name, read] as const)] : [],
    ),
  );
  return Object.fromEntries(tables);
}

/** The rows of a sentence of `n` tokens that shares leave out, unless the caller names others. */
export const excludedIn = ({ excludedRows }: Pick<Layout, 'excludedRows'>, n: number): number[] =>
  excludedRows.filter((row) => row < n);
