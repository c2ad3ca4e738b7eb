// What an encoder does in steps, so that it can be cancelled within a layer. Apart from encoders, which few readers load.
import type { Floats, Table } from '../table.js';
import type { Encoder, EncoderForward, EncoderLayer, ForwardInput } from './encoderTypes.js';

/** Reads a tensor block by block; `from` is a block’s first row. */
export type ReadTensor = (visit: (block: Table, from: number) => void) => Promise<void>;

/** A map that goes into the module while its tensor is read, and is whole nowhere else. */
export interface ReadMap {
  /** [out, in] */
  readonly weight: { readonly rows: number; readonly columns: number; readonly read: ReadTensor };
  /** [out] */
  readonly bias?: Floats | undefined;
  /** Which map of the tensor it is … */
  readonly place: number;
  /** … of so many. */
  readonly of: number;
  /** Whether the tensor is [in, out]. */
  readonly transposed: boolean;
}

/** A layer whose maps may be read while they are added. */
export type ReadLayer = {
  [Name in keyof EncoderLayer]: NonNullable<EncoderLayer[Name]> extends { weight: unknown }
    ? EncoderLayer[Name] | ReadMap
    : EncoderLayer[Name];
};

export interface Steps {
  /** addLayer(). When reading fails, nothing of the layer stays. */
  addLayer(layer: ReadLayer): Promise<void>;
  /** forward(), which the signal ends within a layer. */
  forward(
    summands: Readonly<Record<string, Table>>,
    input?: ForwardInput,
    signal?: AbortSignal,
  ): Promise<EncoderForward>;
}

export const inSteps = Symbol('inSteps');

export const stepsOf = (encoder: Encoder): Steps =>
  (encoder as Encoder & Record<typeof inSteps, Steps>)[inSteps];
