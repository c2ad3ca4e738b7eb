// Numbers as the page prints them: a true minus sign, and no more digits than can be read; names in a sentence, and
// sentences in a caption; and tables as files have them.
export { listed } from '../../build/package/listed.js';

export const minus = (text: string) => text.replace('-', '−');

/** Of the largest number beside it. Anything smaller is rounding error, as of a constant row minus its mean, and prints as 0. */
const dust = 1e-12;
const dusted = (value: number, size: number) => (Math.abs(value) < dust * size ? 0 : value);

function rounded(exact: number, digits: number, beside: number): string {
  if (!Number.isFinite(exact)) return '–';
  const value = dusted(exact, beside);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return exponent(value);
  // Of larger numbers toPrecision would round whole digits away and print an exponent.
  return minus(size >= 10 ** digits - 0.5 ? value.toFixed(0) : value.toPrecision(digits));
}

/** A count with its noun, singular or plural. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A number in a readout, such as a logit: three significant digits, no exponent in the usual range. */
export const readable = (value: number, size = 1): string => rounded(value, 3, size);

/** A number in a finding: two significant digits. */
export const about = (value: number, size = 1): string => rounded(value, 2, size);

/** With a sign in front, for terms of a sum. */
export const signed = (value: number, size = 1): string =>
  dusted(value, size) >= 0 ? `+${readable(value, size)}` : readable(value, size);

/** A very small or very large number, on one line: 2.1 × 10⁻¹⁴. */
export function exponent(value: number): string {
  if (value === 0) return '0';
  const [digits, power] = value.toExponential(1).split('e') as [string, string];
  const raised = String(Number(power))
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] as string);
  return `${minus(digits)}\u00a0×\u00a010${raised}`;
}

/** What is less than all does not round to all, in a finding or a readout. */
const short = (part: number) => (1 - part > dust ? Math.min(part, 0.999) : part);
/** To a tenth of a percent; what rounds to zero has no sign. */
export const percent = (part: number): string =>
  Number.isFinite(part) ? minus(`${(100 * short(part)).toFixed(1).replace(/^-(0\.0)$/, '$1')}\u202f%`) : '–';

/** A share in a finding: whole percents, but tenths below 10 %, and from 98.5 % until all are 100 %. */
export const aboutPercent = (fraction: number): string =>
  !(Math.abs(fraction) >= 0.0995) || (fraction >= 0.985 && 1 - fraction > dust)
    ? percent(fraction)
    : minus(`${(100 * fraction).toFixed(0)}\u202f%`);

/** More than the rounding error of any sum on this page. */
const rounding = 1e-9;

/** How exactly numbers are equal, where one is said as a part of it. */
export function howExactly(gap: number, largest?: number): string {
  const part = gap / (largest || 1);
  if (part <= rounding) return gap === 0 ? 'exactly' : 'to machine precision';
  return `to within ${exponent(part)}${largest ? ' of the largest' : ''}`;
}

/** A change that may be only rounding, as one of at most `least` is. */
export const changeText = (change: number, least = rounding): string =>
  change !== 0 && change <= least ? '0 (rounding)' : readable(change);

/** In letters: about eight words and their numbers. */
const longest = 90;

/** The sentence that stands out, empty if the first is too long, and the rest. */
export function captionOf(finding: string): [head: string, rest: string] {
  const end = finding.search(/[.!?](\s|$)/) + 1;
  return end > 0 && end <= longest ? [finding.slice(0, end), finding.slice(end)] : ['', finding];
}

/** A line of CSV by RFC 4180. Text comes out as it is: tokens such as “=” and “-” are what a row is about. */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) => {
    // What there is no number for is empty.
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = (table: { columns: string[]; rows: (string | number)[][] }): string =>
  [table.columns, ...table.rows].map(csvRow).join('');
