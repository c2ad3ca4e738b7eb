// Arguments are checked here, once, before anything is allocated. Each error says what was given and what is
// allowed: TypeError for a wrong kind of value, RangeError for a wrong value.
import type { Floats, Ids, Linear, Table } from './table.js';
import { unknownName } from './unknown.js';

/**
 * The most that a call’s inputs, working memory and results may take, together with all that is held already.
 * WebAssembly ends at 2 GiB.
 */
export const maxBytes = 2 ** 30;

/** What transformer stacks, layers, searches and trainers keep in the module's memory until they are deleted. */
let heldBytes = 0;
/** A larger width or row count is taken for a mistake. */
export const maxExtent = 2 ** 22;

/** A value as an error message shows it. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  // In a frame or in node:vm, a class of the same name is another one.
  if (ArrayBuffer.isView(value))
    return `${value instanceof Object ? 'a' : 'another realm’s'} ${value.constructor.name}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
};

/** Refuses a value: a RangeError when its kind is right, a TypeError otherwise. */
export function refuse(name: string, must: string, value: unknown, rightKind = true): never {
  const sentence = `${name} must be ${must}; it is ${shown(value)}.`;
  throw rightKind ? new RangeError(sentence) : new TypeError(sentence);
}

/** “1 row”, “2 rows”. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Refuses a wrong count of something. */
export function refuseCount(name: string, must: string, count: number): never {
  throw new RangeError(`${name} must have ${must}; it has ${count}.`);
}

/** A finite number, within [low, high] when they are given. */
export function number(name: string, value: unknown, low = -Infinity, high = Infinity): number {
  if (typeof value !== 'number') refuse(name, 'a number', value, false);
  if (!Number.isFinite(value)) refuse(name, 'finite', value);
  if (value < low || value > high) refuse(name, range(low, high), value);
  return value;
}

const largestSingle = 2 ** 128 - 2 ** 104;

/** A number that float32 has. */
export function single(name: string, value: unknown, low = -Infinity): number {
  const checked = number(name, value, low);
  if (Math.abs(checked) > largestSingle)
    throw new RangeError(`${name} must be at most 3.4e38 in float32; it is ${checked}.`);
  return checked;
}

/** What multiplies every logit: 1/√width unless it is given. */
export const scale = (value: unknown, width: number): number =>
  number('scale', value ?? 1 / Math.sqrt(width));

/** A whole number within [low, high]. */
export function integer(name: string, value: unknown, low: number, high = maxExtent): number {
  const must = 'a whole number';
  if (typeof value !== 'number') refuse(name, must, value, false);
  if (!Number.isInteger(value)) refuse(name, must, value);
  if (value < low || value > high) refuse(name, `${must} ${range(low, high)}`, value);
  return value;
}

/** The index of one of `count` things. */
export function index(name: string, value: unknown, count: number): number {
  if (count === 0)
    throw new RangeError(`${name} is ${shown(value)}, but there is none to name: 0 are given.`);
  return integer(name, value, 0, count - 1);
}

/** A list of numbers to measure, which must fit in memory. */
export function list(name: string, value: unknown, length?: number): Floats {
  const checked = floats(name, value, length);
  fits(`${checked.length} numbers`, 24 * checked.length);
  return checked;
}

/** A list of numbers, each checked by `each`; `length` of them when that is given. */
export function numbers(
  name: string,
  value: unknown,
  each: (name: string, value: unknown) => number,
  length?: number,
): readonly number[] {
  if (!Array.isArray(value) || value.length !== (length ?? value.length)) {
    const many = length === undefined ? 'numbers' : counted(length, 'number');
    refuse(name, `an array of ${many}`, value, Array.isArray(value));
  }
  for (const one of value) each(`an entry of ${name}`, one);
  return value;
}

/** A list of whole numbers from 0 to `high`. */
export const integers = (name: string, value: unknown, high = maxExtent, length?: number) =>
  numbers(name, value, (entry, one) => integer(entry, one, 0, high), length);

