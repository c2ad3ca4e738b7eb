// The types of tables, linear maps, ids and bytes that the whole API shares.
/**
 * The arrays that arguments may be; a call may mix both kinds. Formulas are computed in double, and their
 * results are Float64Array. A transformer stack, a trainer and a decomposition compute in float, and the
 * terms and logits of a decomposition are Float32Array. Arguments must be finite. Results may not be: as in
 * IEEE 754, a product or sum beyond the range is infinite, and NaN where infinities meet.
 *
 * @category Load the library
 */
export type Floats = Float32Array | Float64Array;

/**
 * Bytes in an ArrayBuffer: Uint8Array<ArrayBuffer> since TypeScript 5.7. Earlier versions have no type
 * parameter there, so the type is derived.
 */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

/**
 * Typed arrays of whole numbers.
 *
 * @category Load the library
 */
export type Integers =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/**
 * Ids of tokens or classes. They may be BigInts, as in ONNX and some tokenizers.
 *
 * @category Load the library
 */
export type Ids = readonly (number | bigint)[] | Integers;

/**
 * An array of any rank.
 *
 * @category Load the library
 */
export interface Tensor {
  /** As many values as the product of the extents, the last index running fastest. */
  readonly data: Floats | Integers;
  /** The extents, [] for a single number. */
  readonly shape: readonly number[];
}

/**
 * A matrix, row by row: row i is data[i * columns] to data[(i + 1) * columns - 1].
 *
 * @category Load the library
 */
export interface Table<A extends Floats = Floats> {
  /** rows × columns values. */
  readonly data: A;
  /** The number of tokens, positions or outputs; 0 is allowed. */
  readonly rows: number;
  /** The number of channels, from 1 up. */
  readonly columns: number;
}

/**
 * A linear map, y = W x + b for rows x: the weight is [out, in], as in PyTorch's Linear.
 *
 * @category Load the library
 */
export interface Linear<A extends Floats = Floats> {
  /** [out, in] */
  readonly weight: Table<A>;
  /** [out]; zeros by default. */
  readonly bias?: A | undefined;
}

/** A Table over data that is already row by row. */
export function table<A extends Floats>(data: A, rows: number, columns: number): Table<A> {
  return { data, rows, columns };
}

/** Joins byte arrays one after another. */
export function joined(parts: readonly Uint8Array[]): OwnBytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
