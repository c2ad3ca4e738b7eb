// Comma-separated values: which lines are a header, which column names the rows, and what separates cells.
// d3-dsv cuts the lines into cells. Of it only parseRows() is used: parse() makes code at run time, which a strict
// content security policy forbids.
import { dsvFormat } from 'd3-dsv';

/** Between the cells of a line. */
export const separators = [',', ';', '\t'] as const;
export type CsvSeparator = (typeof separators)[number];

/** What is not given is found out from the first lines. */
export interface CsvOptions {
  /** Between cells. Default: that of the three which gives the most numbers. */
  separator?: CsvSeparator;
  /**
   * Whether the first line names columns. Default: whether it has words and no numbers, or counts the columns from 0
   * as pandas does: at least three, above numbers that are not all whole, or after an empty first cell.
   */
  header?: boolean;
  /**
   * Whether the first column names rows. Default: whether it has a word below the header, or the header has no name
   * for it, as pandas and R write an index.
   */
  labels?: boolean;
}

/** How a file of comma-separated values was read. */
export interface CsvLayout {
  /** Between cells. */
  readonly separator: CsvSeparator;
  /** The names of the columns with numbers, or undefined without a header. */
  readonly header: readonly string[] | undefined;
  /** Whether the first column names rows. */
  readonly labels: boolean;
}

/** Lines that tell the layout. */
export const sampled = 100;

const formats = Object.fromEntries(separators.map((one) => [one, dsvFormat(one)]));

/** The cells of a record, which is a line unless a quoted cell has line breaks. */
export function cellsOf(record: string, separator: CsvSeparator): string[] {
  const [cells = []] = formats[separator]?.parseRows(record) ?? [];
  return cells.map((cell) => cell.trim());
}

/** Whether a record goes on in the next line: it has opened a quotation mark and not closed it. */
export const goesOn = (record: string) => (record.split('"').length - 1) % 2 === 1;

/** The number that a cell holds. Where ; separates, a comma may stand for the decimal point. */
export function numberIn(cell: string, separator: CsvSeparator): number | undefined {
  const text = separator === ';' && /^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(cell) ? cell.replace(',', '.') : cell;
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? number : undefined;
}

/** What programs write where a number is missing. It is no word. */
const isMissing = (cell: string) => /^(|nan|n\/?a|null|none|[-+]?inf(inity)?)$/i.test(cell);

/** The layout of a file that begins with these records, at most `sampled` of them. */
export function layoutOf(records: readonly string[], given: CsvOptions): CsvLayout {
  const separator = given.separator ?? separatorOf(records);
  const [first = [], ...below] = records.map((record) => cellsOf(record, separator));
  const isNumber = (cell: string) => numberIn(cell, separator) !== undefined;
  const isWord = (cell: string) => !isNumber(cell) && !isMissing(cell);
  const counts = (cells: readonly string[]) =>
    cells.length > 0 && cells.every((cell, column) => cell === String(column));
  const isDecimal = (cell: string) => isNumber(cell) && !/^[-+]?\d+$/.test(cell);
  const unnamed = first.length > 1 && first[0] === '';
  const rest = unnamed || isWord(first[0] ?? '') ? first.slice(1) : first;
  const numbered =
    counts(rest) &&
    (unnamed || (rest.length > 2 && below.some((row) => row.slice(-rest.length).some(isDecimal))));
  const header = given.header ?? (numbered || (first.some(isWord) && !first.some(isNumber)));
  // R's write.table() leaves out the name of the first column altogether.
  const short = below.length > 0 && below.every((row) => row.length === first.length + 1);
  const rows = header ? below : [first, ...below];
  const labels =
    given.labels ??
    ((rows[0]?.length ?? 0) > 1 &&
      ((header && (unnamed || short)) || rows.some(([cell = '']) => isWord(cell))));
  return { separator, header: header ? first.slice(labels && !short ? 1 : 0) : undefined, labels };
}

/** The separator that gives the largest share of numbers among the cells, of lines that have cells to separate. */
function separatorOf(records: readonly string[]): CsvSeparator {
  const share = (separator: CsvSeparator) => {
    const cells = records.flatMap((record) => cellsOf(record, separator));
    const parted = cells.length > records.length ? 1 : 0;
    return parted + cells.filter((cell) => numberIn(cell, separator) !== undefined).length / cells.length;
  };
  return separators.reduce((best, one) => (share(one) > share(best) ? one : best));
}
