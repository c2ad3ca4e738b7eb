// The learned parts of a scheme: checked where they are given, drawn at the end where they are left out.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { Linear } from '../table.js';
import { extent, type SchemePart, type SchemeSizes } from './schemeRegistry.js';

/** Random streams of the drawn parts: one each, so that giving one part does not change another. */
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
  /** What the caller gave, by name. */
  given: Readonly<Record<string, unknown>>;
  /** What the parts' shapes are made of. */
  sizes: SchemeSizes & { heads: number; positions: number };
  /** Of all draws; each part has a stream of its own. */
  seed: number;
  /** Of tables and vectors. */
  deviation: number;
}

/** Checks the parts that are given. */
export function schemeParts(first: SmallSuperpose, parts: readonly SchemePart[], how: Drawing) {
  const checked = parts.map((part) => checkedPart(part, how));
  return {
    /** How many numbers the parts have, and what they make of the tokens. */
    values: checked.reduce((sum, { values }) => sum + values, 0),
    /** All parts, once everything is checked: those that are left out are drawn now. */
    learned: () =>
      Object.fromEntries(checked.map((part) => [part.name, how.given[part.name] || drawn(first, part, how)])),
  };
}

function checkedPart({ name, kind, ...shape }: SchemePart, { given, sizes }: Drawing) {
  const columns = extent(shape.columns, sizes);
  const each = extent(shape.rows, sizes);
  const isMap = kind === 'linear' || kind === 'weight' || kind === 'shared';
  // A map that all heads share may be one for each.
  const own = kind === 'shared' && (given[name] as Linear | undefined)?.weight?.rows === sizes.heads * each;
  const rows = own ? sizes.heads * each : each;
  if (given[name]) {
    if (kind === 'vector') check.floats(name, given[name], columns);
    else if (!isMap) check.table(name, given[name], { rows, columns });
    else if (check.linear(name, given[name], { rows, columns }).bias && kind === 'weight')
      throw new RangeError(`${name} must have no bias; the joined weight's goes with query or key.`);
  }
  const values = kind === 'vector' ? 0 : rows * (columns + (isMap ? sizes.positions : 0));
  return { name, kind, isMap, rows, columns, values };
}

function drawn(
  first: SmallSuperpose,
  { name, kind, isMap, rows, columns }: ReturnType<typeof checkedPart>,
  { sizes, seed, deviation }: Drawing,
) {
  // Transformer-XL's, which are not learned.
  if (kind === 'offsets')
    return first.sinusoidal({
      ...{ positions: rows, d_model: columns, layout: 'concatenated', firstPosition: 1 - sizes.positions },
    });
  const standardDeviation = isMap ? 'fan_in' : deviation;
  const stream = streams.indexOf(name);
  const numbers = first.randomNormal({
    ...{ rows: kind === 'vector' ? 1 : rows, columns, standardDeviation, seed, stream },
  });
  return isMap ? { weight: numbers } : kind === 'vector' ? numbers.data : numbers;
}
