// Writes safetensors files. This needs no module; load() returns it together with the functions that do.
import * as check from '../check.js';
import { type Floats, joined, type OwnBytes, type Table, table } from '../table.js';

/** @category Read and write files */
interface EncodeSafetensorsApi {
  /**
   * Returns the bytes of a safetensors file of tables, [rows, columns] each, and of lists, [length], in this
   * order. Float32Arrays become F32 and Float64Arrays F64. `metadata` is the format's own map from text to
   * text. Throws RangeError, TypeError.
   */
  encodeSafetensors(
    tables: Readonly<Record<string, Table | Floats>>,
    metadata?: Readonly<Record<string, string>>,
  ): OwnBytes;
}

export function encodeSafetensorsApi(): EncodeSafetensorsApi {
  return {
    encodeSafetensors(tables, metadata = {}) {
      check.object('tables', tables);
      check.object('metadata', metadata);
      for (const [key, text] of Object.entries(metadata)) {
        if (typeof text !== 'string') check.refuse(`metadata.${key}`, 'a text', text, false);
        checkUnicode('A key of metadata', key);
        checkUnicode(`metadata.${key}`, text);
      }
      if (Object.hasOwn(tables, '__metadata__')) {
        throw new RangeError('tables must not have one called __metadata__: the format has that name.');
      }
      for (const name of Object.keys(tables)) checkUnicode('A name of tables', name);
      const tensors = Object.entries(tables).map(rawTensor);
      check.fits(
        'The file',
        tensors.reduce((all, { bytes }) => all + bytes.length, 0),
      );
      return joined([safetensorsHeader(tensors, metadata), ...tensors.map(({ bytes }) => bytes)]);
    },
  };
}

/** A tensor in the form in which a file has it. */
export interface RawTensor {
  /** Its name, unique in the file. */
  name: string;
  /** Its dtype as the header spells it: F32, F16 and so on. */
  dtype: string;
  /** Its extents, [] for a single number. */
  shape: readonly number[];
  /** Its values, little-endian, the last index running fastest. */
  bytes: OwnBytes;
}

/** The beginning of a file with these tensors in this order: all that comes before their bytes. */
export function safetensorsHeader(
  tensors: readonly (Omit<RawTensor, 'bytes'> & { bytes: { length: number } })[],
  metadata: Readonly<Record<string, string>>,
): OwnBytes {
  const header: [string, unknown][] = [['__metadata__', metadata]];
  let at = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    header.push([name, { dtype, shape, data_offsets: [at, at + bytes.length] }]);
    at += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  // Spaces are added, so that the data begin at a multiple of eight.
  const length = Math.ceil(text.length / 8) * 8;
  const start = new Uint8Array(8 + length).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(length), true);
  start.set(text, 8);
  return start;
}

/** Throws RangeError for half of a surrogate pair, which UTF-8 cannot hold. */
function checkUnicode(what: string, text: string): void {
  if (/\p{Surrogate}/u.test(text)) {
    throw new RangeError(`${what} must be Unicode text; ${check.shown(text)} has half of a surrogate pair.`);
  }
}

function rawTensor([name, value]: [string, Table | Floats]): RawTensor {
  const isList = value instanceof Float32Array || value instanceof Float64Array;
  const { data, rows, columns } = isList
    ? table(value, 1, value.length)
    : check.table(`tables.${name}`, value);
  return {
    name,
    dtype: data instanceof Float32Array ? 'F32' : 'F64',
    shape: isList ? [columns] : [rows, columns],
    // Every engine that runs WebAssembly on common hardware is little-endian, as the format is.
    bytes: new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
  };
}
