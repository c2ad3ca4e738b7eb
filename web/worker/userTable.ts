// The worker's side of tables that the reader opened: their first rows stay here, and take the place of
// drawn rows in the figures that can show them.
import { type OpenedTable, openTable } from 'add-or-concatenate';
import type { State } from '../figures/controls.js';
import type { Job, Library, UserRows } from '../figures/figure.js';
import { watching } from '../figures/trainedModel.js';
import type { TableKind, TableRequest, UserTable, UserTables } from '../figures/userFile.js';
import type { ComputeFigure } from './answers.js';

/** The most of a table that figures can show: their largest vocabulary and their widest rows. */
const mostRows = 5000;
const mostColumns = 1024;

interface OpenTable {
  table: UserTable;
  opened: OpenedTable;
}

const open: Partial<Record<TableKind, OpenTable>> = {};

/** Opens a table, or computes a figure of those that are open. */
export async function userTable(
  library: Library,
  figure: string,
  state: State,
  job: Job,
  computeWith: (library: Library) => ComputeFigure,
): Promise<unknown> {
  if (figure === 'user-table-open') return handle(library, state as unknown as TableRequest, job);
  return computeWith({ ...library, userTables: rowsOfOpen() })(
    figure.slice('user-table-'.length),
    state,
    job,
  );
}

function rowsOfOpen(): UserRows {
  const { token, position } = open;
  const columns = (token ?? position)?.table.columns;
  if (columns === undefined) throw new Error('There is no table open; open its file again.');
  return {
    key: JSON.stringify([token?.table.digest, position?.table.digest]),
    columns,
    token: token && firstOf(token),
    position: position && firstOf(position),
    words: token?.opened.words,
    placeOf: (word) => placeOf(token, word),
  };
}

/** The first rows of a table: as many as are requested, or as there are. */
const firstOf =
  ({ opened: { table } }: OpenTable) =>
  (rows: number) => {
    const count = Math.min(rows, table.rows);
    return { data: table.data.subarray(0, count * table.columns), rows: count, columns: table.columns };
  };

/** The row of a word, as written or in lower case. */
function placeOf(token: OpenTable | undefined, word: string): number {
  const words = token?.opened.words ?? [];
  const places = [word, word.toLowerCase()].map((spelling) => words.indexOf(spelling));
  const place = places.find((at) => at >= 0);
  if (place === undefined) {
    throw new RangeError(
      `“${word}” is not among the ${words.length.toLocaleString('en')} rows that were read of “${token?.table.name}”.`,
    );
  }
  return place;
}

/** Opens a file in place of the table of its kind, or forgets both tables. */
async function handle(library: Library, { files, kind, tensor, ...csv }: TableRequest, job: Job) {
  if (!files || !kind) {
    delete open.token;
    delete open.position;
    return openTables();
  }
  const opened = await openTable(await library.small(), files.slice(0, 1), {
    rows: mostRows,
    ...watching(job),
    ...(tensor && { tensor }),
    ...csv,
  });
  // The reader may have forgotten the tables while this one was being opened.
  job.signal.throwIfAborted();
  const { rows, columns } = opened.table;
  const name = files[0]?.name ?? '';
  const other = open[kind === 'token' ? 'position' : 'token']?.table;
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
  const { words, more, layout, digest } = opened;
  open[kind] = { table: { name, kind, rows, columns, more, word: words?.[0], layout, digest }, opened };
  return openTables();
}

const openTables = (): UserTables => ({ token: open.token?.table, position: open.position?.table });
