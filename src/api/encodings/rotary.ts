// Rotary positions (RoPE): rotated rows, and the frequencies of pairs.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

/**
 * How rotary positions are stretched beyond the trained length (as printed in arXiv 2309.00071; the code
 * released with it differs).
 */
export interface Stretch {
  /**
   * interpolate: θ/s (arXiv 2306.15595). parts: pairs that turn at least beta times within the trained
   * length stay as they are, pairs of at most alpha turns are interpolated, and pairs in between are partly
   * interpolated.
   */
  way: (typeof wayNames)[number];
  /** s, the new length divided by the trained length, from 1 to 1,000,000. 1 changes nothing. */
  factor: number;
  /** The trained length in positions, above 0; required for 'parts'. */
  trained?: number;
  /** For 'parts': pairs that make at most this many turns are interpolated; at least 0. Default 1. */
  alpha?: number;
  /** For 'parts': pairs that make at least this many turns stay as they are; above alpha. Default 32. */
  beta?: number;
}

const wayNames = ['interpolate', 'parts'] as const;

/** Which two channels of a head form a pair, and how fast pairs turn. */
export interface RotaryConvention {
  /**
   * interleaved: channels 2i and 2i+1 (roformer). concatenated: channels i and i + d_h/2, also called
   * half-split or "rotate half" (GPT-NeoX, LLaMA). Default interleaved.
   */
  layout?: 'interleaved' | 'concatenated';
  /** Pair i turns by base^(−2i/d_h) radians per position; above 0. Default 10000. */
  base?: number;
}

export interface RotateInput extends RotaryConvention {
  /** Queries or keys, [n, heads · d_h], d_h even. */
  rows: Table;
  /** Default 1. */
  heads?: number;
  /** Position of the first row; any finite number. Default 0. */
  firstPosition?: number;
}

/** @category Encode positions */
interface RotaryApi {
  /** Rotates queries or keys by their positions, [n, heads · d_h] (RoPE, arXiv 2104.09864, equation 34). */
  rotate(input: RotateInput): Table<Float64Array>;
  /**
   * Returns by how many radians RoPE turns each pair of channels per position, fastest first, [d_head / 2];
   * d_head must be even.
   */
  rotaryFrequencies(options: { d_head: number; base?: number; stretch?: Stretch }): Float64Array;
}

export const conventionNames: check.OptionNames<RotaryConvention> = { layout: true, base: true };

/** Checks the layout and the base. */
export function rotaryConvention({ layout = 'interleaved', base = 10000 }: RotaryConvention) {
  return {
    layout: check.oneOf('layout', layout, ['interleaved', 'concatenated']),
    base: check.positive('base', base),
  };
}

/** Checks a stretch, fills in defaults, and returns it as the binding takes it. */
function stretchArguments(stretch: Stretch | undefined) {
  if (stretch === undefined) return { way: 'none', factor: 1, trained: 1, alpha: 1, beta: 32 } as const;
  check.knownOptions('stretch', stretch, { way: true, factor: true, trained: true, alpha: true, beta: true });
  const way = check.oneOf('stretch.way', stretch.way, wayNames);
  const factor = check.number('stretch.factor', stretch.factor, 1, 1e6);
  const { alpha = 1, beta = 32 } = stretch;
  // Only 'parts' needs the trained length.
  const trained =
    way === 'parts' || stretch.trained !== undefined ? check.positive('stretch.trained', stretch.trained) : 1;
  check.number('stretch.alpha', alpha, 0);
  if (check.number('stretch.beta', beta) <= alpha)
    check.refuse('stretch.beta', `above alpha, ${alpha}`, beta);
  return { way, factor, trained, alpha, beta };
}

/** Checks an even width, which pairs of channels need. */
export function evenWidth(name: string, width: number): number {
  if (width % 2 !== 0) check.refuse(name, 'even, for pairs of channels', width);
  return width;
}

export function rotaryApi(raw: RawModule): RotaryApi {
  return {
    rotate(input) {
      check.knownOptions('input', input, {
        ...conventionNames,
        rows: true,
        heads: true,
        firstPosition: true,
      });
      const { rows, heads = 1, firstPosition = 0 } = input;
      check.table('rows', rows);
      evenWidth('The width of a head', check.headWidth(heads, rows.columns, 'rows', 'columns'));
      check.number('firstPosition', firstPosition);
      const convention = { heads, ...rotaryConvention(input), firstPosition, step: 1 };
      check.requireMemory(
        `Rotating ${rows.rows} rows by ${rows.columns} columns`,
        raw.rotateBytes(rows.rows, rows.columns),
      );
      return table(raw.rotate(rows, convention), rows.rows, rows.columns);
    },
    rotaryFrequencies(options) {
      check.knownOptions('options', options, { d_head: true, base: true, stretch: true });
      const width = evenWidth('d_head', check.integer('d_head', options.d_head, 2));
      const base = check.positive('base', options.base ?? 10000);
      return raw.rotaryFrequencies(width, base, stretchArguments(options.stretch));
    },
  };
}
