// Reads a table of comma- or tab-separated values by the rules that CsvOptions states, a piece of the file
// at a time.
import * as check from '../check.js';
import { type FirstRows, mostColumns, refuse } from './firstRows.js';
import { type Slices, slice } from './slices.js';
import type { SlicesWatch } from './watch.js';

/** What can stand between the cells of a line. */
export const separators = [',', ';', '\t', '|', ' '] as const;
export type CsvSeparator = (typeof separators)[number];

/** What can stand between the integer part and the fraction of a number. */
export const decimals = ['.', ','] as const;
export type CsvDecimal = (typeof decimals)[number];

/**
 * How a .csv or .tsv file is read. These are all the rules, which docs/tables.md repeats for readers; where
 * they leave something open, the caller must pass an option, and nothing is guessed:
 *
 * - Cells are separated by commas in .csv and by tabs in .tsv. A file that seems to have another separator
 *   is refused with a message that names it. A character seems to be the separator if each of the first 100
 *   lines contains it equally often, or if each line is a single cell that contains it (the first line may
 *   be a title).
 * - In .csv, cells may be quoted as in RFC 4180. In .tsv there are no quotes, and a cell in quotes is
 *   refused.
 * - Spaces around cells, empty lines and a byte order mark are ignored. All other lines must have the same
 *   number of cells.
 * - A number is finite and has no marks between thousands. A cell that is empty, or that looks like a number
 *   but is not one, such as 1,234 or nan, is never taken for a name: it is refused where a number is
 *   expected.
 * - The first line is a header if none of its cells, except perhaps the first, is a number. It is also a
 *   header if its first cell is empty and the others are whole numbers that rise, as pandas writes an index.
 * - If only the first cell of the first line is not a number, that line is a row with a name, provided that
 *   at least half of the rows below have names. Otherwise `header` or `labels` must be given.
 * - The first column has the names of the rows if its header is empty, or if at least half of its cells are
 *   words. If two of the rows that are read have the same name, the file is refused.
 * - `header` must be given if the numbers of the first line may be names: if they count 0, 1, 2 …, are
 *   years, or are whole numbers that rise above rows whose numbers are mostly fractions.
 * - `labels` must be given if the numbers of the first column may be names: if its header is id or index, or
 *   if they are distinct whole numbers beside fractions.
 */
export interface CsvOptions {
  /** The character between cells. Default: a comma in .csv, a tab in .tsv. */
  separator?: CsvSeparator;
  /** The decimal mark. Default: a point. */
  decimal?: CsvDecimal;
  /** Whether the first line names columns. */
  header?: boolean;
  /** Whether the first column names rows. */
  labels?: boolean;
}

/** How a .csv or .tsv file was read. */
export interface CsvLayout {
  /** The character between cells. */
  readonly separator: CsvSeparator;
  /** The decimal mark. */
  readonly decimal: CsvDecimal;
  /** The names of the columns of numbers, or undefined without a header. */
  readonly header: readonly string[] | undefined;
  /** Whether the first column names rows. */
  readonly labels: boolean;
}

/** How many lines decide the layout. */
const sampledLines = 100;
/** The longest line that is read, in characters, including its line end. */
const longestLine = 2 ** 21;
const pieceBytes = 2 ** 18;

/** Where in a file something is wrong; lines and columns count from 1. */
interface Place {
  line: number;
  column?: number;
}

interface Dialect {
  separator: CsvSeparator;
  decimal: CsvDecimal;
  /** Whether cells can be quoted. */
  quotes: boolean;
  refuse(place: Place, expected: string, actual: string): never;
}

/** A line, or several if a quoted cell contains line ends. */
interface CsvRecord {
  cells: string[];
  line: number;
  /** The number of the next line, and the place in the text where that line begins. */
  nextLine: number;
  end: number;
}

/** A part of the file's text; `last` says whether the file ends with it. */
interface Piece {
  text: string;
  last: boolean;
}

const lineEnd = /\r\n|\r|\n/g;
const countLineEnds = (text: string) => text.match(lineEnd)?.length ?? 0;

