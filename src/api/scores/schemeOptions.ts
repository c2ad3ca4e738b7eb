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

/** The scheme's options, checked, as the module takes them. Fills in the sizes that they set. */
export function readOptions(
  { options, parts, clip }: SchemeInfo,
  given: Readonly<Record<string, unknown>> & BucketOptions & RotaryConvention,
  sizes: SchemeSizes & { d_model: number; d_head: number },
) {
  const takes = (option: string) => options.includes(option);
  const width = (size: 'd_position' | 'd_position_head' | 'd_offset', usual: number) => {
    if (takes(size)) sizes[size] = check.integer(size, given[size] ?? usual, 1);
  };
  const perHead = parts.some(({ columns }) => columns.by === 'heads');
  width('d_position', perHead ? sizes.d_head : sizes.d_model);
  width('d_position_head', sizes.d_head);
  width('d_offset', sizes.d_model);
  if (takes('d_rotary')) {
    const wide = check.integer('d_rotary', given.d_rotary ?? 2 * Math.ceil(sizes.d_head / 4), 2);
    sizes.d_position = evenWidth('The width of a rotary head', wide);
  }
  if (takes('evenHead')) evenWidth('The width of a head', sizes.d_head);
  if (takes('clip')) {
    // A table has at least one row.
    const least = parts.some(({ rows }) => rows.plus > 0) ? 0 : 1;
    sizes.clip = check.integer('clip', given.clip ?? clip, least, 2 ** 20);
  }
  // TUPE's are for both directions.
  const asked = takes('bidirectional') ? given : { ...given, bidirectional: true };
  const buckets = takes('buckets') ? checkedBuckets(asked) : undefined;
  if (buckets) sizes.buckets = buckets.buckets;
  return {
    ...(takes('positionScale') && { positionScale: check.number('positionScale', given.positionScale ?? 1) }),
    ...(buckets && { buckets }),
    ...(takes('rotation') && rotaryConvention(given)),
  };
}
