// What is known of a model, the rows that a sentence sums, and the first layer's scores of one that adds positions: they
// need no more of its file than the rows, a norm, and the first W_Q and W_K.
import { type DecomposeInput, grouped } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import type { Floats, Table } from '../table.js';
import type { Superpose } from '../whole.js';
import type { Tensors } from './checkpoint.js';
import type { Layout } from './families.js';
import type { Family } from './family.js';
import type { Config } from './header.js';
import type { Sentence } from './sentence.js';
import { type CountedWatch, counted, type SlicesWatch } from './watch.js';

/** A first layer, as decompose() takes it. */
export type FirstLayer = Required<
  Pick<DecomposeInput<Float64Array>, 'normalization' | 'query' | 'key' | 'heads' | 'causal'>
>;

/** An opened model, as the functions that read it need it. */
export interface Opened {
  /** Of the small module, or of the whole one. */
  superpose: SmallSuperpose;
  /** Its tensors. */
  checkpoint: Tensors;
  /** What they mean. */
  layout: Layout;
  /** The members of its config.json. */
  config: Config;
  /** Heads of queries. */
  heads: number;
  /** ε of its norms. */
  epsilon: number;
}

/** Cuts texts into pieces, and names those. */
export interface Tokenizer {
  /** Of the whole text, with the markers that a sentence has. */
  cut(text: string): { ids: number[]; tokens: string[] };
  /** By their ids. */
  pieces(ids: readonly number[]): string[];
}

/** A model as far as it is known. */
export interface Found {
  /** Of the small module, or of the whole one. */
  readonly superpose: SmallSuperpose;
  /** What its tables mean. */
  readonly layout: Omit<Layout, 'family' | 'facts' | 'prefix'>;
  /** What is known of its family. */
  readonly facts: Pick<Family, 'firstPosition' | 'markers' | 'name'>;
  /** How many layers there are. */
  readonly layers: number;
  /** Rows of its tables. */
  readonly rows: Tensors['rows'];
  /** The first layer, of a model that adds positions. Throws where nothing says how many heads there are, or ε. */
  first(watch: CountedWatch): Promise<FirstLayer>;
  /** All tensors, for what runs its layers. Throws likewise. */
  opened(): Promise<Opened>;
  /** The whole module; the small one, where the model was opened over that. */
  whole(): Promise<Superpose>;
  /** Whether there is room for it in both precisions, and for a forward of all its layers. */
  readonly isSmall: boolean;
  /** Throws for ids that the family has no position for. */
  refuseIds?(ids: readonly number[]): void;
  /** Whether a text can be given. */
  readonly readsText: boolean;
  /** Throws where it cannot. */
  tokenizer(): Promise<Tokenizer>;
}

/** Rows [n, d] to add up, by name. */
export type OwnRows<A extends Floats = Float64Array> = Readonly<Record<string, Table<A>>>;

/** The names of the rows that a sentence sums. */
export const summandNames = ({ tables }: Pick<Layout, 'tables'>): string[] => [
  'token',
  ...(tables.position ? ['position'] : []),
  ...(tables.segment ? ['token_type'] : []),
];

/** Those rows; one sentence is all of segment 0. */
export async function rowsOf(
  { rows: readRows, layout, facts }: Found,
  ids: readonly number[],
  watch: CountedWatch,
): Promise<OwnRows> {
  const { token, position, segment } = layout.tables;
  const { firstPosition = 0 } = facts;
  const asked: [name: string, table: string | undefined, rows: readonly number[]][] = [
    ['token', token, ids],
    ['position', position, ids.map((_, place) => firstPosition + place)],
    ['token_type', segment, ids.map(() => 0)],
  ];
  const found = await Promise.all(
    asked.flatMap(([name, from, rows]) =>
      from ? [readRows(from, rows, watch).then((read) => [name, read] as const)] : [],
    ),
  );
  return Object.fromEntries(found);
}

/** The first layer's scores taken apart. */
export async function firstScores(
  found: Found,
  layer: () => Promise<FirstLayer>,
  { ids }: Sentence,
  {
    gauge = 'canonical',
    apart,
    only,
    groups,
    ...waiting
  }: GaugeOptions<Float64Array> & Pick<DecomposeInput, 'only' | 'groups'> & SlicesWatch,
): Promise<Scores<Float64Array>> {
  // A wrong question reads nothing.
  grouped([...summandNames(found.layout), 'constant'], groups);
  const [summands, maps] = await Promise.all([rowsOf(found, ids, counted(waiting)), layer()]);
  return found.superpose.decompose({
    summands: { ...summands },
    ...maps,
    ...(only && { only }),
    ...(groups && { groups }),
    gauge,
    apart: apart ?? (gauge === 'raw' ? [] : found.layout.apart.filter((row) => row < ids.length)),
  });
}
