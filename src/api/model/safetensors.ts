// Reads safetensors files: the header, and the values of floating-point tensors. A file is an unsigned
// little-endian 64-bit length, a JSON object of that many bytes, and the data that the object's offsets
// point into. Nothing in a header is trusted before it is checked.
import * as check from '../check.js';
import { type Table, table } from '../table.js';

export interface SafetensorsEntry {
  /** The tensor's name in the file. */
  readonly name: string;
  /**
   * The dtype as the file spells it. F64, F32, F16 and BF16 can be decoded; others, such as I64, are only
   * listed.
   */
  readonly dtype: string;
  /** Extents, the last index running fastest; [] for a single number. */
  readonly shape: readonly number[];
  /** The place of its first byte, from the start of the file. */
  readonly begin: number;
  /** The place after its last byte. */
  readonly end: number;
}

/** @category Read and write files */
interface SafetensorsApi {
  /**
   * Returns the tensors of a safetensors file, by name, in the order of their data. `bytes` may be only the
   * beginning of the file if it contains the header; then `fileSize` is the size of the file. Throws a
   * RangeError that says what is wrong with a truncated, false or hostile header: for example a repeated
   * name, data that overlap or leave a gap, a number of 2⁵³ or more, or a header above the format's own limit
   * of 100 MB.
   */
  readSafetensorsHeader(bytes: Uint8Array, fileSize?: number): Map<string, SafetensorsEntry>;
  /**
   * Returns the values of a tensor of dtype F64, F32, F16 or BF16, from all of its bytes. A tensor of one
   * dimension becomes one row; of a tensor of more than two, the first dimension becomes the rows. Throws
   * TypeError, and RangeError, also for a tensor without columns, such as one of shape [5, 0].
   */
  decodeSafetensors(entry: SafetensorsEntry, bytes: Uint8Array): Table<Float64Array>;
}

const lengthBytes = 8;
/** The format's own limit on the length of a header. */
const longestHeader = 100_000_000;
/** “version ”, the beginning of a Git LFS pointer, read as a length. */
const lfsPointer = 0x206e6f6973726576n;

/** The bytes of a number, by dtype. */
const widths = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2'].map((dtype) => [dtype, 1] as const),
  ...['I16', 'U16', 'F16', 'BF16'].map((dtype) => [dtype, 2] as const),
  ...['I32', 'U32', 'F32'].map((dtype) => [dtype, 4] as const),
  ...['I64', 'U64', 'F64'].map((dtype) => [dtype, 8] as const),
]);

export function safetensorsApi(): SafetensorsApi {
  return {
    readSafetensorsHeader(bytes, fileSize) {
      byteArray('bytes', bytes);
      const size = check.integer('fileSize', fileSize ?? bytes.length, 0, Number.MAX_SAFE_INTEGER);
      const header = headerOf(bytes, size);
      return new Map(
        inOrder(entriesOf(header), lengthBytes + header.length, size).map((entry) => [entry.name, entry]),
      );
    },

    decodeSafetensors(entry, bytes) {
      check.object('entry', entry);
      byteArray('bytes', bytes);
      const { name, dtype, shape } = entry;
      const decode = decoders.get(dtype);
      if (!decode) {
        throw new RangeError(
          `Tensor ${name} has dtype ${String(dtype)}; only F64, F32, F16 and BF16 can be decoded.`,
        );
      }
      check.integers('entry.shape', shape, check.maxBytes);
      const width = widths.get(dtype) as number;
      const count = product(shape);
      if (bytes.length !== count * width) {
        throw new RangeError(`Tensor ${name} takes ${count * width} bytes; ${bytes.length} were given.`);
      }
      const [rows, extents] = shape.length > 1 ? [shape[0], shape.slice(1)] : [1, shape];
      if (product(extents) === 0) {
        throw new RangeError(
          `Tensor ${name} has shape [${shape.join(', ')}]; a table has at least 1 column.`,
        );
      }
      check.requireMemory(`Tensor ${name}`, count * (width + 8));
      const data = new Float64Array(count);
      decode(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), data);
      return table(data, rows as number, product(extents));
    },
  };
}

function byteArray(name: string, value: unknown): void {
  if (!(value instanceof Uint8Array)) check.refuse(name, 'a Uint8Array', value, false);
}

/** The number of values of an array with these extents. */
export const product = (extents: readonly number[]) =>
  extents.includes(0) ? 0 : extents.reduce((total, extent) => total * extent, 1);

function unsound(why: string): never {
  throw new RangeError(`This is not a sound safetensors file: ${why}.`);
}

/** The bytes of the header's JSON. */
function headerOf(bytes: Uint8Array, size: number): Uint8Array {
  if (Math.min(bytes.length, size) < lengthBytes) {
    unsound(
      `the file has ${Math.min(bytes.length, size)} bytes; a safetensors file begins with an 8-byte length`,
    );
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > longestHeader) {
    const kind = length === lfsPointer ? 'a pointer of Git LFS: fetch the file itself' : 'something else';
    unsound(`the header claims ${length} bytes; the format allows ${longestHeader}, so this is ${kind}`);
  }
  const end = lengthBytes + Number(length);
  if (end > size || end > bytes.length) {
    unsound(
      `the header claims ${length} bytes where ${Math.min(bytes.length, size) - lengthBytes} follow: not a safetensors file, or a truncated one`,
    );
  }
  return bytes.subarray(lengthBytes, end);
}

