// A layer whose maps are read from a file while they are added to a transformer stack.
import type { Floats, Table } from '../table.js';
import type { TransformerLayer } from './transformerStackTypes.js';

/** Reads a tensor block by block, in order; `from` is the first row of a block. */
export type ReadTensor = (visit: (block: Table, from: number) => void) => Promise<void>;

/** A map that goes into the module while its tensor is read, so that it is never in memory twice. */
export interface ReadMap {
  /** [out, in]. */
  readonly weight: { readonly rows: number; readonly columns: number; readonly read: ReadTensor };
  /** [out]. */
  readonly bias?: Floats | undefined;
  /** Which of the tensor's `of` maps this is, from 0. */
  readonly place: number;
  /** How many maps the tensor holds. */
  readonly of: number;
  /** Whether the tensor is stored as [in, out]. */
  readonly transposed: boolean;
}

/** A layer whose maps may be read while they are added. */
export type ReadLayer = {
  [Name in keyof TransformerLayer]: NonNullable<TransformerLayer[Name]> extends { weight: unknown }
    ? TransformerLayer[Name] | ReadMap
    : TransformerLayer[Name];
};
