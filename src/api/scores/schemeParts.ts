// The learned parts of a scheme. Parts that the caller passes are checked first; missing ones are drawn at
// the end.
import * as check from '../check.js';
import type { SmallSuperpose } from '../smallModule.js';
import type { Linear } from '../table.js';
import { extent, type SchemePart, type SchemeShape } from './schemeRegistry.js';

/** The random streams of drawn parts: one each, so that passing one part does not change another. */
const streams = [
  'query',
  'key',
  'offsetKeys',
  'offsetKey',
  'u',
  'v',
  'bias',
  'distances',
  'positionQuery',
  'positionKey',
  'position',
  'rotaryQuery',
  'rotaryKey',
];

interface Drawing {
  /** The caller's parts, by name. */
  input: Readonly<Record<string, unknown>>;
  /** The sizes that the parts' shapes depend on. */
  sizes: SchemeShape & { heads: number; positions: number };
  /** The seed of all draws; each part has its own stream. */
  seed: number;
  /** The standard deviation of tables and vectors. */
  deviation: number;
}

/** Checks the parts that the caller passes. */
export function schemeParts(first: SmallSuperpose, parts: readonly SchemePart[], how: Drawing) {
  const checked = parts.map((part) => checkedPart(part, how));
  return {
    /** How many numbers the parts have, including the projected tokens that maps give. */
    values: checked.reduce((sum, { values }) => sum + values, 0),
    /** Returns all parts, and draws the missing ones. It is called when everything has been checked. */
    learned: () =>
      Object.fromEntries(
        checked.map((part) => [part.name, how.input[part.name] || drawPart(first, part, how)]),
      ),
  };
}

function checkedPart({ name, kind, ...shape }: SchemePart, { input, sizes }: Drawing) {
  const part = input[name];
  const columns = extent(shape.columns, sizes);
  const each = extent(shape.rows, sizes);
  const isMap = kind === 'linear' || kind === 'weight' || kind === 'shared';
  // Heads may have a map each instead of a shared one.
  const isPerHead = kind === 'shared' && (part as Linear | undefined)?.weight?.rows === sizes.heads * each;
  const rows = isPerHead ? sizes.heads * each : each;
  if (part) {
    if (kind === 'vector') check.floats(name, part, columns);
    else if (!isMap) check.table(name, part, { rows, columns });
    else if (check.linear(name, part, { rows, columns }).bias && kind === 'weight')
      throw new RangeError(`${name} must have no bias; the joined weight's goes with query or key.`);
  }
  const values = kind === 'vector' ? 0 : rows * (columns + (isMap ? sizes.positions : 0));
  return { name, kind, isMap, rows, columns, values };
}

function drawPart(
  first: SmallSuperpose,
  { name, kind, isMap, rows, columns }: ReturnType<typeof checkedPart>,
  { sizes, seed, deviation }: Drawing,
) {
  // Transformer-XL's offsets are not learned.
  if (kind === 'offsets')
    return first.sinusoidal({
      positions: rows,
      d_model: columns,
      layout: 'concatenated',
      firstPosition: 1 - sizes.positions,
    });
  const standardDeviation = isMap ? 'fan_in' : deviation;
  const stream = streams.indexOf(name);
  const numbers = first.randomNormal({
    rows: kind === 'vector' ? 1 : rows,
    columns,
    standardDeviation,
    seed,
    stream,
  });
  if (isMap) return { weight: numbers };
  return kind === 'vector' ? numbers.data : numbers;
}
