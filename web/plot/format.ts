// Numbers as the page prints them: a true minus sign, and no more digits than can be read.

export const minus = (text: string) => text.replace('-', '−');

/** Rounding of doubles, as of a constant row minus its mean, is no value to print. */
const dust = 1e-12;
const dusted = (value: number) => (Math.abs(value) < dust ? 0 : value);

function rounded(exact: number, digits: number): string {
  if (!Number.isFinite(exact)) return '–';
  const value = dusted(exact);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return exponent(value);
  // No whole digit is rounded away, and none takes an exponent.
  return minus(size >= 10 ** digits - 0.5 ? value.toFixed(0) : value.toPrecision(digits));
}

/** How many of what: one of a thing is not many. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A logit, a dot product, as a readout has it: three significant digits, without exponents in the usual range. */
export const readable = (value: number): string => rounded(value, 3);

/** As a finding has it: two. */
export const about = (value: number): string => rounded(value, 2);

/** With a sign in front, for terms of a sum. */
export const signed = (value: number): string =>
  dusted(value) >= 0 ? `+${readable(value)}` : readable(value);

/** A very small or very large number, on one line: 2.1 × 10⁻¹⁴. */
export function exponent(value: number): string {
  if (value === 0) return '0';
  const [digits, power] = value.toExponential(1).split('e') as [string, string];
  const raised = String(Number(power))
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] as string);
  return `${minus(digits)}\u00a0×\u00a010${raised}`;
}

/** To a tenth; what rounds to nothing has no sign. */
export const percent = (fraction: number): string =>
  Number.isFinite(fraction) ? minus(`${(100 * fraction).toFixed(1).replace(/^-(0\.0)$/, '$1')}\u202f%`) : '–';

/** As a finding has it: two digits, or a tenth. */
export const aboutPercent = (fraction: number): string =>
  Math.abs(fraction) >= 0.0995 ? minus(`${(100 * fraction).toFixed(0)}\u202f%`) : percent(fraction);
