// What callers may set of a scheme beside its parts: each option is read in one place, for all schemes that the registry
// says take it.
import * as check from '../check.js';
import { evenWidth, type RotaryConvention, rotaryConvention } from '../encodings/rotary.js';
import type { BucketOptions } from './schemeInputs.js';
import type { SchemeExtent, SchemeInfo, SchemePart, SchemeSizes } from './schemeRegistry.js';

function checkedBuckets({ bidirectional = true, buckets = 32, maxDistance = 128 }: BucketOptions) {
  check.flag('bidirectional', bidirectional);
  check.integer('buckets', buckets, bidirectional ? 4 : 2);
  if (bidirectional && buckets % 2 !== 0) check.refuse('buckets', 'even when bidirectional', buckets);
  const exact = Math.floor((bidirectional ? buckets / 2 : buckets) / 2);
  check.integer('maxDistance', maxDistance, exact + 1);
  return { bidirectional, buckets, maxDistance };
}

interface OptionInput {
  /** What the caller gave. */
  readonly given: Readonly<Record<string, unknown>> & BucketOptions;
  /** Read, and filled in for the parts' shapes. */
  readonly sizes: SchemeSizes;
  /** Whether the arrays are float32. */
  readonly single: boolean;
}

type OptionReader = (asked: OptionInput, scheme: SchemeInfo) => object | undefined;

const readers: Record<string, OptionReader> = {
  positionScale: ({ given, single }) => ({
    positionScale: check.representable('positionScale', given.positionScale ?? 1, single),
  }),
  d_position: (asked, scheme) => setSize(asked, scheme, 'd_position', 1),
  d_position_head: (asked, scheme) => setSize(asked, scheme, 'd_position_head', 1),
  d_offset: (asked, scheme) => setSize(asked, scheme, 'd_offset', 1),
  d_rotary(asked, scheme) {
    const usual = 2 * Math.ceil((asked.sizes.d_head as number) / 4);
    setSize(asked, scheme, 'd_position', 2, usual, 'd_rotary');
    evenWidth('The width of a rotary head', asked.sizes.d_position as number);
    return undefined;
  },
  // A table has at least one row.
  clip: (asked, scheme) =>
    setSize(asked, scheme, 'clip', scheme.parts.some(({ rows }) => rows.plus > 0) ? 0 : 1, scheme.clip),
  buckets({ given, sizes }) {
    const buckets = checkedBuckets(given);
    sizes.buckets = buckets.buckets;
    return { buckets };
  },
  bothWays({ given: { bidirectional = true } }) {
    if (!bidirectional) check.refuse('bidirectional', 'true for TUPE', false);
    return undefined;
  },
  resetCls: ({ given }) => ({ resetCls: check.flag('resetCls', given.resetCls ?? true) }),
  noBias({ given: { bias } }) {
    if (bias) throw new RangeError('bias belongs to tupe-r; tupe-a has none.');
    return undefined;
  },
  evenHead({ sizes }) {
    evenWidth('The width of a head', sizes.d_head as number);
    return undefined;
  },
  rotation: ({ given }) => rotaryConvention(given as RotaryConvention),
};

/** The scheme's options, checked, as the module takes them. Fills in the sizes that they set. */
export const readOptions = (scheme: SchemeInfo, asked: OptionInput): { buckets?: BucketOptions } =>
  Object.assign({}, ...scheme.options.map((name) => readers[name]?.(asked, scheme)));

/** A size as its option says, or a part that is given; by default as wide as a head, of a table as the content. */
function setSize(
  { given, sizes }: OptionInput,
  { parts }: SchemeInfo,
  size: keyof SchemeSizes,
  least: number,
  usual?: number,
  option: string = size,
): undefined {
  const depend = ({ by, andBy }: SchemeExtent) => by === size || andBy === size;
  const perHead = parts.some(({ rows, columns }) =>
    [rows, columns].some((one) => depend(one) && one.by === 'heads'),
  );
  // The first part of that size says it, or another of the same shape. A map that may be shared does not.
  const [first, ...others] = parts.filter(
    ({ kind, ...at }) => kind !== 'shared' && (depend(at.rows) || depend(at.columns)),
  );
  const same = ({ rows, columns }: SchemePart) => JSON.stringify([rows, columns]);
  const teller = [first, ...others.filter((one) => same(one) === same(first as SchemePart))].find(
    (one) => one && given[one.name],
  );
  const told =
    teller &&
    sizeIn(teller, given[teller.name], depend(teller.rows) ? 'rows' : 'columns', sizes.heads as number);
  const wanted = given[option] ?? told ?? usual ?? sizes[perHead ? 'd_head' : 'd_model'];
  sizes[size] = check.integer(option, wanted, least, option === 'clip' ? 2 ** 20 : undefined);
}

/** The size that a given part's rows or columns say. */
function sizeIn(part: SchemePart, given: unknown, side: 'rows' | 'columns', heads: number): number {
  const { name, kind } = part;
  const isTable = kind === 'table' || kind === 'offsets';
  const matrix = isTable ? check.table(name, given) : check.linear(name, given).weight;
  const found = matrix[side];
  const { times, by, plus } = part[side];
  const called = isTable ? name : `${name}.weight`;
  if (by === 'heads') return check.headWidth(heads, found, called, side);
  if (times === 2 && (found - plus) % 2 !== 0)
    check.refuseCount(name, plus ? '2k + 1 rows, an odd number' : '2k rows, an even number', found);
  return (found - plus) / times;
}
