// Numbers as the page prints them: a true minus sign, and no more digits than can be read.

export const minus = (text: string) => text.replace('-', '−');

/** Rounding of doubles, as of a constant row minus its mean, is no value to print. */
const dust = 1e-12;
const dusted = (value: number) => (Math.abs(value) < dust ? 0 : value);

/** A logit, a dot product: four significant digits, without exponents in the usual range. */
export function readable(exact: number): string {
  if (!Number.isFinite(exact)) return '–';
  const value = dusted(exact);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return exponent(value);
  return minus(size >= 1000 ? value.toFixed(0) : value.toPrecision(4));
}

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
