// Measurements of the token and position tables of a reader's model, which need no sentence.
import type { OffsetMeans } from '../encodings/gram.js';
import type { Superpose } from '../fullModule.js';
import type { OverlapCurve } from '../geometry/subspaces.js';
import type { Summary } from '../numeric/summary.js';
import { type Table, table } from '../table.js';
import { headSizes } from './layers.js';
import type { Model } from './model.js';
import { anglesIn } from './rotaryConfig.js';
import { type CountedWatch, counted, type SlicesWatch } from './watch.js';

/** How many rows of a table are measured; all, if it has fewer. */
const mostRows = 512;
/**
 * How many main directions of the positions `curve` covers, or as many as there are channels if those are
 * fewer.
 */
const mainDirections = 12;

/** A measurement of rows as they are, and of the same rows minus their mean row. */
export interface ByGauge<T> {
  /** The measurement of the rows as they are. */
  readonly raw: T;
  /** The measurement of the rows that are not excluded, minus their mean. */
  readonly centred: T;
}

export interface ReportedTable {
  /**
   * Which rows of the file's table were read, at most 512: token rows are evenly spaced, and position rows
   * are the first in use.
   */
  readonly rows: readonly number[];
  /** The lengths ‖row‖ of the rows as they are. */
  readonly lengths: Summary;
  /** (Σ s²)² / Σ s⁴ of the singular values s: how many directions the rows fill. */
  readonly participation: ByGauge<number>;
}

export interface ModelReport {
  /** The token table. */
  readonly token: ReportedTable;
  /** The position table; undefined for a model that adds no positions. */
  readonly position: ReportedTable | undefined;
  /**
   * The cosine of each token row with each position row. Rows of zeros are left out, as they have no cosine.
   */
  readonly cosines: ByGauge<Summary> | undefined;
  /** E|cos| of two random vectors of this width. */
  readonly chance: number;
  /** The overlap A of the two tables: see energyOverlap(). */
  readonly overlap: ByGauge<number> | undefined;
  /**
   * Which part of each principal direction of the tokens lies in the 12 main directions of the positions,
   * both centred.
   */
  readonly curve: OverlapCurve | undefined;
  /** How much of the dot products of position rows with one another depends on the distance alone. */
  readonly offsets: ByGauge<OffsetMeans> | undefined;
  /** How a model with RoPE rotates; undefined for other models. */
  readonly rotary: RotaryReport | undefined;
}

export interface RotaryReport {
  /** The base of the angles; 10000 if config.json does not give it. */
  readonly base: number;
  /**
   * The number of key heads, each of which several query heads may share; undefined if the number of query
   * heads is not known.
   */
  readonly keyHeads: number | undefined;
}

/** A model that was opened with the full module. */
type ReportedModel = Model & { readonly superpose: Superpose };

export async function modelReport(model: ReportedModel, options: SlicesWatch): Promise<ModelReport> {
  const { superpose, layout } = model;
  const watch = counted(options);
  const [token, position] = await Promise.all([readTokens(model, watch), readPositions(model, watch)]);
  const centredTokens = superpose.centred(token.table);
  return {
    token: reported(superpose, token, centredTokens),
    chance: superpose.cosineMeanSize({ d: layout.d_model }),
    rotary: rotaryReport(model),
    ...positionReport(model, token.table, centredTokens, position),
  };
}

/** The measurements that need a table of positions. */
function positionReport(
  { superpose, layout }: ReportedModel,
  tokens: Table,
  centredTokens: Table,
  position: ReadRows | undefined,
): Pick<ModelReport, 'position' | 'cosines' | 'overlap' | 'curve' | 'offsets'> {
  if (!position) {
    const none = undefined;
    return { position: none, cosines: none, overlap: none, curve: none, offsets: none };
  }
  const positions = position.table;
  // Row i of a sentence gets row i of the position rows in use, so excludedRows applies to both.
  const centredPositions = centredWithout(superpose, positions, layout.excludedRows);
  const offsets = (rows: Table) => superpose.offsetMeans(superpose.gram(rows));
  // A row of zeros, for example one that was never trained, has no cosine.
  const cosines = (a: Table, b: Table) =>
    superpose.summary(superpose.rowCosines(a, b).data.filter((cosine) => !Number.isNaN(cosine)));
  return {
    position: reported(superpose, position, centredPositions),
    cosines: { raw: cosines(tokens, positions), centred: cosines(centredTokens, centredPositions) },
    overlap: {
      raw: superpose.energyOverlap({ tokens, positions }),
      centred: superpose.energyOverlap({ tokens: centredTokens, positions: centredPositions }),
    },
    curve: superpose.overlapCurve({
      tokens: centredTokens,
      positions: centredPositions,
      k: Math.min(mainDirections, layout.d_model),
    }),
    offsets: { raw: offsets(positions), centred: offsets(centredPositions) },
  };
}

function rotaryReport({ config, checkpoint, layout, heads }: ReportedModel): RotaryReport | undefined {
  const { positions } = layout.descriptor;
  if (positions.kind === 'added') return undefined;
  return {
    base: anglesIn(config, positions.base).base,
    keyHeads: heads === undefined ? undefined : headSizes({ checkpoint, layout, heads }).keyHeads,
  };
}

/** Rows of a table, and which rows of the file's table they are. */
interface ReadRows {
  table: Table<Float64Array>;
  rows: readonly number[];
}

function reported(superpose: Superpose, { table, rows }: ReadRows, centred: Table): ReportedTable {
  // The overlap of a table with itself is d divided by its participation ratio.
  const participation = (of: Table) => of.columns / superpose.energyOverlap({ tokens: of, positions: of });
  return {
    rows,
    lengths: superpose.summary(superpose.rowLengths(table)),
    participation: { raw: participation(table), centred: participation(centred) },
  };
}

async function readTokens({ checkpoint, layout }: ReportedModel, watch: CountedWatch): Promise<ReadRows> {
  const count = Math.min(mostRows, layout.vocabulary);
  const rows = Array.from({ length: count }, (_, at) =>
    Math.floor(((at + 0.5) * layout.vocabulary) / count),
  ).filter((row) => layout.firstRow === 0 || row !== layout.padding);
  return { table: await checkpoint.rows(layout.tables.token, rows, watch), rows };
}

async function readPositions(
  { checkpoint, layout }: ReportedModel,
  watch: CountedWatch,
): Promise<ReadRows | undefined> {
  const { position } = layout.tables;
  if (!position) return undefined;
  const rows = Array.from(
    { length: Math.min(mostRows, layout.positions) },
    (_, place) => layout.firstRow + place,
  );
  return { table: await checkpoint.rows(position, rows, watch), rows };
}

/** The rows that are not excluded, minus their mean. */
function centredWithout(
  superpose: Superpose,
  { data, rows, columns }: Table,
  excludedRows: readonly number[],
): Table {
  const included = Array.from({ length: rows }, (_, row) => row).filter((row) => !excludedRows.includes(row));
  const values = new Float64Array(included.length * columns);
  for (const [place, row] of included.entries()) {
    values.set(data.subarray(row * columns, (row + 1) * columns), place * columns);
  }
  return superpose.centred(table(values, included.length, columns));
}