/** Reads the first rows of a file, at most `most`. */
export async function readCsv(
  file: Slices,
  most: number,
  options: CsvOptions,
  watch: SlicesWatch,
): Promise<FirstRows & { layout: CsvLayout }> {
  const isTsv = file.name.endsWith('.tsv');
  const dialect: Dialect = {
    separator: options.separator ?? (isTsv ? '\t' : ','),
    decimal: options.decimal ?? '.',
    quotes: !isTsv,
    refuse({ line, column }, expected, actual) {
      const place = column === undefined ? `line ${line}` : `line ${line}, column ${column}`;
      return refuse(file, place, expected, actual);
    },
  };
  const pieces = piecesOf(file, watch, dialect);
  const first = (await pieces.next()).value as Piece;
  if (options.separator === undefined) refuseOtherSeparator(file, first, dialect);
  const records = recordsOf(first, pieces, dialect);
  const sample: CsvRecord[] = [];
  while (sample.length < sampledLines) {
    const { value, done } = await records.next();
    if (done) break;
    sample.push(value);
  }
  const { header, labels } = layoutOf(file, sample, options, dialect);
  const [top] = sample;
  if (!top || (header && sample.length === 1)) {
    return dialect.refuse({ line: top?.nextLine ?? 1 }, 'a row of numbers', 'the end of the file');
  }
  const { columns, read } = rowReader(top, labels, dialect);
  check.requireMemory(`${most} rows of ${columns} columns`, 16 * most * columns);
  const values: number[] = [];
  const words: string[] = [];
  let more = false;
  for await (const record of chained(header ? sample.slice(1) : sample, records)) {
    if (values.length === most * columns) {
      more = true;
      break;
    }
    const { name, numbers } = read(record);
    for (const number of numbers) values.push(number);
    words.push(name);
  }
  return {
    data: Float64Array.from(values),
    columns,
    ...(labels && { words }),
    more,
    layout: {
      separator: dialect.separator,
      decimal: dialect.decimal,
      header: header ? top.cells.slice(labels ? 1 : 0) : undefined,
      labels,
    },
  };
}

async function* chained<T>(first: Iterable<T>, others: AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* first;
  yield* others;
}

async function* piecesOf(
  file: Slices,
  { signal, progress }: SlicesWatch,
  { refuse }: Dialect,
): AsyncGenerator<Piece, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let read = 0;
  do {
    signal?.throwIfAborted();
    const bytes = await slice(file, read, Math.min(pieceBytes, file.size - read));
    read += bytes.length;
    const last = read === file.size;
    progress?.(read, file.size);
    let text = '';
    try {
      text = decoder.decode(bytes, { stream: !last });
    } catch {
      refuse({ line }, 'text in UTF-8', 'other bytes');
    }
    yield { text, last };
    line += countLineEnds(text);
  } while (read < file.size);
}

/** The records that are not empty, one after another. */
async function* recordsOf(
  first: Piece,
  pieces: AsyncIterable<Piece>,
  dialect: Dialect,
): AsyncGenerator<CsvRecord, undefined> {
  const refuseLong = (line: number, where = '') =>
    dialect.refuse({ line }, `at most ${longestLine} characters`, `more${where}`);
  let line = 1;
  let rest = '';
  for await (const { text, last } of chained([first], pieces)) {
    rest += text;
    let at = 0;
    while (at < rest.length) {
      const record = recordAt(rest, at, line, last, dialect);
      if (!record) break;
      if (record.end - at > longestLine + 1) refuseLong(line);
      at = record.end;
      line = record.nextLine;
      const isEmpty = record.cells.length === 1 && record.cells[0] === '';
      if (!isEmpty) yield record;
    }
    rest = rest.slice(at);
    if (rest.length > longestLine) refuseLong(line, countLineEnds(rest) > 0 ? ', in a quoted cell' : '');
  }
}

const cellEnds = Object.fromEntries(
  separators.map((separator) => [separator, new RegExp(`[${separator}\r\n]`, 'g')]),
);

/** The record that begins at `from`; undefined if it may go on in the next piece of the file. */
function recordAt(
  text: string,
  from: number,
  line: number,
  last: boolean,
  { separator, quotes, refuse }: Dialect,
): CsvRecord | undefined {
  const cells: string[] = [];
  for (let at = from; ; at += 1) {
    const column = cells.length + 1;
    // A quotation mark inside an unquoted cell is an ordinary character.
    const isQuoted = quotes && text[at] === '"';
    const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at, separator);
    if (end === undefined) {
      return last ? refuse({ line, column }, 'the end of a quoted cell', 'the end of the file') : undefined;
    }
    // A carriage return may have its line feed in the next piece.
    if (!last && end + 1 >= text.length) return undefined;
    const cell = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end);
    if (!quotes && /^".+"$/s.test(cell.trim())) {
      refuse({ line, column }, 'a cell without quotation marks, as in every .tsv file', check.shown(cell));
    }
    cells.push(cell.trim());
    at = end;
    if (text[at] === separator) continue;
    if (at < text.length && text[at] !== '\r' && text[at] !== '\n') {
      const after = check.shown(text.slice(at, at + 20));
      refuse({ line, column }, 'the end of a cell after its closing quotation mark', after);
    }
    const nextLine = line + 1 + countLineEnds(text.slice(from, at));
    return { cells, line, nextLine, end: at + (text.startsWith('\r\n', at) ? 2 : 1) };
  }
}

