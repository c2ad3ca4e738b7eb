import * as check from '../check.js';
import type { Raw } from '../module.js';
import { type Floats, type FloatsOf, type Precision, type Table, table } from '../table.js';

export interface SafetensorsEntry {
  /** The tensor's name in the file. */
  readonly name: string;
  /** As written: F32, F16 and BF16 can be decoded; others (I64, …) are listed only. */
  readonly dtype: string;
  /** Extents, the last index running fastest; [] for a single number. */
  readonly shape: readonly number[];
  /** Where its bytes begin, from the start of the file. */
  readonly begin: number;
  /** Where they end: one past the last. */
  readonly end: number;
}

export interface SafetensorsApi {
  /**
   * The tensors of a safetensors file, by name. `bytes` may be the beginning of the file alone, as
   * long as it holds the header; then `fileSize` is the size of all of it. A truncated, lying or
   * hostile header is a RangeError that says what is wrong with it.
   */
  readSafetensorsHeader(bytes: Uint8Array, fileSize?: number): Map<string, SafetensorsEntry>;
  /** The values of a tensor, from all of its bytes; dtype F32, F16 or BF16. */
  decodeSafetensors<P extends Precision = 'float64'>(
    entry: SafetensorsEntry,
    bytes: Uint8Array,
    precision?: P,
  ): Table<FloatsOf<P>>;
}

const floatWidths: Record<string, number> = { F32: 4, F16: 2, BF16: 2 };

export function safetensorsApi(raw: Raw): SafetensorsApi {
  return {
    readSafetensorsHeader(bytes, fileSize) {
      byteArray('bytes', bytes);
      const size = check.integer('fileSize', fileSize ?? bytes.length, 0, Number.MAX_SAFE_INTEGER);
      const { entries, error } = raw.safetensorsHeader(headerOf(bytes), size);
      if (error) throw new RangeError(`Not a sound safetensors file: ${error}.`);
      return new Map((entries as SafetensorsEntry[]).map((entry) => [entry.name, entry]));
    },

    decodeSafetensors<P extends Precision = 'float64'>(
      entry: SafetensorsEntry,
      bytes: Uint8Array,
      precision?: P,
    ) {
      check.object('entry', entry);
      byteArray('bytes', bytes);
      const width = Object.hasOwn(floatWidths, entry.dtype) ? floatWidths[entry.dtype] : undefined;
      if (!width) {
        throw new RangeError(
          `Tensor ${entry.name} has dtype ${String(entry.dtype)}; only F32, F16 and BF16 can be decoded.`,
        );
      }
      const single = check.precision(precision ?? 'float64') === 'float32';
      check.integers('entry.shape', entry.shape, check.maxBytes);
      const product = (extents: readonly number[]) => extents.reduce((total, extent) => total * extent, 1);
      const count = product(entry.shape);
      if (bytes.length !== count * width) {
        throw new RangeError(
          `Tensor ${entry.name} takes ${count * width} bytes; ${bytes.length} were given.`,
        );
      }
      check.fits(`Tensor ${entry.name}`, count * (width + (single ? 8 : 16)));
      const data: Floats = raw[single ? 'decodeSafetensorsF32' : 'decodeSafetensorsF64'](entry.dtype, bytes);
      // One-dimensional tensors are one row; more than two dimensions keep the first as rows.
      const [rows, extents] =
        entry.shape.length > 1 ? [entry.shape[0], entry.shape.slice(1)] : [1, entry.shape];
      return table(data as FloatsOf<P>, rows as number, product(extents));
    },
  };
}

/** The format's own limit on the length of a header. */
const longestHeader = 100_000_000;

/**
 * Only the header goes into the module, however large the file: 8 bytes of length and what they say. In
 * a file that is something else they may say anything, and then the module needs no more to refuse it.
 */
function headerOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 8) return bytes;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  return bytes.subarray(0, 8 + (length > longestHeader ? 0 : Number(length)));
}

function byteArray(name: string, value: unknown): void {
  if (!(value instanceof Uint8Array)) check.refuse(name, 'a Uint8Array', value, false);
}
