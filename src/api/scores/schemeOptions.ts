// What callers may set of a scheme beside its parts: each option is read in one place, for all schemes that the registry
// says take it.
import * as check from '../check.js';
import { type BucketOptions, checkBuckets } from '../encodings/relativePosition.js';
import { evenWidth, type RotaryConvention, rotaryConvention } from '../encodings/rotary.js';
import type { SchemeExtent, SchemeInfo, SchemePart, SchemeSizes } from './schemeRegistry.js';

interface OptionInput {
  /** What the caller gave. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Read, and filled in for the parts' shapes. */
  readonly sizes: SchemeSizes;
  /** Whether the arrays are float32. */
  readonly single: boolean;
}

type OptionReader = (
  asked: OptionInput,
  scheme: SchemeInfo,
  options: Record<string, unknown>,
) => object | undefined;

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
    const options = checkBuckets(given as BucketOptions);
    sizes.buckets = options.buckets;
    return options;
  },
  bothWays(_, __, { bidirectional }) {
    if (!bidirectional) check.refuse('bidirectional', 'true for TUPE', false);
    return undefined;
  },
  resetCls: ({ given }) => ({ resetCls: check.flag('resetCls', given.resetCls ?? true) }),
  noBias({ given: { bias } }) {
    if (bias) throw new RangeError('bias belongs to tupe-r; tupe-a has none.');
    return undefined;
  },
  convention: ({ given }) => ({
    convention: check.placeOf('convention', given.convention ?? 'paper', ['paper', 'released']),
  }),
  evenHead({ sizes }) {
    evenWidth('The width of a head', sizes.d_head as number);
    return undefined;
  },
  rotation: ({ given }) => rotaryConvention(given as RotaryConvention),
  segments({ given: { segmentBias, segmentIds }, sizes }) {
    if (!segmentBias && !segmentIds) return undefined;
    const { rows } = check.table('segmentBias', segmentBias, { columns: sizes.heads });
    const count = Math.round(Math.sqrt(rows));
    if (rows < 1 || count ** 2 !== rows) check.refuseCount('segmentBias', 'S² rows, for S segments', rows);
    check.integers('segmentIds', segmentIds, count - 1, sizes.positions);
    return { segmentBias, segmentIds };
  },
};

/** The scheme's options, checked, as the module takes them. Fills in the sizes that they set. */
export function readOptions(scheme: SchemeInfo, asked: OptionInput): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const name of scheme.options) Object.assign(options, readers[name]?.(asked, scheme, options));
  return options;
}

/** A size as its option says, or a part that is given; by default as wide as a head, of a table as the content. */
function setSize(
  { given, sizes }: OptionInput,
  { parts }: SchemeInfo,
  size: keyof SchemeSizes,
  least: number,
  usual?: number,
  option: string = size,
): undefined {
  const depend = ({ by }: SchemeExtent) => by.includes(size);
  const perHead = parts.some(({ rows, columns }) =>
    [rows, columns].some((one) => depend(one) && one.by.includes('heads')),
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
  if (by.includes('heads')) return check.headWidth(heads, found, called, side);
  if (times === 2 && (found - plus) % 2 !== 0)
    check.refuseCount(name, plus ? '2k + 1 rows, an odd number' : '2k rows, an even number', found);
  return (found - plus) / times;
}
