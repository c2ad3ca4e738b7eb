/**
 * Formulas are computed in double, and rounded once to the element type of what they are given; an encoder computes in
 * the type that it is made of, a trainer in float. Arguments must be finite. Results may not be: as IEEE 754 has it, a
 * product or sum beyond the type's range is infinite, and NaN where infinities meet.
 */
export type Floats = Float32Array | Float64Array;

/**
 * Bytes in a buffer of their own: Uint8Array<ArrayBuffer> since TypeScript 5.7, before which it was not generic
 * and could not be written so.
 */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

export type Precision = 'float32' | 'float64';

export type FloatsOf<P extends Precision> = P extends 'float32' ? Float32Array : Float64Array;

/** A matrix, row by row: row i is data[i * columns] to data[(i + 1) * columns - 1]. */
export interface Table<A extends Floats = Floats> {
  /** rows × columns values. */
  readonly data: A;
  /** Tokens, positions or outputs; 0 is allowed. */
  readonly rows: number;
  /** Channels, from 1 up. */
  readonly columns: number;
}

/** Where directions end by default: above what rounding leaves of tables in this precision. */
export const toleranceOf = (...tables: readonly Table[]): number =>
  tables.some(({ data }) => data instanceof Float32Array) ? 1e-6 : 1e-10;

/** y = W x + b, for rows x: the weight is [out, in], as in PyTorch's Linear. */
export interface Linear<A extends Floats = Floats> {
  /** [out, in] */
  readonly weight: Table<A>;
  /** [out]; left out, zeros. */
  readonly bias?: A | undefined;
}

/** A Table over data that is already in order. */
export function table<A extends Floats>(data: A, rows: number, columns: number): Table<A> {
  return { data, rows, columns };
}

/** The arrays of these names computed in double, rounded once to the caller's element type. */
export const roundedIn = <T extends object>(result: T, names: readonly (keyof T)[], single: boolean): T =>
  single
    ? {
        ...result,
        ...Object.fromEntries(names.map((name) => [name, inSingle(result[name] as Float64Array)])),
      }
    : result;

/** Values computed in double, rounded once to the caller's element type. */
export const rounded = <A extends Floats>(values: Float64Array, single: boolean): A =>
  (single ? inSingle(values) : values) as Floats as A;

function inSingle(values: Float64Array): Float32Array {
  const found = Float32Array.from(values);
  const beyond = values.find((value, at) => Number.isFinite(value) && !Number.isFinite(found[at]));
  if (beyond === undefined) return found;
  throw new RangeError(
    `The result has ${beyond.toPrecision(2)}, which is beyond float32. Give numbers as Float64Array, or smaller ones.`,
  );
}
