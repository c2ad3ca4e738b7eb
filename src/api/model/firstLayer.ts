// The rows that a sentence sums, and the first layer's scores of a model that adds positions: they need no more of its
// file than the rows, a norm, and the first W_Q and W_K.
import { type DecomposeInput, grouped } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { FloatsOf, Precision, Table } from '../table.js';
import type { Layout } from './recognize.js';
import type { Sentence } from './sentence.js';
import { type CountedWatch, counted, type SlicesWatch } from './slices.js';
import { nameIn, type Opened, tensorsOf } from './tensors.js';

/** Rows [n, d] to add up, by name. */
export type OwnRows<A extends FloatsOf<Precision> = FloatsOf<Precision>> = Readonly<Record<string, Table<A>>>;

/** The names of the rows that a sentence sums. */
export const summandNames = ({ tables }: Layout): string[] => [
  'token',
  ...(tables.position ? ['position'] : []),
  ...(tables.segment ? ['token_type'] : []),
];

/** Those rows; one sentence is all of segment 0. */
export async function rowsOf<P extends Precision>(
  { checkpoint, layout }: Pick<Opened, 'checkpoint' | 'layout'>,
  ids: readonly number[],
  precision: P,
  watch: CountedWatch,
): Promise<OwnRows<FloatsOf<P>>> {
  const { token, position, segment } = layout.tables;
  const { firstPosition = 0 } = layout.facts;
  const asked: [name: string, table: string | undefined, rows: readonly number[]][] = [
    ['token', token, ids],
    ['position', position, ids.map((_, place) => firstPosition + place)],
    ['token_type', segment, ids.map(() => 0)],
  ];
  const found = await Promise.all(
    asked.flatMap(([name, from, rows]) =>
      from ? [checkpoint.rows(from, rows, precision, watch).then((read) => [name, read] as const)] : [],
    ),
  );
  return Object.fromEntries(found);
}

/** What is between those rows and the first layer's scores, as decompose() takes it. */
export async function firstLayerOf<P extends Precision>(opened: Opened, precision: P, watch: CountedWatch) {
  const { checkpoint, layout, heads } = opened;
  const { embeddingNorm, causal } = layout.facts;
  const of = tensorsOf(checkpoint, precision, watch);
  const norm = embeddingNorm ? layout.prefix + embeddingNorm : nameIn(layout, 0, 'attentionNorm');
  const [normalization, query, key] = await Promise.all([
    of.norm(opened, norm),
    of.linear(opened, 0, 'query'),
    of.linear(opened, 0, 'key'),
  ]);
  return { normalization, query, key, heads, causal };
}

/** The first layer's scores taken apart. */
export async function firstScores<P extends Precision>(
  opened: Opened,
  layer: () => ReturnType<typeof firstLayerOf<P>>,
  { ids }: Sentence,
  precision: P,
  {
    gauge = 'canonical',
    apart,
    only,
    groups,
    ...waiting
  }: GaugeOptions<FloatsOf<P>> & Pick<DecomposeInput, 'only' | 'groups'> & SlicesWatch,
): Promise<Scores<FloatsOf<P>>> {
  // A wrong question reads nothing.
  grouped([...summandNames(opened.layout), 'constant'], groups);
  const [summands, maps] = await Promise.all([rowsOf(opened, ids, precision, counted(waiting)), layer()]);
  return opened.superpose.decompose<FloatsOf<P>>({
    summands: { ...summands },
    ...maps,
    ...(only && { only }),
    ...(groups && { groups }),
    gauge,
    apart: apart ?? (gauge === 'raw' ? [] : opened.layout.apart.filter((row) => row < ids.length)),
  });
}
