// What is known of an opened model, and the rows that a sentence sums.

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
  /** Heads of queries; undefined where neither config.json nor the caller gives them. */
  readonly heads: number | undefined;
  /** ε of the norms; undefined likewise. */
  readonly epsilon: number | undefined;
  /** How many layers the file has. */
  readonly layers: number;
  /** The window of the layers that have one; undefined where none has. */
  readonly slidingWindow: SlidingWindow | undefined;
  /** Starts the full module; returns what the model was opened over if that is unknown. */
  fullModule(): Promise<Superpose>;
  /** Whether a forward pass through all layers fits well into memory. */
  readonly isSmall: boolean;
  /** The most bytes of layers that stay in memory. */
  readonly layerBytes: number;
  /** Whether a text can be given. */
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

/** How many tokens a run through so many layers takes; 0 where nothing says it. */
export function longestOf({ layout: { positions }, slidingWindow }: Model, layers: number): number {
  const [first = Infinity] = slidingWindow?.layers ?? [];
  if (!slidingWindow || first >= layers) return positions;
  // A window hides no key of a sentence that is no longer than it.
  return Math.min(slidingWindow.keys, positions || Infinity);
}

/** Rows to be summed, [n, d] each, by name: `token`, `position`, `token_type`. */
export type SummandRows = Readonly<Record<string, Table<Float64Array>>>;

/** The names of the rows that a sentence sums. */
export const summandNames = ({ tables }: Pick<Layout, 'tables'>): string[] => [
  'token',
  ...(tables.position ? ['position'] : []),
  ...(tables.segment ? ['token_type'] : []),
];

/** The rows that a sentence sums; all its tokens are of segment 0. */
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

/** The rows that shares leave out of a sentence of `n` tokens, unless the caller names others. */
export const excludedIn = ({ excludedRows }: Pick<Layout, 'excludedRows'>, n: number): number[] =>
  excludedRows.filter((row) => row < n);
