// Properties of the tables of a reader's model; they need no sentence.
import type { OffsetMeans } from '../encodings/gram.js';
import type { OverlapCurve } from '../geometry/subspaces.js';
import type { Summary } from '../numeric/summary.js';
import { type Table, table } from '../table.js';
import type { Superpose } from '../whole.js';
import { anglesIn } from './angles.js';
import type { Model } from './firstLayer.js';
import { headsOf } from './ownLayers.js';
import { type CountedWatch, counted, type SlicesWatch } from './watch.js';

/** How many rows of a table are measured, or all where there are fewer. */
const mostRows = 512;
/** How many main directions of the positions `curve` follows, or as many as there are channels. */
const mainDirections = 12;

/** A measurement of the tables as they are, and of their rows minus the mean row. */
export interface ByGauge<T> {
  /** Of the rows as they are. */
  readonly raw: T;
  /** Of the rows that are not excluded, minus their mean. */
  readonly centred: T;
}

export interface ReportedTable {
  /** Which rows of the file’s table were read: at most 512, of tokens evenly spaced, of positions the first in use. */
  readonly rows: readonly number[];
  /** ‖row‖, raw. */
  readonly lengths: Summary;
  /** (Σ s²)² / Σ s⁴: how many directions the rows fill. */
  readonly participation: ByGauge<number>;
}

export interface ModelReport {
  /** The tokens’ table. */
  readonly token: ReportedTable;
  /** The positions' table; undefined for a model that adds none. */
  readonly position: ReportedTable | undefined;
  /** The cosine of each token row with each position row; rows of zeros are left out, as they have none. */
  readonly cosines: ByGauge<Summary> | undefined;
  /** E|cos| of two random vectors of this width. */
  readonly chance: number;
  /** A of the two tables: see energyOverlap(). */
  readonly overlap: ByGauge<number> | undefined;
  /** In which of the tokens’ directions the positions’ 12 main ones lie, centred. */
  readonly curve: OverlapCurve | undefined;
  /** How much of the position rows' dot products with one another depends on the distance alone. */
  readonly offsets: ByGauge<OffsetMeans> | undefined;
  /** Only for a model with RoPE. */
  readonly rotary: RotaryReport | undefined;
}

export interface RotaryReport {
  /** Base of the angles; 10000 where config.json does not give it. */
  readonly base: number;
  /** Heads of keys, which several query heads may share; undefined without config.json. */
  readonly keyHeads: number | undefined;
}

/** A model over the whole module. */
type Reported = Model & { readonly superpose: Superpose };

export async function modelReport(opened: Reported, options: SlicesWatch): Promise<ModelReport> {
  const { superpose, checkpoint, layout, heads } = opened;
  const watch = counted(options);
  const [token, position] = await Promise.all([tokensOf(opened, watch), positionsOf(opened, watch)]);
  // Row i of a sentence gets row i of those that are used of the position table.
  const used = position && without(superpose, position, layout.excludedRows);
  const centred = superpose.centred(token.table);
  const both = position && used;
  const { angles } = layout.facts;
  const offsets = (rows: Table) => superpose.offsetMeans(superpose.gram(rows));
  // A row of zeros, for example one that was never trained, has no cosine.
  const sizes = ({ data }: Table) => superpose.summary(data.filter((cosine) => !Number.isNaN(cosine)));
  return {
    token: { rows: token.rows, ...described(superpose, token.table, centred) },
    position: position && { rows: position.rows, ...described(superpose, position.table, used as Table) },
    chance: superpose.cosineMeanSize({ d: layout.d_model }),
    cosines: both && {
      raw: sizes(superpose.rowCosines(token.table, position.table)),
      centred: sizes(superpose.rowCosines(centred, used)),
    },
    overlap: both && {
      raw: superpose.energyOverlap({ tokens: token.table, positions: position.table }),
      centred: superpose.energyOverlap({ tokens: centred, positions: used }),
    },
    curve:
      both &&
      superpose.overlapCurve({
        tokens: centred,
        positions: used,
        k: Math.min(mainDirections, layout.d_model),
      }),
    offsets: both && { raw: offsets(position.table), centred: offsets(used) },
    rotary: angles && {
      base: anglesIn(opened.config, angles).base,
      keyHeads: heads === undefined ? undefined : headsOf({ checkpoint, layout, heads }).keyHeads,
    },
  };
}

function described(superpose: Superpose, rows: Table, centred: Table) {
  // A of a table with itself is d divided by its participation ratio.
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

async function tokensOf({ checkpoint, layout }: Reported, watch: CountedWatch): Promise<Read> {
  const count = Math.min(mostRows, layout.vocabulary);
  const rows = Array.from({ length: count }, (_, at) =>
    Math.floor(((at + 0.5) * layout.vocabulary) / count),
  ).filter((row) => layout.facts.firstPosition === undefined || row !== layout.padding);
  return { table: await checkpoint.rows(layout.tables.token, rows, watch), rows };
}

async function positionsOf({ checkpoint, layout }: Reported, watch: CountedWatch): Promise<Read | undefined> {
  const { position } = layout.tables;
  if (!position) return undefined;
  const { firstPosition = 0 } = layout.facts;
  const rows = Array.from(
    { length: Math.min(mostRows, layout.positions) },
    (_, place) => firstPosition + place,
  );
  return { table: await checkpoint.rows(position, rows, watch), rows };
}

/** The rows that are not excluded, minus their mean. */
function without(superpose: Superpose, { table: rows }: Read, excludedRows: readonly number[]): Table {
  const { data, columns } = rows;
  const kept = Array.from({ length: rows.rows }, (_, row) => row).filter(
    (row) => !excludedRows.includes(row),
  );
  const values = new Float64Array(kept.length * columns);
  for (const [place, row] of kept.entries())
    values.set(data.subarray(row * columns, (row + 1) * columns), place * columns);
  return superpose.centred(table(values, kept.length, columns));
}
