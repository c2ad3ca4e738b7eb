// What is known of a model, the rows that a sentence sums, and the first layer's scores of one that adds positions: they
// need no more of its file than the rows, a norm, and the first W_Q and W_K.
import { type DecomposeInput, grouped } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import type { Table } from '../table.js';
import type { Superpose } from '../whole.js';
import type { Layout } from './families.js';
import type { Config } from './family.js';
import type { Sentence } from './sentence.js';
import type { SlidingWindow } from './slidingWindow.js';
import type { Tensors } from './tensorRows.js';
import { type CountedWatch, counted, type SlicesWatch } from './watch.js';

/** A first layer, as decompose() takes it. */
export type FirstLayer = Required<
  Pick<DecomposeInput, 'normalization' | 'query' | 'key' | 'heads' | 'causal'>
>;

/** Cuts texts into pieces, and names those. */
export interface Tokenizer {
  /** Of the whole text, with the markers that a sentence has. */
  cut(text: string): { ids: number[]; tokens: string[] };
  /** By their ids. */
  pieces(ids: readonly number[]): string[];
}

/** A model as far as it is known. */
export interface Model {
  /** Of the small module, or of the whole one. */
  readonly superpose: SmallSuperpose;
  /** Its tensors. */
  readonly checkpoint: Tensors;
  /** What they mean. */
  readonly layout: Layout;
  /** The members of its config.json. */
  readonly config: Config;
  /** Heads of queries, where something gives them. */
  readonly heads: number | undefined;
  /** ε of its norms, likewise. */
  readonly epsilon: number | undefined;
  /** How many layers there are. */
  readonly layers: number;
  /** The window of those that slide; undefined where none does. */
  readonly slidingWindow: SlidingWindow | undefined;
  /** The whole module; the small one, where the model was opened over that. */
  whole(): Promise<Superpose>;
  /** Whether there is room for a forward of all its layers. */
  readonly isSmall: boolean;
  /** Whether a text can be given. */
  readonly readsText: boolean;
  /** Throws where it cannot. */
  tokenizer(): Promise<Tokenizer>;
}

/** One of which enough is known to run it. */
export interface Opened extends Model {
  /** From its configuration, or given. */
  readonly heads: number;
  /** ε of its norms. */
  readonly epsilon: number;
}

/** How many tokens a run through so many layers takes; 0 where nothing says it. */
export function longestOf({ layout: { positions }, slidingWindow }: Model, layers: number): number {
  const [first = Infinity] = slidingWindow?.layers ?? [];
  // As many as a query sees keys: then a window hides none.
  return slidingWindow && first < layers ? Math.min(slidingWindow.keys, positions || Infinity) : positions;
}

/** Throws where nothing says how many heads there are, or ε. */
export function runnable(model: Model): Opened {
  const { heads, epsilon } = model;
  if (heads === undefined) missing('heads', 'how many heads its layers have');
  if (epsilon === undefined) missing('epsilon', 'the ε of its norms');
  return { ...model, heads, epsilon };
}

function missing(option: string, what: string): never {
  throw new RangeError(
    `A .safetensors file does not say ${what}. Put the model’s config.json beside it, or give the option ${option}.`,
  );
}

/** Rows [n, d] to add up, by name. */
export type OwnRows = Readonly<Record<string, Table<Float64Array>>>;

/** The names of the rows that a sentence sums. */
export const summandNames = ({ tables }: Pick<Layout, 'tables'>): string[] => [
  'token',
  ...(tables.position ? ['position'] : []),
  ...(tables.segment ? ['token_type'] : []),
];

/** Those rows; one sentence is all of segment 0. */
export async function rowsOf(
  { checkpoint, layout }: Model,
  ids: readonly number[],
  watch: CountedWatch,
): Promise<OwnRows> {
  const { token, position, segment } = layout.tables;
  const { firstPosition = 0 } = layout.facts;
  const asked: [name: string, table: string | undefined, rows: readonly number[]][] = [
    ['token', token, ids],
    ['position', position, ids.map((_, place) => firstPosition + place)],
    ['token_type', segment, ids.map(() => 0)],
  ];
  const found = await Promise.all(
    asked.flatMap(([name, from, rows]) =>
      from ? [checkpoint.rows(from, rows, watch).then((read) => [name, read] as const)] : [],
    ),
  );
  return Object.fromEntries(found);
}

/** The rows that shares of so many tokens leave out unless others are given, whatever the gauge. */
export const excludedIn = ({ excludedRows }: Pick<Layout, 'excludedRows'>, n: number): number[] =>
  excludedRows.filter((row) => row < n);

/** The first layer's scores taken apart. */
export async function firstScores(
  model: Model,
  layer: () => Promise<FirstLayer>,
  { ids }: Sentence,
  {
    gauge,
    excludedRows,
    only,
    groups,
    ...waiting
  }: GaugeOptions & Pick<DecomposeInput, 'only' | 'groups'> & SlicesWatch,
): Promise<Scores> {
  // A wrong question reads nothing.
  grouped([...summandNames(model.layout), 'constant'], groups);
  const [summands, maps] = await Promise.all([rowsOf(model, ids, counted(waiting)), layer()]);
  return model.superpose.decompose({
    summands: { ...summands },
    ...maps,
    ...(only && { only }),
    ...(groups && { groups }),
    ...(gauge !== undefined && { gauge }),
    excludedRows: excludedRows ?? excludedIn(model.layout, ids.length),
  });
}
