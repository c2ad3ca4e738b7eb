// What an encoder does in steps, so that it can be cancelled within a layer. Apart from encoders, which few readers load.
import type { Floats, Table } from '../table.js';
import type { Encoder, EncoderForward, EncoderLayer, ForwardInput } from './encoderTypes.js';

/** Reads a tensor block by block; `from` is a block’s first row. */
export type ReadTensor<A extends Floats> = (visit: (block: Table<A>, from: number) => void) => Promise<void>;

/** A map that goes into the module while its tensor is read, and is whole nowhere else. */
export interface ReadMap<A extends Floats = Floats> {
  /** [out, in] */
  readonly weight: { readonly rows: number; readonly columns: number; readonly read: ReadTensor<A> };
  /** [out] */
  readonly bias?: A | undefined;
  /** Which map of the tensor it is … */
  readonly place: number;
  /** … of so many. */
  readonly of: number;
  /** Whether the tensor is [in, out]. */
  readonly transposed: boolean;
}

/** A layer whose maps may be read while they are added. */
export type ReadLayer<A extends Floats = Floats> = {
  [Name in keyof EncoderLayer<A>]: NonNullable<EncoderLayer<A>[Name]> extends { weight: unknown }
    ? EncoderLayer<A>[Name] | ReadMap<A>
    : EncoderLayer<A>[Name];
};

export interface Steps<A extends Floats> {
  /** addLayer(). When reading fails, nothing of the layer stays. */
  addLayer(layer: ReadLayer<A>): Promise<void>;
  /** forward(), which the signal ends within a layer. */
  forward(
    summands: Readonly<Record<string, Table<A>>>,
    input?: ForwardInput<A>,
    signal?: AbortSignal,
  ): Promise<EncoderForward<A>>;
}

export const inSteps = Symbol('inSteps');

export const stepsOf = <A extends Floats>(encoder: Encoder<A>): Steps<A> =>
  (encoder as Encoder<A> & Record<typeof inSteps, Steps<A>>)[inSteps];
