// Dot products of a table's rows, and how far they depend on the offset alone.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';
import { encodingArguments, encodingNames, type SinusoidalOptions } from './sinusoidal.js';

/**
 * The dot products of a sinusoidal table's rows, unchanged and after changes; each is [positions,
 * positions].
 */
export interface FormGrams {
  /** PE(p)·PE(q): Toeplitz up to rounding, unless an interleaved width is odd. */
  readonly original: Table<Float64Array>;
  /** After each row's mean is subtracted, which is the first step of LayerNorm. */
  readonly centred: Table<Float64Array>;
  /** The dot products over the sine channels alone. */
  readonly sines: Table<Float64Array>;
  /** PE(p)ᵀ A PE(q) with the entries of A from N(0, 1/d_model). */
  readonly randomForm: Table<Float64Array>;
  /**
   * The same form with A = [[a, −b], [b, a]] on each frequency's sine and cosine, a and b from N(0, 1):
   * Toeplitz again.
   */
  readonly rotationForm: Table<Float64Array>;
}

/** The entries (p, q) of a square matrix by their offset q − p, from −(n − 1) to n − 1. */
export interface OffsetMeans {
  /** The mean of all entries; NaN without any. */
  readonly mean: number;
  /** [2n − 1], the mean at each offset. */
  readonly means: Float64Array;
  /** [2n − 1], `means` minus the mean of all entries. */
  readonly kernel: Float64Array;
  /** The part of Σ (x − mean)² that the kernel explains, from 0 to 1; NaN when nothing varies. */
  readonly share: number;
  /** The largest difference between an entry and the mean at its offset; 0 for a Toeplitz matrix. */
  readonly maxDeviation: number;
}

/** @category Encode positions */
interface GramApi {
  /** Returns the dot products of all pairs of a table's rows, [rows, rows], in double. */
  gram(table: Table): Table<Float64Array>;
  /**
   * Returns how far a square table is from Toeplitz: the largest max − min along a diagonal. It is 0 for a
   * Toeplitz matrix, whose entries depend on p − q alone, and for fewer than 2 rows.
   */
  toeplitzSpread(square: Table): number;
  /**
   * Measures how much of a square table depends on the offset of its entries alone. Throws RangeError or
   * TypeError.
   */
  offsetMeans(square: Table): OffsetMeans;
  /**
   * Returns the dot products of a sinusoidal table's rows, unchanged and after changes that break their
   * pattern, for toeplitzSpread(). `seed`, from 0 to 2³² − 1, determines the random forms. Throws RangeError
   * or TypeError.
   */
  formGrams(options: SinusoidalOptions & { seed: number }): FormGrams;
}

function checkSquare(square: Table): Table {
  const { rows, columns } = check.table('square', square);
  check.table('square', square, { columns: Math.max(rows, 1) });
  check.tableFits(rows, columns);
  return square;
}

export function gramApi(raw: RawModule): GramApi {
  return {
    gram(input) {
      const { rows, columns } = check.table('table', input);
      check.requireMemory(`The Gram matrix of ${rows} rows`, raw.gramBytes(rows, columns));
      return table(raw.gram(input), rows, rows);
    },
    toeplitzSpread(square) {
      return raw.toeplitzSpread(checkSquare(square));
    },
    offsetMeans(square) {
      return raw.offsetMeans(checkSquare(square));
    },
    formGrams(options) {
      check.knownOptions('options', options, { ...encodingNames, seed: true });
      const encoding = encodingArguments(options);
      const { positions, d_model, seed } = options;
      check.seed('seed', seed);
      check.requireMemory(
        `The Gram matrices of ${positions} positions of ${d_model} channels`,
        raw.formGramsBytes(positions, d_model),
      );
      const grams = Object.entries(raw.formGrams(encoding, seed));
      return Object.fromEntries(
        grams.map(([name, data]) => [name, table(data, positions, positions)]),
      ) as unknown as FormGrams;
    },
  };
}
