import * as check from '../check.js';
import type { Raw } from '../module.js';
import { type Floats, rounded, type Table, table } from '../table.js';

/** Which two channels of a head make a pair, and how fast pairs turn. */
export interface RotaryConvention {
  /**
   * interleaved: channels 2i and 2i+1 (roformer). concatenated: channels i and i + d_h/2, also called
   * half-split or "rotate half" (GPT-NeoX, LLaMA). Default interleaved.
   */
  layout?: 'interleaved' | 'concatenated';
  /** Pair i turns by base^(-2i/d_h) radians a position; above 0. Default 10000. */
  base?: number;
}

export interface RotateInput<A extends Floats = Floats> extends RotaryConvention {
  /** Queries or keys, [n, heads · d_h], d_h even. */
  rows: Table<A>;
  /** Default 1. */
  heads?: number;
  /** Position of the first row; any finite number. Default 0. */
  firstPosition?: number;
}

export interface RotaryApi {
  /** Turns the rows by their positions (RoPE, arXiv 2104.09864, eq. 34): [n, heads · d_h]. */
  rotate<A extends Floats>(input: RotateInput<A>): Table<A>;
  /**
   * The interleaved channel behind each half-split channel, [d_h], d_h even. With queries and keys reordered
   * this way, either convention gives the other's logits.
   */
  rotaryPermutation(d_head: number): Int32Array;
}

/** The layout as the binding takes it, and the base. */
export function rotaryConvention({ layout = 'interleaved', base = 10000 }: RotaryConvention) {
  return {
    layout: check.placeOf('layout', layout, ['interleaved', 'concatenated']),
    base: check.positive('base', base),
  };
}

/** Pairs of channels need an even width. */
export function evenWidth(name: string, width: number): number {
  if (width % 2 !== 0) check.refuse(name, 'even, for pairs of channels', width);
  return width;
}

export function rotaryApi(raw: Raw): RotaryApi {
  return {
    rotate<A extends Floats>(input: RotateInput<A>): Table<A> {
      check.object('input', input);
      const { rows, heads = 1, firstPosition = 0 } = input;
      check.table('rows', rows);
      evenWidth('The width of a head', check.headWidth(heads, rows.columns, 'rows', 'columns'));
      const { layout, base } = rotaryConvention(input);
      check.number('firstPosition', firstPosition);
      check.fits(`${rows.rows} rows by ${rows.columns} columns, turned`, 4 * rows.data.length * 8);
      const turned = raw.rotate(rows, heads, layout, base, firstPosition);
      return table(rounded<A>(turned, check.isSingle(rows.data)), rows.rows, rows.columns);
    },
    rotaryPermutation(d_head) {
      return raw.rotaryPermutation(evenWidth('d_head', check.integer('d_head', d_head, 0)));
    },
  };
}
