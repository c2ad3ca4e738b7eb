// Writes safetensors files. This needs no module; load() returns it together with the functions that do.
import * as check from '../check.js';
import { type Floats, type Integers, joined, type OwnBytes, type Table, type Tensor } from '../table.js';
import { product } from './safetensors.js';

/** @category Read and write files */
interface EncodeSafetensorsApi {
  /**
   * Writes tensors of any rank, tables, [rows, columns], and lists, [length], as a safetensors file, and
   * returns its bytes. The type of an array determines the dtype: F32 and F64 for floats, I8 to I64 and U8
   * to U64 for whole numbers. Arrays of wider numbers are stored first, so that all arrays are aligned;
   * arrays of equal width keep their order. Values of tensors and lists may be NaN or infinite, as results
   * may. `metadata` is the format's own map from text to text. Throws RangeError, TypeError.
   */
  encodeSafetensors(
    tensors: Readonly<Record<string, Tensor | Table | Floats | Integers>>,
    metadata?: Readonly<Record<string, string>>,
  ): OwnBytes;
}

export function encodeSafetensorsApi(): EncodeSafetensorsApi {
  return {
    encodeSafetensors(tensors, metadata = {}) {
      check.object('tensors', tensors);
      check.object('metadata', metadata);
      for (const [key, text] of Object.entries(metadata)) {
        if (typeof text !== 'string') check.refuse(`metadata.${key}`, 'a text', text, false);
        checkUnicode('A key of metadata', key);
        checkUnicode(`metadata.${key}`, text);
      }
      if (Object.hasOwn(tensors, '__metadata__')) {
        throw new RangeError('tensors must not have one called __metadata__: the format has that name.');
      }
      for (const name of Object.keys(tensors)) checkUnicode('A name of tensors', name);
      const rawTensors = Object.entries(tensors)
        .map(rawTensor)
        .sort((a, b) => b.width - a.width);
      check.requireMemory(
        'The file',
        rawTensors.reduce((all, { bytes }) => all + bytes.length, 0),
      );
      return joined([safetensorsHeader(rawTensors, metadata), ...rawTensors.map(({ bytes }) => bytes)]);
    },
  };
}

/** A tensor as a file stores it. */
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
  // Spaces are appended so that the data begin at a multiple of eight.
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

/** The dtypes of arrays by the name of their class, because a frame has classes of its own. */
const dtypes = new Map([
  ['Float64Array', 'F64'],
  ['Float32Array', 'F32'],
  ['Int8Array', 'I8'],
  ['Uint8Array', 'U8'],
  ['Int16Array', 'I16'],
  ['Uint16Array', 'U16'],
  ['Int32Array', 'I32'],
  ['Uint32Array', 'U32'],
  ['BigInt64Array', 'I64'],
  ['BigUint64Array', 'U64'],
]);

const dtypeOf = (value: unknown) => dtypes.get(Object.prototype.toString.call(value).slice(8, -1));

function rawTensor([name, value]: [string, Tensor | Table | Floats | Integers]): RawTensor & {
  width: number;
} {
  const { data, shape } = checkedTensor(`tensors.${name}`, value);
  return {
    name,
    dtype: dtypeOf(data) as string,
    width: data.BYTES_PER_ELEMENT,
    shape,
    // Every engine that runs WebAssembly on common hardware is little-endian, as the format is.
    bytes: new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
  };
}

function checkedTensor(name: string, value: Tensor | Table | Floats | Integers): Tensor {
  if (ArrayBuffer.isView(value)) {
    checkNumbers(name, value);
    return { data: value, shape: [value.length] };
  }
  check.object(name, value);
  if (!('shape' in value)) {
    const { data, rows, columns } = check.table(name, value);
    return { data, shape: [rows, columns] };
  }
  check.knownOptions(name, value, { data: true, shape: true });
  const shape = check.integers(`${name}.shape`, value.shape, check.maxBytes);
  checkNumbers(`${name}.data`, value.data);
  const count = product(shape);
  if (value.data.length !== count) {
    check.refuseCount(`${name}.data`, check.counted(count, 'value'), value.data.length);
  }
  return { data: value.data, shape };
}

function checkNumbers(name: string, value: Floats | Integers): void {
  if (dtypeOf(value) === undefined) {
    check.refuse(name, 'a typed array of floats or of whole numbers', value, false);
  }
  check.attached(name, value);
}
