/**
 * What arguments may be, mixed too. Formulas are computed in double, and their results are Float64Array. A transformer stack, a
 * trainer and a decomposition compute in float; terms and logits of the latter are Float32Array. Arguments must be finite. Results may not be: as IEEE 754 has it, a product or sum beyond the range
 * is infinite, and NaN where infinities meet.
 */
export type Floats = Float32Array | Float64Array;

/**
 * Bytes in a buffer of their own: Uint8Array<ArrayBuffer> since TypeScript 5.7, before which it was not generic
 * and could not be written so.
 */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

/** Ids of tokens or classes; BigInts too, as ONNX and some tokenizers have them. */
export type Ids =
  | readonly (number | bigint)[]
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** A matrix, row by row: row i is data[i * columns] to data[(i + 1) * columns - 1]. */
export interface Table<A extends Floats = Floats> {
  /** rows × columns values. */
  readonly data: A;
  /** Tokens, positions or outputs; 0 is allowed. */
  readonly rows: number;
  /** Channels, from 1 up. */
  readonly columns: number;
}

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

/** One after another. */
export function joined(parts: readonly Uint8Array[]): OwnBytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