/** Ids from `low` to `high` as plain numbers, in a copy that later changes by the caller do not reach. */
export function ids(name: string, value: unknown, low: number, high: number): Int32Array {
  // By its name, since in a frame or in node:vm a class is another one.
  const kind = Object.prototype.toString.call(value);
  if (!/^\[object (Array|(Big)?(Int|Uint)\d+(Clamped)?Array)\]$/.test(kind))
    refuse(name, 'an array of whole numbers', value, false);
  const list = value as Ids;
  const found = new Int32Array(list.length);
  for (let at = 0; at < found.length; at++) {
    const one = list[at];
    const id = typeof one === 'bigint' ? Number(one) : (one as number);
    // Every step's ids come through here, so a message is made only for a wrong one.
    if (!(id >= low && id <= high && Number.isInteger(id))) integer(`an entry of ${name}`, id, low, high);
    found[at] = id;
  }
  return found;
}

/** Refuses a list that names something twice. */
export function once(name: string, list: readonly unknown[]): void {
  const twice = list.find((one, place) => list.indexOf(one) !== place);
  if (twice !== undefined)
    throw new RangeError(`${name} must name each once; ${shown(twice)} is there twice.`);
}

/** A seed or a stream of random draws. */
export const seed = (name: string, value: unknown): number => integer(name, value, 0, 2 ** 32 - 1);

/** What a caller waits with: a signal that ends the call, and a function that hears of its progress. */
export function waiting(signal: unknown, progress: unknown, name = 'progress'): void {
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
    allowed.length > 4 ? `one of ${allowed.join(', ')}` : allowed.map((one) => `'${one}'`).join(' or ');
  refuse(name, must, value, typeof value === 'string');
}

/** The place of a value in a list. */
export function placeIn<T>(name: string, value: T, list: readonly T[]): number {
  const place = list.indexOf(value);
  if (place < 0) refuse(name, `one of ${list.join(', ')}`, value, typeof value === typeof (list[0] ?? value));
  return place;
}

export function object(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) refuse(name, 'an object', value, false);
}

type KeyOf<Options> = Options extends unknown ? keyof Options : never;

/** All options of a type, so that a list that lacks one does not compile. */
export type OptionNames<Options> = { readonly [Name in KeyOf<Options>]: true };

/** Refuses what is no object, and an option that does not exist, whatever its value. */
export function knownOptions<Options>(name: string, value: Options, names: OptionNames<Options>): void {
  object(name, value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) refuse(name, 'an object', value, false);
  for (const given of Object.keys(value as object)) {
    if (Object.hasOwn(names, given)) continue;
    const within = name === 'options' || name === 'input' ? '' : name;
    throw new RangeError(unknownName('option', given, Object.keys(names), within));
  }
}

/** What everything that reads files takes first. */
export function reading(superpose: unknown): void {
  const { memoryBytes } = (superpose ?? {}) as { memoryBytes?: unknown };
  if (typeof memoryBytes !== 'function') refuse('superpose', 'what load() returns', superpose, false);
}

/** A Float32Array or Float64Array with any values, of the given length if there is one. */
export function array(name: string, value: unknown, length?: number): Floats {
  if (!(value instanceof Float32Array || value instanceof Float64Array)) {
    refuse(name, 'a Float32Array or a Float64Array', value, false);
  }
  if (value.length !== (length ?? value.length))
    refuseCount(name, counted(length as number, 'value'), value.length);
  try {
    // Throws where the buffer was transferred. Copying the array would break the module off.
    value.at(0);
  } catch {
    refuse(name, 'an array with its buffer', value, false);
  }
  return value;
}