/** The place after the closing quotation mark; undefined if the text has none. */
function endOfQuoted(text: string, start: number): number | undefined {
  let end = start;
  do {
    end = text.indexOf('"', end + 1) + 1;
    if (end === 0) return undefined;
  } while (text[end] === '"');
  return end;
}

function endOfPlain(text: string, start: number, separator: CsvSeparator): number {
  const ends = cellEnds[separator] as RegExp;
  ends.lastIndex = start;
  return ends.exec(text)?.index ?? text.length;
}

const separatorNames: Record<CsvSeparator, string> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
  ' ': 'spaces',
};

/** Refuses a file whose first lines seem to have a separator other than that of the dialect. */
function refuseOtherSeparator(file: Slices, { text, last }: Piece, dialect: Dialect): void {
  const { separator, decimal, quotes } = dialect;
  const unquoted = quotes ? text.replaceAll(/(^|[,;|\t\r\n])"(?:[^"]|"")*"/g, '$1""') : text;
  const all = unquoted.split(lineEnd);
  // The last line may go on in the next piece.
  if (!last && all.length > 1) all.pop();
  const lines = all.filter((line) => line.trim() !== '').slice(0, sampledLines);
  if (lines.length === 0) return;
  const isOneColumn = !lines.some((line) => line.includes(separator));
  const rows = lines.length > 1 ? lines.slice(1) : lines;
  for (const other of separators) {
    if (other === separator || other === decimal) continue;
    const counts = lines.map((line) => line.split(other).length - 1);
    // Names may contain spaces, and numbers decimal commas, equally often in every line.
    const isRegular =
      other !== ' ' && other !== ',' && counts.every((count) => count > 0 && count === counts[0]);
    const isInOneCell = isOneColumn && rows.every((line) => line.trim().includes(other));
    if (!isRegular && !isInOneCell) continue;
    throw new RangeError(
      `“${file.name}” seems to have ${separatorNames[other]} between its cells rather than ${separatorNames[separator]}; pass separator: ${JSON.stringify(other)} or separator: ${JSON.stringify(separator)}.`,
    );
  }
}

const numberForms = {
  '.': /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i,
  ',': /^[-+]?(\d+,?\d*|,\d+)(e[-+]?\d+)?$/i,
};

/** The finite number that a cell holds, or NaN. */
function numberIn(cell: string, decimal: CsvDecimal): number {
  const number = numberForms[decimal].test(cell) ? Number(cell.replace(',', '.')) : Number.NaN;
  return Number.isFinite(number) ? number : Number.NaN;
}