/** Names go into error sentences; a hostile name must not fill the screen. */
const quoted = (name: string) => `"${name.length > 60 ? `${name.slice(0, 60)}…` : name}"`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The header's entries, with offsets from the beginning of the data. */
function entriesOf(header: Uint8Array): SafetensorsEntry[] {
  const text = jsonText(header);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    unsound('the header is not JSON');
  }
  if (!isObject(parsed)) unsound('the header is not an object of tensors');
  const { __metadata__ } = parsed;
  // A copy without __metadata__ would take a second for 200,000 names.
  const entries = Object.keys(parsed)
    .filter((name) => name !== '__metadata__')
    .map((name) => entryOf(name, parsed[name]));
  let keys = entries.length * 4;
  if (Object.hasOwn(parsed, '__metadata__')) {
    if (!isObject(__metadata__) || Object.values(__metadata__).some((value) => typeof value !== 'string')) {
      unsound('the header holds metadata that are not texts by name');
    }
    keys += 1 + Object.keys(__metadata__).length;
  }
  // JSON.parse keeps the last of two equal keys and forgets the others.
  const outside = outsideStrings(text);
  if (outside.colons !== keys) unsound('the header has a name or a key twice');
  // JSON.parse also reads 2.0, 2e0 and -0 as whole numbers.
  if (outside.others) unsound('the header writes a number with more than digits');
  return entries;
}

function jsonText(header: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(header);
  } catch {
    unsound('the header is not UTF-8');
  }
  // The format allows white space after the object, but nothing before it.
  return text.startsWith('{') ? text : unsound('the header does not begin with an object');
}

/**
 * Counts colons outside the strings of a valid JSON text, and looks for anything but digits and punctuation
 * there.
 */
function outsideStrings(text: string): { colons: number; others: boolean } {
  let colons = 0;
  let others = false;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    if (letter === '"') {
      isInString = !isInString;
    } else if (isInString) {
      // An escaped character, such as a quotation mark, is part of the string.
      if (letter === '\\') at++;
    } else if (letter === ':') {
      colons++;
    } else if (!/[\s\d{}[\],]/.test(letter)) {
      others = true;
    }
  }
  return { colons, others };
}

function entryOf(name: string, tensor: unknown): SafetensorsEntry {
  const which = `tensor ${quoted(name)}`;
  if (/\p{Surrogate}/u.test(name)) unsound(`the header gives ${which} a name that is no Unicode text`);
  if (!isObject(tensor)) unsound(`the header gives ${which} a value that is not an object`);
  const { dtype, shape, data_offsets, ...others } = tensor;
  const [unknownKey] = Object.keys(others);
  if (unknownKey !== undefined) unsound(`the header has an unknown key ${quoted(unknownKey)} in ${which}`);
  if (typeof dtype !== 'string') unsound(`the header gives ${which} no dtype`);
  const extents = wholeNumbers(`the shape of ${which}`, shape);
  const [begin, end, ...more] = wholeNumbers(`the data_offsets of ${which}`, data_offsets);
  if (begin === undefined || end === undefined || more.length > 0) {
    unsound(`the data_offsets of ${which} are not two numbers`);
  }
  return { name, dtype, shape: extents, begin, end };
}

function wholeNumbers(what: string, value: unknown): number[] {
  if (!Array.isArray(value)) unsound(`${what} is not a list of numbers`);
  if (!value.every((number) => Number.isInteger(number) && number >= 0)) {
    unsound(`${what} holds something else than whole numbers from 0 up`);
  }
  if (!value.every(Number.isSafeInteger)) unsound(`${what} holds a number of 2⁵³ or more`);
  return value;
}

/** The entries in the order of their data, which must have no gap and no overlap. Offsets become absolute. */
function inOrder(entries: readonly SafetensorsEntry[], start: number, size: number): SafetensorsEntry[] {
  const data = size - start;
  let covered = 0;
  const sorted = [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end);
  const placed = sorted.map((entry) => {
    const { dtype, shape, begin, end } = entry;
    const which = `tensor ${quoted(entry.name)}`;
    if (begin > end || end > data) unsound(`${which} claims bytes ${begin} to ${end} of ${data}`);
    const width = widths.get(dtype);
    if (width && product(shape) * width !== end - begin) {
      unsound(`the shape of ${which} does not fit its ${end - begin} bytes of ${dtype}`);
    }
    if (begin !== covered) {
      unsound(`${which} begins at byte ${begin} where byte ${covered} was due: data overlap or leave a hole`);
    }
    covered = end;
    return { ...entry, begin: start + begin, end: start + end };
  });
  if (covered !== data) unsound(`the tensors cover ${covered} of ${data} bytes of data`);
  return placed;
}

type Decoder = (from: DataView, to: Float64Array) => void;

const decodeFloats =
  (width: number, get: 'getFloat32' | 'getFloat64'): Decoder =>
  (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = from[get](width * i, true);
  };

const decoders = new Map<unknown, Decoder>([
  ['F64', decodeFloats(8, 'getFloat64')],
  ['F32', decodeFloats(4, 'getFloat32')],
  [
    'F16',
    (from, to) => {
      const values = halfValues();
      for (let i = 0; i < to.length; i++) to[i] = values[from.getUint16(2 * i, true)] as number;
    },
  ],
  [
    'BF16',
    (from, to) => {
      // A BF16 is the upper half of a float.
      const bits = new Uint32Array(1);
      const float = new Float32Array(bits.buffer);
      for (let i = 0; i < to.length; i++) {
        bits[0] = from.getUint16(2 * i, true) << 16;
        to[i] = float[0] as number;
      }
    },
  ],
]);

let halves: Float32Array | undefined;

/** The values of the 65,536 halves (IEEE 754 binary16), memoized: a look-up is faster than computing them. */
function halfValues(): Float32Array {
  halves ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    const sign = bits >> 15 ? -1 : 1;
    if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
  });
  return halves;
}