/** The same without NaN or infinities. */
export function floats(name: string, value: unknown, length?: number): Floats {
  const checked = array(name, value, length);
  // A sum is finite only if all its terms are, and summing is much faster than testing each. Four sums run
  // side by side. Finite numbers can overflow a sum: then each is tested after all.
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

/** Rows and columns of something, which must be the given ones. */
export function extents(name: string, value: unknown, wanted: Extents): void {
  object(name, value);
  const { rows, columns } = value as Table;
  integer(`${name}.rows`, rows, 0);
  integer(`${name}.columns`, columns, 1);
  if (rows !== (wanted.rows ?? rows)) refuseCount(name, counted(wanted.rows as number, 'row'), rows);
  if (columns !== (wanted.columns ?? columns))
    refuseCount(name, counted(wanted.columns as number, 'column'), columns);
}

/** A table whose data has rows * columns finite values, and the given extents. */
export function table(name: string, value: unknown, wanted: Extents = {}): Table {
  extents(name, value, wanted);
  const { data, rows, columns } = value as Table;
  floats(`${name}.data`, data, rows * columns);
  return value as Table;
}

export function linear(name: string, value: unknown, wanted: Extents = {}): Linear {
  knownOptions(name, value as Linear, { weight: true, bias: true });
  const { weight, bias } = value as Linear;
  table(`${name}.weight`, weight, wanted);
  if (weight.rows === 0) refuseCount(`${name}.weight`, 'at least 1 row', 0);
  if (bias !== undefined) floats(`${name}.bias`, bias, weight.rows);
  return value as Linear;
}

/** Refuses numbers beyond float32, in which transformer stacks and layers compute. */
export function singles(name: string, data: Floats | undefined): void {
  const beyond = data instanceof Float64Array && data.find((one) => Math.abs(one) > largestSingle);
  if (beyond) single(`an entry of ${name}`, beyond);
}

/**
 * Refuses, before anything is allocated, what would not fit beside what is held. `weights` are copied into
 * the module on top of `bytes`.
 */
export function fits(what: string, bytes: number, ...weights: (Linear | Table | undefined)[]): void {
  const given = weights.reduce((total, one) => total + bytesOf(one), 0);
  const needed = bytes + given;
  if (needed > maxBytes) {
    throw new RangeError(
      `${what} would take ${megabytes(needed)}; at most ${megabytes(maxBytes)} fit. Ask for fewer tokens, heads or columns.`,
    );
  }
  if (needed + heldBytes > maxBytes) {
    const error = new RangeError(
      `${what} would take ${megabytes(needed)}; of the ${megabytes(maxBytes)} that fit, transformer stacks, layers, searches and trainers hold ${megabytes(heldBytes)}. Call delete() on those that are not needed.`,
    );
    throw Object.assign(error, { held: heldBytes } satisfies Pick<NoRoom, 'held'>);
  }
}

/** What is held leaves too little room. The message is for a program, which can delete things. */
export interface NoRoom extends RangeError {
  /** How many bytes. */
  readonly held: number;
}

/** The bytes of weights and biases in the module: in double, or in float and packed too. */
const bytesOf = (one: Linear | Table | undefined): number =>
  one === undefined
    ? 0
    : 8 * ('weight' in one ? one.weight.data.length + (one.bias?.length ?? 0) : one.data.length);

/** Counts what objects keep in the module's memory: so many bytes more, or fewer. */
export function hold(bytes: number): void {
  heldBytes += bytes;
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`;

/** Which heads to return: distinct indices below `heads`, by default all. */
export function chosenHeads(value: unknown, heads: number): number[] {
  if (value === undefined) return Array.from({ length: heads }, (_, head) => head);
  const only = integers('only', value, heads - 1);
  once('only', only);
  return value as number[];
}

/** Heads that divide the width into equal parts; returns the width of one. */
export function headWidth(heads: unknown, width: number, of: string, rows = 'rows'): number {
  const count = integer('heads', heads, 1);
  if (width % count !== 0) {
    throw new RangeError(`heads must divide the ${width} ${rows} of ${of}; ${count} does not.`);
  }
  return width / count;
}
