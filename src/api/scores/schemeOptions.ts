// What callers may set of a scheme beside its parts: each option is read in one place, for all schemes that the registry
// says take it.
import * as check from '../check.js';
import { evenWidth, type RotaryConvention, rotaryConvention } from '../encodings/rotary.js';
import type { BucketOptions } from './schemeInputs.js';
import type { SchemeInfo, SchemeSizes } from './schemeRegistry.js';

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
}

type OptionReader = (asked: OptionInput, scheme: SchemeInfo) => object | undefined;

const readers: Record<string, OptionReader> = {
  positionScale: ({ given }) => ({
    positionScale: check.number('positionScale', given.positionScale ?? 1),
  }),
  d_position(asked, { parts }) {
    const perHead = parts.some(({ columns }) => columns.by === 'heads');
    return setSize(asked, 'd_position', asked.sizes[perHead ? 'd_head' : 'd_model']);
  },
  d_position_head: (asked) => setSize(asked, 'd_position_head', asked.sizes.d_head),
  d_offset: (asked) => setSize(asked, 'd_offset', asked.sizes.d_model),
  d_rotary({ given, sizes }) {
    const width = check.integer('d_rotary', given.d_rotary ?? 2 * Math.ceil((sizes.d_head as number) / 4), 2);
    sizes.d_position = evenWidth('The width of a rotary head', width);
    return undefined;
  },
  clip({ given, sizes }, { parts, clip }) {
    // A table has at least one row.
    const least = parts.some(({ rows }) => rows.plus > 0) ? 0 : 1;
    sizes.clip = check.integer('clip', given.clip ?? clip, least, 2 ** 20);
    return undefined;
  },
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

/** A width that a scheme's parts do not have from the content. */
function setSize(
  { given, sizes }: OptionInput,
  size: keyof SchemeSizes,
  usual: number | undefined,
): undefined {
  sizes[size] = check.integer(size, given[size] ?? usual, 1);
}
