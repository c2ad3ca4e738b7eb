// Numbers as the page prints them, with a true minus sign and no more digits than can be read; names in a
// sentence; and the sentences of a caption.
export { listed } from '../../build/package/listed.js';

export const minus = (text: string) => text.replace('-', '−');

/**
 * A fraction of the largest number beside a value. A smaller value is rounding error, such as a constant row
 * minus its mean, and prints as 0.
 */
const dust = 1e-12;
const withoutDust = (value: number, size: number) => (Math.abs(value) < dust * size ? 0 : value);

function rounded(exact: number, digits: number, beside: number): string {
  if (!Number.isFinite(exact)) return '–';
  const value = withoutDust(exact, beside);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return exponent(value);
  // toPrecision would print a larger number with an exponent, without all of its integer digits.
  return minus(size >= 10 ** digits - 0.5 ? value.toFixed(0) : value.toPrecision(digits));
}

/** A count with its noun, singular or plural. */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : plural}`;

/**
 * A number in a readout, such as a logit: three significant digits, and no exponent between 10⁻⁴ and 10⁶. A
 * setting's value is not rounded: it is printed as it is.
 */
export const readable = (value: number, size = 1): string => rounded(value, 3, size);

/** A number in a finding: two significant digits. */
export const about = (value: number, size = 1): string => rounded(value, 2, size);

/** A number with its sign in front, for terms of a sum. */
export const signed = (value: number, size = 1): string =>
  withoutDust(value, size) >= 0 ? `+${readable(value, size)}` : readable(value, size);

/** A very small or very large number, on one line: 2.1 × 10⁻¹⁴. */
export function exponent(value: number): string {
  if (value === 0) return '0';
  const [digits, power] = value.toExponential(1).split('e') as [string, string];
  const raised = String(Number(power))
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] as string);
  return `${minus(digits)}\u00a0×\u00a010${raised}`;
}

/** Keeps a share that is less than all from being rounded to 100 %. */
const belowAll = (part: number) => (1 - part > dust ? Math.min(part, 0.999) : part);
/** A share to a tenth of a percent; a share that rounds to zero has no sign. */
export const percent = (part: number): string =>
  Number.isFinite(part)
    ? minus(`${(100 * belowAll(part)).toFixed(1).replace(/^-(0\.0)$/, '$1')}\u202f%`)
    : '–';

/** A share in a finding: whole percents, but tenths below 10 %, and from 98.5 % until all are 100 %. */
export const aboutPercent = (fraction: number): string =>
  !(Math.abs(fraction) >= 0.0995) || (fraction >= 0.985 && 1 - fraction > dust)
    ? percent(fraction)
    : minus(`${(100 * fraction).toFixed(0)}\u202f%`);

/** More than the rounding error of any sum on this page. */
export const rounding = 1e-9;

/** How exactly two numbers are equal, given their difference and, for a relative one, the largest number. */
export function howExactly(gap: number, largest?: number): string {
  const part = gap / (largest || 1);
  if (part <= rounding) return gap === 0 ? 'exactly' : 'to machine precision';
  return `to within ${exponent(part)}${largest ? ' of the largest' : ''}`;
}

/** A change in words; up to `least` it is said to be rounding. */
export const changeText = (change: number, least = rounding): string =>
  change !== 0 && change <= least ? '0 (rounding)' : readable(change);

/** The length of the longest sentence that can stand out, in letters: about eight words and their numbers. */
const longestHead = 90;

/**
 * Splits a caption into its first sentence, which stands out, and the rest. If the first sentence is too
 * long, none stands out.
 */
export function captionOf(finding: string): [head: string, rest: string] {
  const end = finding.search(/[.!?](\s|$)/) + 1;
  return end > 0 && end <= longestHead ? [finding.slice(0, end), finding.slice(end)] : ['', finding];
}

/** The text of the link to the figure that a click on a place opens. */
export const openingText = ({ label, figure }: { label?: string; figure: { title: string } }): string =>
  `${label ?? 'Open this run'}: ${figure.title}`;
