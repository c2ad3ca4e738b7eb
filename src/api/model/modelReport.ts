// What the tables of a reader's model are like, without any sentence.
import * as check from '../check.js';
import type { OffsetMeans } from '../encodings/gram.js';
import type { OverlapCurve } from '../geometry/subspaces.js';
import type { Summary } from '../numeric/summary.js';
import type { Superpose } from '../superpose.js';
import { type Table, table } from '../table.js';
import type { Checkpoint } from './checkpoint.js';
import { rowsThrough, tensorsOf } from './firstLayer.js';
import type { Layout } from './layout.js';
import { type CountedWatch, counted, type SlicesWatch } from './slices.js';

export interface ReportOptions extends SlicesWatch {
  /** How many rows of the token table, evenly over it, from 2 up. Default 512, or all where there are fewer. */
  tokenRows?: number;
  /** How many rows of the position table, from the first that is used, likewise. Default 512. */
  positionRows?: number;
  /** Main directions of the positions, for `curve`, from 0 to the table’s width. Default 12, or that width where it is less. */
  k?: number;
}

/** Of the tables as they are, and less the mean of the rows that are counted. */
export interface ByGauge<T> {
  /** Of the rows as they come. */
  readonly raw: T;
  /** Of those that do not stand apart, less their mean. */
  readonly centred: T;
}

export interface ReportedTable {
  /** Which rows of the file’s table were read. */
  readonly rows: readonly number[];
  /** ‖row‖, raw. */
  readonly lengths: Summary;
  /** (Σ s²)² / Σ s⁴: how many directions the rows fill. */
  readonly participation: ByGauge<number>;
}

export interface ModelReport {
  /** As one speaks of the model. */
  readonly name: string;
  /** What is read of such a model’s scores. */
  readonly about: string;
  /** The tokens’ table; of a model of pictures what one pixel of one colour adds, one row a pixel; or nothing. */
  readonly token: ReportedTable | undefined;
  /** Nothing of a model that adds no table of positions. */
  readonly position: ReportedTable | undefined;
  /** The cosine of each token row with each position row, but for rows of zeros, which have none. */
  readonly cosines: ByGauge<Summary> | undefined;
  /** E|cos| of two random vectors of this width. */
  readonly chance: number;
  /** A of the two tables: see energyOverlap(). */
  readonly overlap: ByGauge<number> | undefined;
  /** Which of the tokens’ directions the positions’ main ones lie in, centred. */
  readonly curve: OverlapCurve | undefined;
  /** Dot products of the position rows with one another. */
  readonly gram: ByGauge<Table<Float64Array>> | undefined;
  /** What of them depends on the distance of two positions alone; not of pictures, whose distances have two directions. */
  readonly offsets: ByGauge<OffsetMeans> | undefined;
  /** Of a model with RoPE. */
  readonly rotary: RotaryReport | undefined;
}

export interface RotaryReport {
  /** Of the angles; where config.json does not say it, 10000. */
  readonly base: number;
  /** Heads of queries, and of keys, which several queries may share; undefined where config.json is not there. */
  readonly heads: number | undefined;
  /** Of keys. */
  readonly keyHeads: number | undefined;
  /** Channels of a head. */
  readonly d_head: number | undefined;
  /**
   * [heads, offsets]: b_Q R(j − i) b_K / √d_h for i − j from 0 on, a term of the distance alone; undefined without
   * biases.
   */
  readonly positionTerm: Table<Float64Array> | undefined;
}

interface Reported {
  /** Both modules. */
  superpose: Superpose;
  /** Its tensors. */
  checkpoint: Checkpoint;
  /** What they are. */
  layout: Layout;
  /** Where something says it. */
  heads: number | undefined;
  /** What config.json holds. */
  config: unknown;
}

export async function modelReport(opened: Reported, options: ReportOptions): Promise<ModelReport> {
  check.object('options', options);
  const { superpose, checkpoint, layout } = opened;
  const { tokenRows = 512, positionRows = 512, k = Math.min(12, layout.rowChannels) } = options;
  const watch = counted(options);
  check.integer('tokenRows', tokenRows, 2);
  check.integer('positionRows', positionRows, 2);
  check.integer('k', k, 0, layout.rowChannels);
  const [token, position] = await Promise.all([
    tokensOf(opened, tokenRows, watch),
    positionsOf(checkpoint, layout, positionRows, watch),
  ]);
  // Rows of a sentence are those of the position table in every family that has both.
  const used = position && without(superpose, position, layout.apart);
  const centred = token && less(superpose, token.table);
  const both = token && position && used && centred;
  // A row of zeros, such as one that was never trained, has no cosine.
  const sizes = ({ data }: Table) => superpose.summary(data.filter((cosine) => !Number.isNaN(cosine)));
  return {
    name: layout.name,
    about: layout.about,
    token: token && { rows: token.rows, ...described(superpose, token.table, centred as Table) },
    position: position && { rows: position.rows, ...described(superpose, position.table, used as Table) },
    chance: superpose.cosineMeanSize({ d: layout.rowChannels }),
    cosines: both && {
      raw: sizes(superpose.rowCosines(token.table, position.table)),
      centred: sizes(superpose.rowCosines(centred, used)),
    },
    overlap: both && {
      raw: superpose.energyOverlap({ tokens: token.table, positions: position.table }),
      centred: superpose.energyOverlap({ tokens: centred, positions: used }),
    },
    curve: both && superpose.overlapCurve({ tokens: centred, positions: used, k }),
    ...gramsOf(superpose, position?.table, used, layout.patch === undefined),
    rotary: layout.family === 'rope' ? await rotaryOf(opened, watch) : undefined,
  };
}

