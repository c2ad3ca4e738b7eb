// Checks arguments once, before anything is allocated. Each error says what was given and what is allowed:
// it is a TypeError for a value of the wrong kind, and a RangeError for a wrong value of the right kind.
import type { Floats, Ids, Integers, Linear, Table } from './table.js';
import { didYouMean, unknownName } from './unknownName.js';

/**
 * The most bytes that a call’s arguments, working memory and results may take together with everything that
 * is resident. WebAssembly’s memory ends at 2 GiB.
 */
export const maxBytes = 2 ** 30;

/**
 * The bytes that transformer stacks, layers, searches and trainers occupy in the module's memory until they
 * are deleted.
 */
let residentBytes = 0;
/** The largest width or row count; a larger one is taken for a mistake. */
export const maxExtent = 2 ** 22;

/** A value as an error message shows it. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (ArrayBuffer.isView(value)) {
    const { name } = value.constructor;
    const article = /^[AEIOU]/.test(name) ? 'an' : 'a';
    // In a frame or in node:vm, a class of the same name is a different class.
    return `${value instanceof Object ? article : 'another realm’s'} ${name}`;
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
};

/** Refuses a value: throws a RangeError if its kind is right, a TypeError otherwise. */
export function refuse(name: string, must: string, value: unknown, rightKind = true, hint = ''): never {
  const sentence = `${name} must be ${must}; it is ${shown(value)}.${hint}`;
  throw rightKind ? new RangeError(sentence) : new TypeError(sentence);
}

