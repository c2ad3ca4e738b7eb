// The answering side of tables that the reader opened. Their first rows are held here; figures that would
// draw random rows get these instead.
import { type OpenedTable, openTable } from 'superpose';
import type { State } from '../figures/controls.js';
import type { Job, Library, OwnRows } from '../figures/figure.js';
import type { HeldTable, HeldTables, TableKind, TableQuestion } from '../figures/ownTable.js';
import { watching } from '../figures/trainedModel.js';
import type { ComputeFigure } from './answers.js';

/** As much of a table as figures can show: their largest vocabulary and their widest rows. */
const mostRows = 5000;
const mostColumns = 1024;

interface LoadedTable {
  told: HeldTable;
  table: OpenedTable;
}

const held: Partial<Record<TableKind, LoadedTable>> = {};

/** What figures of more than one picture show of a table. */
const shown: Readonly<Record<string, string>> = { collisions: 'one', overlap: 'tables' };

/** The first rows: as many as are asked for, or as there are. */
const firstOf =
  ({ table: { table } }: LoadedTable) =>
  (rows: number) => {
    const count = Math.min(rows, table.rows);
    return { data: table.data.subarray(0, count * table.columns), rows: count, columns: table.columns };
  };

export async function ownTable(
  library: Library,
  figure: string,
  state: State,
  job: Job,
  running: (library: Library) => ComputeFigure,
): Promise<unknown> {
  if (figure === 'own-table-open') return opened(library, state as unknown as TableQuestion, job);
  const { token, position } = held;
  const columns = (token ?? position)?.told.columns;
  if (columns === undefined) throw new Error('There is no table open; open its file again.');
  const { words, tokens = words, positions, word, ...settings } = state as Record<string, string>;
  const ofToken = tokens === 'own' ? token : undefined;
  const ofPosition = positions === 'own' ? position : undefined;
  const own: OwnRows = {
    key: JSON.stringify([ofToken?.told.digest, ofPosition?.told.digest]),
    columns,
    token: ofToken && firstOf(ofToken),
    position: ofPosition && firstOf(ofPosition),
    words: ofToken?.table.words,
  };
  const index = ofToken && word !== undefined ? placeOf(ofToken, word) : settings.index;
  const name = figure.slice('own-table-'.length);
  return running({ ...library, own })(
    name,
    {
      ...settings,
      ...(index !== undefined && { index }),
      // Seeded rows are drawn, and what is drawn can be replaced by the reader's own.
      ...{ tokens: 'seeded', words: 'seeded', tables: 'seeded' },
      of: shown[name] ?? '',
      positions: ofPosition || positions === undefined ? 'random' : positions,
      d: columns,
      vocabulary: token?.told.rows ?? mostRows,
    },
    job,
  );
}

async function opened(library: Library, { files, kind, tensor, ...csv }: TableQuestion, job: Job) {
  if (!files || !kind) {
    for (const one of ['token', 'position'] as const) delete held[one];
    return heldNow();
  }
  const table = await openTable(await library.small(), files.slice(0, 1), {
    rows: mostRows,
    ...watching(job),
    ...(tensor && { tensor }),
    ...csv,
  });
  // It may have been forgotten while it was opened.
  job.signal.throwIfAborted();
  const { rows, columns } = table.table;
  const name = files[0]?.name ?? '';
  const other = held[kind === 'token' ? 'position' : 'token']?.told;
  if (rows < 2) throw new RangeError(`“${name}” has one row; these figures need at least 2.`);
  if (columns > mostColumns) {
    throw new RangeError(
      `“${name}” has ${columns} columns; these figures take at most ${mostColumns}, and in Node the library takes more.`,
    );
  }
  if (other && other.columns !== columns) {
    throw new RangeError(
      `“${name}” has ${columns} columns and “${other.name}” ${other.columns}. Rows that are added are equally long; forget the tables first.`,
    );
  }
  const { words, more, layout, digest } = table;
  held[kind] = { told: { name, kind, rows, columns, more, word: words?.[0], layout, digest }, table };
  return heldNow();
}

const heldNow = (): HeldTables => ({ token: held.token?.told, position: held.position?.told });

/** The row of a word, as written or in lower case. */
function placeOf({ table: { words = [] }, told }: LoadedTable, word: string): number {
  const place = [word, word.toLowerCase()].map((one) => words.indexOf(one)).find((at) => at >= 0);
  if (place === undefined) {
    throw new RangeError(
      `“${word}” is not among the ${told.rows.toLocaleString('en')} rows that were read of “${told.name}”.`,
    );
  }
  return place;
}