const isWhole = (cell: string) => /^\d+$/.test(cell);
const isYear = (cell: string) => /^(18|19|20)\d\d$/.test(cell);
/** Whether a cell is what programs write where a number is missing. */
const isMissing = (cell: string) => /^(|nan|n\/?a|null|none|[-+]?inf(inity)?)$/i.test(cell);
/** Whether a cell looks like a number in any notation, even one that is not read, such as 1,234 or −1.5. */
const isLikeNumber = (cell: string) => /^[-+−]?\.?\d[\d.,'’\s]*(e[-+−]?\d+)?$/i.test(cell);
/** Whether a cell neither looks like a number nor stands for a missing one. */
const isWord = (cell: string) => !isMissing(cell) && !isLikeNumber(cell);

/** Whether more than half of the numbers among these cells are fractions. */
function areMostlyFractions(cells: readonly string[], decimal: CsvDecimal): boolean {
  const numbers = cells.filter((cell) => !Number.isNaN(numberIn(cell, decimal)));
  return 2 * numbers.filter((cell) => !/^[-+]?\d+$/.test(cell)).length > numbers.length;
}

/** Whether at least half of these cells, which would be the names of rows, are words. */
function areNames(cells: readonly string[]): boolean {
  const words = cells.filter(isWord).length;
  return words > 0 && 2 * words >= cells.length;
}

const doRise = (cells: readonly string[]) =>
  cells.every((cell, place) => isWhole(cell) && (place === 0 || Number(cell) > Number(cells[place - 1])));

/** The first three of these cells, as an error quotes them. */
const listed = (cells: readonly string[]) =>
  `${cells
    .slice(0, 3)
    .map((cell) => check.shown(cell))
    .join(', ')}${cells.length > 3 ? ', …' : ''}`;

/**
 * Decides by the rules whether the first line and the first column are names. Refuses a file for which the
 * rules leave that open.
 */
function layoutOf(
  file: Slices,
  sample: readonly CsvRecord[],
  options: CsvOptions,
  { decimal }: Dialect,
): { header: boolean; labels: boolean } {
  const ask = (question: string): never => {
    throw new RangeError(`“${file.name}”: ${question}.`);
  };
  const [top = [], ...below] = sample.map(({ cells }) => cells);
  const header = options.header ?? hasHeader(top, below, options.labels, decimal, ask);
  const labels = options.labels ?? hasLabels(top, below, header, ask);
  return { header, labels };
}

type Ask = (question: string) => never;

function hasHeader(
  top: readonly string[],
  below: readonly (readonly string[])[],
  labels: boolean | undefined,
  decimal: CsvDecimal,
  ask: Ask,
): boolean {
  const [corner = '', ...others] = top;
  if (others.length === 0 ? isWord(corner) : others.every(isWord)) return true;
  if (corner === '' && others.length > 0 && doRise(others)) return true;
  // A header alone is not a table.
  if (below.length > 0) {
    const isName = labels === true || !isLikeNumber(corner);
    const numbers = isName ? others : top;
    const numbersBelow = below.flatMap((row) => row.slice(isName ? 1 : 0));
    const mayName =
      numbers.every((cell, place) => cell === String(place)) ||
      numbers.every(isYear) ||
      (doRise(numbers) && areMostlyFractions(numbersBelow, decimal));
    if (mayName && numbers.length > 0) {
      ask(`line 1 (${listed(numbers)}) may name columns or be a row; pass header: true or header: false`);
    }
  }
  const isRow = isLikeNumber(corner) || labels !== undefined || others.length === 0;
  const areRowsUnnamed = below.length > 0 && !areNames(below.map(([cell = '']) => cell));
  if (!isRow && (corner === '' || areRowsUnnamed)) {
    ask(
      `line 1 begins with ${check.shown(corner)}, but most rows below begin with a number; pass header: true if line 1 names columns, or labels: true if the first column names rows`,
    );
  }
  return false;
}

function hasLabels(
  top: readonly string[],
  below: readonly (readonly string[])[],
  header: boolean,
  ask: Ask,
): boolean {
  if (top.length < 2) return false;
  if (header && top[0] === '') return true;
  const rows = header ? below : [top, ...below];
  const column = rows.map(([cell = '']) => cell);
  if (areNames(column)) return true;
  const isDistinct = column.length > 1 && column.every(isWhole) && new Set(column).size === column.length;
  const isBesideFractions = rows.some((row) =>
    row.slice(1).some((cell) => /\d/.test(cell) && !/^[-+]?\d+$/.test(cell)),
  );
  const isCalledIndex = header && /^(id|index)$/i.test(top[0] as string);
  if (isCalledIndex || (isDistinct && isBesideFractions)) {
    ask(
      `the first column (${listed(column)}) may name rows or be numbers; pass labels: true or labels: false`,
    );
  }
  return false;
}

interface Row {
  name: string;
  numbers: number[];
}

/** Reads rows one after another, each as wide as the first line. */
function rowReader(top: CsvRecord, labels: boolean, dialect: Dialect) {
  const { decimal, refuse } = dialect;
  const width = top.cells.length;
  const columns = width - (labels ? 1 : 0);
  if (columns < 1 || columns > mostColumns) {
    refuse({ line: top.line }, `1 to ${mostColumns} numbers`, String(columns));
  }
  /** The line of each row's name. */
  const lineOfName = new Map<string, number>();
  const readNumber = (cell: string, line: number, column: number): number => {
    const number = numberIn(cell, decimal);
    if (Number.isNaN(number)) {
      const [mark] = decimals.filter((other) => !Number.isNaN(numberIn(cell, other)));
      const hint = mark === undefined ? '' : `; pass decimal: "${mark}" if that is its decimal mark`;
      refuse({ line, column }, 'a number', `${check.shown(cell)}${hint}`);
    }
    return number;
  };
  const read = ({ cells, line }: CsvRecord): Row => {
    if (cells.length !== width) {
      refuse({ line }, `${check.counted(width, 'cell')}, as in line ${top.line}`, String(cells.length));
    }
    const name = labels ? (cells[0] as string) : '';
    if (labels) {
      const other = lineOfName.get(name);
      if (other !== undefined) {
        // Under an empty header, a column of numbers counts as names, but numbers may repeat.
        const hint = isLikeNumber(name)
          ? ', or pass labels: false if the first column is numbers rather than names'
          : '';
        refuse(
          { line, column: 1 },
          'a name that no other row has',
          `${check.shown(name)}, as in line ${other}; rename or remove one of the two rows${hint}`,
        );
      }
      lineOfName.set(name, line);
    }
    const first = labels ? 1 : 0;
    const numbers = cells.slice(first).map((cell, at) => readNumber(cell, line, first + at + 1));
    return { name, numbers };
  };
  return { columns, read };
}