/** “1 row”, “2 rows”. */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : plural}`;

/** Refuses a wrong count of something: “weights needs 2 entries; got 1.” */
export function refuseCount(name: string, needs: string, count: number): never {
  throw new RangeError(`${name} needs ${needs}; got ${count}.`);
}

/** Checks a finite number from `low` to `high`. */
export function number(name: string, value: unknown, low = -Infinity, high = Infinity): number {
  if (typeof value !== 'number') refuse(name, 'a number', value, false);
  if (!Number.isFinite(value)) refuse(name, 'finite', value);
  if (value < low || value > high) refuse(name, range(low, high), value);
  return value;
}

/** The largest number of float32. */
const largestSingle = 2 ** 128 - 2 ** 104;

/** Checks a number that float32 can represent. */
export function single(name: string, value: unknown, low = -Infinity): number {
  const checked = number(name, value, low);
  if (Math.abs(checked) > largestSingle)
    throw new RangeError(`${name} must be at most 3.4e38 in float32; it is ${checked}.`);
  return checked;
}

/** Checks the factor of every logit; 1/√width by default. */
export const scale = (value: unknown, width: number): number =>
  number('scale', value ?? 1 / Math.sqrt(width));

/** Checks a whole number from `low` to `high`. */
export function integer(name: string, value: unknown, low: number, high = maxExtent): number {
  const must = 'a whole number';
  if (typeof value !== 'number') refuse(name, must, value, false);
  if (!Number.isInteger(value)) refuse(name, must, value);
  if (value < low || value > high) refuse(name, `${must} ${range(low, high)}`, value);
  return value;
}

/** Checks the index of one of `count` things. */
export function index(name: string, value: unknown, count: number): number {
  if (count === 0)
    throw new RangeError(`${name} is ${shown(value)}, but there is none to name: 0 are given.`);
  return integer(name, value, 0, count - 1);
}

/** Checks a list of numbers, and that the three copies of it that a call makes fit into memory. */
export function list(name: string, value: unknown, length?: number): Floats {
  const checked = floats(name, value, length);
  requireMemory(`${checked.length} numbers`, 24 * checked.length);
  return checked;
}

/**
 * Checks an array of numbers: each entry with `checkEntry`, and the number of entries if `length` is given.
 */
export function numbers(
  name: string,
  value: unknown,
  checkEntry: (name: string, value: unknown) => number,
  length?: number,
): readonly number[] {
  if (!Array.isArray(value) || value.length !== (length ?? value.length)) {
    const numbers = length === undefined ? 'numbers' : counted(length, 'number');
    refuse(name, `an array of ${numbers}`, value, Array.isArray(value));
  }
  for (const entry of value) checkEntry(`an entry of ${name}`, entry);
  return value;
}

/** Checks a list of whole numbers from 0 to `high`. */
export const integers = (name: string, value: unknown, high = maxExtent, length?: number) =>
  numbers(name, value, (entryName, entry) => integer(entryName, entry, 0, high), length);

/**
 * Checks ids from `low` to `high` and copies them as numbers, so that later changes by the caller have no
 * effect.
 */
export function ids(name: string, value: unknown, low: number, high: number): Int32Array {
  // The class is compared by name, because a frame and node:vm have classes of their own.
  const kind = Object.prototype.toString.call(value);
  if (!/^\[object (Array|(Big)?(Int|Uint)\d+(Clamped)?Array)\]$/.test(kind))
    refuse(name, 'an array of whole numbers', value, false);
  const list = value as Ids;
  const copy = new Int32Array(list.length);
  for (let at = 0; at < copy.length; at++) {
    const entry = list[at];
    const id = typeof entry === 'bigint' ? Number(entry) : (entry as number);
    // Every training step checks its ids here, so an entry’s name is composed only when the entry is wrong.
    if (!(id >= low && id <= high && Number.isInteger(id))) integer(`an entry of ${name}`, id, low, high);
    copy[at] = id;
  }
  return copy;
}

/** Refuses a list in which something occurs twice. */
export function distinct(name: string, list: readonly unknown[]): void {
  const duplicate = list.find((entry, place) => list.indexOf(entry) !== place);
  if (duplicate !== undefined)
    throw new RangeError(`${name} must name each once; ${shown(duplicate)} is there twice.`);
}

/** Checks a seed or a stream of random draws. */
export const seed = (name: string, value: unknown): number => integer(name, value, 0, 2 ** 32 - 1);

/**
 * Checks the options of a call that takes time: a signal that ends it, and a function that is told how far
 * it has come.
 */
export function signalAndProgress(signal: unknown, progress: unknown, name = 'progress'): void {
  if (signal != null && typeof (signal as Partial<AbortSignal>).throwIfAborted !== 'function')
    refuse('signal', 'an AbortSignal', signal, false);
  if (progress != null && typeof progress !== 'function') refuse(name, 'a function', progress, false);
}

export function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') refuse(name, 'true or false', value, false);
  return value;
}

function range(low: number, high: number): string {
  return high === Infinity ? `at least ${low}` : `from ${low} to ${high}`;
}

export function positive(name: string, value: unknown): number {
  const checked = number(name, value);
  if (checked <= 0) refuse(name, 'above 0', checked);
  return checked;
}

export function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if (typeof value === 'string' && (allowed as readonly string[]).includes(value)) return value as T;
  const must =
    allowed.length > 4 ? `one of ${allowed.join(', ')}` : allowed.map((name) => `'${name}'`).join(' or ');
  refuse(name, must, value, typeof value === 'string', nearestOf(value, allowed));
}

const nearestOf = (value: unknown, list: readonly unknown[]): string =>
  typeof value === 'string'
    ? didYouMean(
        value,
        list.filter((name) => typeof name === 'string'),
      )
    : '';

/** Checks that a value is in a list, and returns its index there. */
export function placeIn<T>(name: string, value: T, list: readonly T[]): number {
  const place = list.indexOf(value);
  if (place < 0) {
    const isRightKind = typeof value === typeof (list[0] ?? value);
    refuse(name, `one of ${list.join(', ')}`, value, isRightKind, nearestOf(value, list));
  }
  return place;
}

export function object(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) refuse(name, 'an object', value, false);
}

type KeyOf<Options> = Options extends unknown ? keyof Options : never;

/** All option names of a type; a list that lacks a name does not compile. */
export type OptionNames<Options> = { readonly [Name in KeyOf<Options>]: true };

/** Refuses a value that is not an object, and an option that does not exist, whatever its value. */
export function knownOptions<Options>(name: string, value: Options, names: OptionNames<Options>): void {
  object(name, value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) refuse(name, 'an object', value, false);
  for (const option of Object.keys(value as object)) {
    if (Object.hasOwn(names, option)) continue;
    const within = name === 'options' || name === 'input' ? '' : name;
    throw new RangeError(unknownName('option', option, Object.keys(names), within));
  }
}

/** Checks `superpose`, the first argument of every function that reads files. */
export function superposeArgument(superpose: unknown): void {
  const { memoryBytes } = (superpose ?? {}) as { memoryBytes?: unknown };
  if (typeof memoryBytes !== 'function') refuse('superpose', 'what load() returns', superpose, false);
}

/**
 * Checks a Float32Array or Float64Array, whose values may be anything, and its length if `length` is given.
 */
export function array(name: string, value: unknown, length?: number): Floats {
  if (!(value instanceof Float32Array || value instanceof Float64Array)) {
    refuse(name, 'a Float32Array or a Float64Array', value, false);
  }
  if (value.length !== (length ?? value.length))
    refuseCount(name, counted(length as number, 'value'), value.length);
  attached(name, value);
  return value;
}

/** Refuses an array whose buffer was transferred. Copying such an array would abort the module. */
export function attached(name: string, value: Floats | Integers): void {
  try {
    value.at(0);
  } catch {
    refuse(name, 'an array with its buffer', value, false);
  }
}

/** Checks the same as array(), and that no value is NaN or infinite. */
export function floats(name: string, value: unknown, length?: number): Floats {
  const checked = array(name, value, length);
  // A sum is finite only if all its terms are, and summing is much faster than testing each number. Four
  // sums run side by side. A sum of finite numbers can overflow; only then is each number tested.
  const count = checked.length;
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 3; i < count; i += 4) {
    a += checked[i - 3] as number;
    b += checked[i - 2] as number;
    c += checked[i - 1] as number;
    d += checked[i] as number;
  }
  for (let i = count - (count % 4); i < count; i++) a += checked[i] as number;
  if (Number.isFinite(a + b + c + d)) return checked;
  const bad = checked.findIndex((entry) => !Number.isFinite(entry));
  if (bad < 0) return checked;
  throw new RangeError(`${name} must be finite; value ${bad} is ${checked[bad]}.`);
}

export interface Extents {
  rows?: number | undefined;
  columns?: number | undefined;
}

/**
 * Checks the numbers of rows and columns, and that they are the expected ones where `expected` gives them.
 */
export function extents(name: string, value: unknown, expected: Extents): void {
  object(name, value);
  const { rows, columns } = value as Table;
  integer(`${name}.rows`, rows, 0);
  integer(`${name}.columns`, columns, 1);
  if (rows !== (expected.rows ?? rows)) refuseCount(name, counted(expected.rows as number, 'row'), rows);
  if (columns !== (expected.columns ?? columns))
    refuseCount(name, counted(expected.columns as number, 'column'), columns);
}

/** Checks a table: its extents, and that its data has rows * columns finite values. */
export function table(name: string, value: unknown, expected: Extents = {}): Table {
  extents(name, value, expected);
  const { data, rows, columns } = value as Table;
  floats(`${name}.data`, data, rows * columns);
  return value as Table;
}

/** Checks a weight and its bias. */
export function linear(name: string, value: unknown, expected: Extents = {}): Linear {
  knownOptions(name, value as Linear, { weight: true, bias: true });
  const { weight, bias } = value as Linear;
  table(`${name}.weight`, weight, expected);
  if (weight.rows === 0) refuseCount(`${name}.weight`, 'at least 1 row', 0);
  if (bias !== undefined) floats(`${name}.bias`, bias, weight.rows);
  return value as Linear;
}

/** Refuses numbers beyond the range of float32, in which transformer stacks and layers compute. */
export function singles(name: string, data: Floats | undefined): void {
  const beyond = data instanceof Float64Array && data.find((entry) => Math.abs(entry) > largestSingle);
  if (beyond) single(`an entry of ${name}`, beyond);
}

/**
 * Refuses a call that needs too much memory, before anything is allocated. Beside each kernel in C++, a
 * function called NAME_bytes says how many bytes the kernel needs. `advice` says how the caller can need
 * less.
 */
export function requireMemory(what: string, needed: number, advice = ''): void {
  if (needed > maxBytes) {
    throw new RangeError(
      `${what} would take ${megabytes(needed)}; at most ${megabytes(maxBytes)} fit. ${advice || 'Reduce one of the sizes above.'}`,
    );
  }
  for (const release of releasers) {
    while (needed > freeBytes() && release()) {}
  }
  if (needed > freeBytes()) {
    const error = new RangeError(
      `${what} would take ${megabytes(needed)}; of the ${megabytes(maxBytes)} that fit, transformer stacks, layers, searches and trainers hold ${megabytes(residentBytes)}. Call delete() on those that are not needed. ${advice}`.trimEnd(),
    );
    throw Object.assign(error, { residentBytes } satisfies Pick<NoRoom, 'residentBytes'>);
  }
}

/** How many bytes resident objects leave free. */
export const freeBytes = (): number => maxBytes - residentBytes;

/**
 * Functions that free memory whose contents can be read again later. Each call frees one piece, or returns
 * false if there is none.
 */
export const releasers = new Set<() => boolean>();

/** Refuses a table that is too large, for calls that need no memory beside the table. */
export const tableFits = (rows: number, columns: number): void =>
  requireMemory(`A table of ${rows} rows by ${columns} columns`, 8 * rows * columns);

/**
 * The error of a call for which resident objects leave too little memory. A program can delete some of them
 * and call again.
 *
 * @category Load the library
 */
export interface NoRoom extends RangeError {
  /** The bytes that resident objects occupy. */
  readonly residentBytes: number;
}

/**
 * Counts bytes that an object occupies in the module's memory; `bytes` is negative when the object frees
 * them.
 */
export function addResidentBytes(bytes: number): void {
  residentBytes += bytes;
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`;

/** Checks which heads to return: distinct indices below `heads`, by default all. */
export function chosenHeads(value: unknown, heads: number): number[] {
  if (value === undefined) return Array.from({ length: heads }, (_, head) => head);
  const only = integers('only', value, heads - 1);
  distinct('only', only);
  return value as number[];
}

/** Checks that the heads divide the width into equal parts, and returns the width of a head. */
export function headWidth(heads: unknown, width: number, of: string, rows = 'rows'): number {
  const count = integer('heads', heads, 1);
  if (width % count !== 0) {
    throw new RangeError(`heads must divide the ${width} ${rows} of ${of}; ${count} does not.`);
  }
  return width / count;
}
