// Comma-separated values, as RFC 4180 has them. What separates cells, which mark stands in numbers, and whether the
// first line and the first column are names is found out only where one reading of the file remains.
import * as check from '../check.js';

/** Between the cells of a line. */
export const separators = [',', ';', '\t'] as const;
export type CsvSeparator = (typeof separators)[number];

/** Between the whole and the fraction of a number. */
export const decimals = ['.', ','] as const;
export type CsvDecimal = (typeof decimals)[number];

/** What is not given is found out from the first lines; where they can be read in two ways, the file is refused. */
export interface CsvOptions {
  /** Between cells. */
  separator?: CsvSeparator;
  /** The decimal mark. A comma is found out only where it does not separate cells. */
  decimal?: CsvDecimal;
  /**
   * Whether the first line names columns. Words do, and whole numbers that rise above fractions; a count from 0 or 1, or
   * years, above whole numbers may be names or a row: then it must be said.
   */
  header?: boolean;
  /** Whether the first column names rows. */
  labels?: boolean;
}

/** How a file of comma-separated values was read. Every line is a row, the header, or empty. */
export interface CsvLayout {
  /** Between cells. */
  readonly separator: CsvSeparator;
  /** The decimal mark. */
  readonly decimal: CsvDecimal;
  /** The names of the columns with numbers, or undefined without a header. */
  readonly header: readonly string[] | undefined;
  /** Whether the first column names rows. */
  readonly labels: boolean;
}

/** Records that tell the layout. */
export const sampled = 100;

export interface CsvRecord {
  /** Without quotation marks and spaces around them. */
  cells: string[];
  /** The line that it begins with, from 1. */
  line: number;
  /** The next one's line. */
  after: number;
  /** Where that begins in the text. */
  end: number;
}

/** An empty line, which is passed over. */
export const isBlank = ({ cells }: CsvRecord) => cells.length === 1 && cells[0] === '';

/** What is wrong in a line. */
export interface Fault {
  /** From 1. */
  line: number;
  /** What there should be. */
  expected: string;
  /** What there is. */
  found: string;
}

const lineEnd = /\r\n|\r|\n/g;
export const lineEnds = (text: string) => text.match(lineEnd)?.length ?? 0;

const ending = Object.fromEntries(separators.map((one) => [one, new RegExp(`[${one}\r\n]`, 'g')]));

/** The record that begins here; undefined if the text ends before it, which is all of the file if `whole`. */
export function recordAt(
  text: string,
  { from, line, separator, whole }: { from: number; line: number; separator: CsvSeparator; whole: boolean },
): CsvRecord | Fault | undefined {
  const cells: string[] = [];
  const ends = ending[separator] as RegExp;
  for (let at = from; ; at += 1) {
    // A quotation mark within a cell is one of its letters.
    const quoted = text[at] === '"';
    let end = at;
    if (quoted) {
      do end = text.indexOf('"', end + 1) + 1;
      while (end > 0 && text[end] === '"');
      if (end === 0)
        return whole
          ? { line, expected: 'the end of a quoted cell', found: 'the end of the file' }
          : undefined;
    } else {
      ends.lastIndex = at;
      end = ends.exec(text)?.index ?? text.length;
    }
    cells.push((quoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end)).trim());
    at = end;
    // A carriage return may have its line feed in the next piece of the file.
    if (!whole && at + 1 >= text.length) return undefined;
    if (text[at] === separator) continue;
    if (at < text.length && text[at] !== '\r' && text[at] !== '\n') {
      const found = check.shown(text.slice(at, at + 20));
      return { line, expected: 'the end of a cell after its quotation mark', found };
    }
    const after = line + 1 + lineEnds(text.slice(from, at));
    return { cells, line, after, end: at + (text.startsWith('\r\n', at) ? 2 : 1) };
  }
}

const forms = { '.': /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i, ',': /^[-+]?(\d+,?\d*|,\d+)(e[-+]?\d+)?$/i };

/** The number that a cell holds. Marks between thousands are none. */
const numberIn = (cell: string, decimal: CsvDecimal): number => {
  const found = forms[decimal].test(cell) ? Number(cell.replace(',', '.')) : Number.NaN;
  return Number.isFinite(found) ? found : Number.NaN;
};