function gramsOf(superpose: Superpose, rows: Table | undefined, used: Table | undefined, inLine: boolean) {
  if (!rows || !used) return { gram: undefined, offsets: undefined };
  const gram = { raw: superpose.gram(rows), centred: superpose.gram(used) };
  return {
    gram,
    offsets: inLine
      ? { raw: superpose.offsetMeans(gram.raw), centred: superpose.offsetMeans(gram.centred) }
      : undefined,
  };
}

function described(superpose: Superpose, rows: Table, centred: Table) {
  // A of a table with itself is d over its participation ratio.
  const filled = (of: Table) => of.columns / superpose.energyOverlap({ tokens: of, positions: of });
  return {
    lengths: superpose.summary(superpose.rowLengths(rows)),
    participation: { raw: filled(rows), centred: filled(centred) },
  };
}

interface Read {
  table: Table<Float64Array>;
  rows: readonly number[];
}

async function tokensOf(
  { superpose, checkpoint, layout }: Reported,
  most: number,
  watch: CountedWatch,
): Promise<Read | undefined> {
  if (layout.patch) {
    const { weight } = await tensorsOf(checkpoint, 'float64', watch).linear(layout.patch.projection);
    const { rows, columns, data } = weight;
    const turned = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++)
        turned[column * rows + row] = data[row * columns + column] as number;
    }
    return { table: table(turned, columns, rows), rows: Array.from({ length: columns }, (_, at) => at) };
  }
  if (!layout.token) return undefined;
  const count = Math.min(most, layout.vocabulary);
  const rows = Array.from({ length: count }, (_, at) =>
    Math.floor(((at + 0.5) * layout.vocabulary) / count),
  ).filter((row) => row !== layout.padding);
  const { tokenProjection } = layout;
  const [read, through] = await Promise.all([
    checkpoint.rows(layout.token, rows, 'float64', watch),
    tokenProjection && tensorsOf(checkpoint, 'float64', watch).linear(tokenProjection),
  ]);
  return { table: through ? rowsThrough(superpose, read, through, 'float64') : read, rows };
}

async function positionsOf(
  checkpoint: Checkpoint,
  layout: Layout,
  most: number,
  watch: CountedWatch,
): Promise<Read | undefined> {
  if (!layout.position) return undefined;
  const rows = Array.from(
    { length: Math.min(most, layout.positions) },
    (_, place) => layout.firstPosition + place,
  );
  return { table: await checkpoint.rows(layout.position, rows, 'float64', watch), rows };
}

/** Less their mean, without the rows that stand apart. */
function without(superpose: Superpose, { table: rows }: Read, apart: readonly number[]): Table {
  const { data, columns } = rows;
  const kept = Array.from({ length: rows.rows }, (_, row) => row).filter((row) => !apart.includes(row));
  const values = new Float64Array(kept.length * columns);
  for (const [place, row] of kept.entries())
    values.set(data.subarray(row * columns, (row + 1) * columns), place * columns);
  return less(superpose, table(values, kept.length, columns));
}

/** Each row minus the mean row. */
function less(superpose: Superpose, rows: Table): Table {
  const none = new Array<number>(rows.rows).fill(0);
  const found = superpose.meanDecomposition({
    rows,
    positionOf: none,
    positions: 1,
    tokenOf: none,
    tokens: 1,
  });
  return table(found.residual, rows.rows, rows.columns);
}

/** Offsets at which the pure position term is given. */
const offsets = 64;

async function rotaryOf(
  { superpose, checkpoint, layout, heads, config }: Reported,
  watch: CountedWatch,
): Promise<RotaryReport> {
  const members = (config ?? {}) as Record<string, unknown>;
  const parameters = (members.rope_parameters ?? {}) as Record<string, unknown>;
  const base = members.rope_theta ?? parameters.rope_theta ?? 10_000;
  check.positive('rope_theta in config.json', base);
  const { query, key, keyChannels = 0 } = layout;
  const [rows = 0] = checkpoint.tensors.get(query?.weight as string)?.shape ?? [];
  const d_head = layout.d_head ?? (heads && Math.floor(rows / heads));
  const keyHeads = d_head && Math.floor(keyChannels / d_head);
  const known = { base: base as number, heads, keyHeads, d_head, positionTerm: undefined };
  if (!query?.bias || !key?.bias || !heads || !d_head || !keyHeads) return known;
  if (heads * d_head !== rows || keyHeads * d_head !== keyChannels || heads % keyHeads !== 0)
    throw new RangeError(
      `config.json gives ${heads} heads, which do not fit queries of ${rows} and keys of ${keyChannels} channels.`,
    );
  const of = tensorsOf(checkpoint, 'float64', watch);
  const [b_Q, shared] = [(await of.whole(query.bias)).data, (await of.whole(key.bias)).data];
  const b_K = new Float64Array(rows);
  for (let head = 0; head < heads; head++) {
    const from = Math.floor((head * keyHeads) / heads) * d_head;
    b_K.set(shared.subarray(from, from + d_head), head * d_head);
  }
  // Nothing but the biases goes into queries and keys.
  const nothing = { weight: table(new Float64Array(rows), rows, 1) };
  const { logits, n } = superpose.schemeScores({
    scheme: 'rope',
    content: table(new Float64Array(offsets), offsets, 1),
    heads,
    query: { ...nothing, bias: b_Q },
    key: { ...nothing, bias: b_K },
    layout: 'concatenated',
    base: base as number,
  });
  const term = new Float64Array(heads * offsets);
  for (let head = 0; head < heads; head++) {
    for (let back = 0; back < offsets; back++)
      term[head * offsets + back] = logits[(head * n + n - 1) * n + n - 1 - back] as number;
  }
  return { ...known, positionTerm: table(term, heads, offsets) };
}