const likeNumber = /^[-+−]?\.?\d[\d.,'’\s]*(e[-+−]?\d+)?$/i;
/** What programs write where a number is missing. */
const isMissing = (cell: string) => /^(|nan|n\/?a|null|none|[-+]?inf(inity)?)$/i.test(cell);
const isCount = (cells: readonly string[], from: number) =>
  cells.every((cell, place) => cell === String(place + from));

/** A way to read a file. */
export type Reading = Required<CsvOptions>;

/** The numbers of a row of so many. */
export function numbersIn(
  { cells, line }: CsvRecord,
  { decimal, labels }: Reading,
  columns: number,
): number[] | Fault {
  const expected = `${labels ? 'a label and ' : ''}${check.counted(columns, 'number')}`;
  const given = cells.slice(labels ? 1 : 0);
  if (given.length !== columns) return { line, expected, found: check.counted(cells.length, 'field') };
  const numbers = given.map((cell) => numberIn(cell, decimal));
  const bad = numbers.findIndex(Number.isNaN);
  if (bad < 0) return numbers;
  return { line, expected, found: `${check.shown(given[bad])} where a number is due` };
}

/** The first line in which a reading fails. */
function faultOf(records: readonly CsvRecord[], reading: Reading): Fault | undefined {
  const { header, labels } = reading;
  const [first, second] = records;
  const row = header ? second : first;
  const line = records.at(-1)?.after ?? 1;
  if (!first || !row)
    return { line, expected: 'a row of numbers with commas between them', found: 'the end of the file' };
  const width = row.cells.length;
  const names = first.cells.length;
  // R's write.table() leaves out the name of the column of names.
  if (names !== width && !(labels && names > 1 && names === width - 1))
    return {
      line: first.line,
      expected: `${check.counted(width, 'field')}, as in line ${row.line}`,
      found: `${names}`,
    };
  for (const record of header ? records.slice(1) : records) {
    const found = numbersIn(record, reading, Math.max(1, width - (labels ? 1 : 0)));
    if (!Array.isArray(found)) return found;
  }
  return undefined;
}

/** Whether the first line and the first column look like what a reading takes them for, if nobody said it. */
function isLikely(records: readonly CsvRecord[], reading: Reading, given: CsvOptions): boolean {
  const { decimal, header, labels } = reading;
  const isNumber = (cell: string) => !Number.isNaN(numberIn(cell, decimal));
  // A number with other marks, or beyond what a number here can be, is no word.
  const isWord = (cell: string) => !isNumber(cell) && !isMissing(cell) && !likeNumber.test(cell);
  const [top = [], ...below] = records.map(({ cells }) => cells);
  const first = top.map((cell) => cell.replace(/^#\s*(?=\S)/, ''));
  const width = (header ? below[0] : top)?.length ?? 0;
  const short = header && first.length < width;
  const unnamed = first.length > 1 && first[0] === '';
  // What stands between the names of columns does so between numbers.
  if (!given.separator && header && decimal === ',' && width === 1 && first[0]?.includes(',')) return false;
  // Whole numbers that rise above fractions are names of columns. Above whole numbers they may be, if they count from
  // 0 or 1 or are years, however few: then the first line may be either, and the reader is asked.
  const names = first.slice(labels && !short ? 1 : 0);
  const rises = names.every(
    (cell, at) => /^\d+$/.test(cell) && (at === 0 || Number(cell) > Number(names[at - 1])),
  );
  const numbers = below.flatMap((row) => row.slice(labels ? 1 : 0)).filter(isNumber);
  const fractions = numbers.length > 0 && !numbers.some((cell) => /^[-+]?\d+$/.test(cell));
  const counted = isCount(names, 0) || isCount(names, 1) || names.every((cell) => /^\d{4}$/.test(cell));
  const numbered = rises && (fractions || counted);
  if (given.header === undefined && header && !numbered && !names.every(isWord)) return false;
  if (given.header === undefined && !header && (unnamed || (rises && fractions && names.length > 2)))
    return false;
  if (given.labels !== undefined) return true;
  const rows = header ? below : [top, ...below];
  const column = width > 1 ? rows.map(([cell = '']) => cell) : [];
  const words = column.filter(isWord).length;
  // One word above numbers is a name of the column rather than of a row.
  const alone = !header && column.length > 1 && words === 1 && isWord(column[0] as string);
  const worded = words > 0 && 2 * words >= column.length && !alone;
  const index = header && (unnamed || (short && (worded || isCount(column, 1))));
  if (!labels) return !worded && !index;
  const counts = column.length > (fractions ? 1 : 2) && (isCount(column, 0) || isCount(column, 1));
  return worded || index || counts;
}

type Cut = (separator: CsvSeparator) => readonly CsvRecord[] | Fault;

const said: { [Option in keyof Reading]: (value: Reading[Option]) => string } = {
  separator: (value) => `${value === '\t' ? 'tabs' : `“${value}”`} between cells`,
  decimal: (value) => `“${value}” as the decimal mark`,
  header: (value) => (value ? 'a header' : 'no header'),
  labels: (value) => (value ? 'names in the first column' : 'numbers in the first column'),
};

/** Two readings, by what they differ in and how their first rows begin. */
function shownBoth(both: readonly [Reading, Reading], cut: Cut): string {
  const differ = (Object.keys(said) as (keyof Reading)[]).filter((one) => both[0][one] !== both[1][one]);
  const [one, other] = both.map((reading) => {
    const { cells = [] } = (cut(reading.separator) as CsvRecord[])[reading.header ? 1 : 0] ?? {};
    const row = cells.slice(0, 3).map((cell) => check.shown(cell));
    const begins = reading.labels ? `${row[0]}: ${row.slice(1).join(' | ')}` : row.join(' | ');
    const by = differ.map((option) => said[option](reading[option] as never)).join(', ');
    return `with ${by}, so that its first row is ${begins}${cells.length > 3 ? ' | …' : ''}`;
  });
  return `can be read in two ways: ${one}; or ${other}. Say which by ${differ.join(', ')}.`;
}

/** The marks of numbers that could all be between thousands. */
const groupedIn = (records: readonly CsvRecord[], mark: CsvDecimal): string | undefined => {
  const cells = records.flatMap((record) => record.cells);
  const marked = cells.filter((cell) => /^[-+]?[\d.,]+$/.test(cell) && cell.includes(mark));
  return marked.every((cell) => /^[-+]?[1-9]\d{0,2}([.,]\d{3})+$/.test(cell)) ? marked[0] : undefined;
};

/** The one reading of a file that begins with such records; a sentence if there are two, a fault if none. */
export function readingOf(cut: Cut, given: CsvOptions): Reading | Fault | string {
  const sound: Reading[] = [];
  let furthest: Fault | undefined;
  let rank = -1;
  for (const separator of given.separator ? [given.separator] : separators) {
    const records = cut(separator);
    if ('found' in records) {
      furthest ??= records;
      continue;
    }
    const alone = records.every(({ cells }) => cells.length === 1);
    const cells = records.reduce((sum, record) => sum + record.cells.length, 0);
    for (const decimal of given.decimal ? [given.decimal] : decimals) {
      // Neither a mark that no number has tells anything, nor a separator that no line has.
      const marked = records.some(({ cells }) => cells.some((cell) => cell.includes(decimal)));
      if (!given.decimal && decimal === ',' && (separator === ',' || !marked)) continue;
      if (!given.separator && alone && separator !== (decimal === ',' ? ';' : ',')) continue;
      for (const header of given.header === undefined ? [true, false] : [given.header]) {
        for (const labels of given.labels === undefined ? [false, true] : [given.labels]) {
          const reading = { separator, decimal, header, labels };
          const likely = isLikely(records, reading, given);
          const fault = faultOf(records, reading);
          if (likely && !fault) sound.push(reading);
          // One column with decimal commas looks like two columns.
          if (likely && !fault && alone && decimal === ',' && !given.separator && !given.decimal)
            sound.push({ ...reading, separator: ',', decimal: '.' });
          const reached = cells * 2 ** 24 + (likely ? 2 ** 23 : 0) + (fault?.line ?? 1);
          if (reached <= rank) continue;
          rank = reached;
          const expected = 'names of columns, or numbers, in one reading (options header, labels)';
          furthest = fault ?? { line: 1, expected, found: 'something of both' };
        }
      }
    }
  }
  const [one] = sound;
  if (!one) return furthest as Fault;
  const other = sound.find(({ separator }) => separator !== one.separator) ?? sound[1];
  if (other) return shownBoth([one, other], cut);
  const thousand =
    given.decimal || one.separator === ','
      ? undefined
      : groupedIn(cut(one.separator) as CsvRecord[], one.decimal);
  if (thousand === undefined) return one;
  return `can be read in two ways: ${check.shown(thousand)} has a decimal mark, or a mark between thousands. Say by decimal: '${one.decimal}' that it is the former; of the latter none are read.`;
}
