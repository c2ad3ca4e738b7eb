// Checks of what an encoder is given beside its maps and norms.
import * as check from '../check.js';
import {
  type checkedNormalization,
  type DecomposeInput,
  grouped,
  type Normalization,
} from '../scores/decompose.js';
import type { Floats } from '../table.js';
import { type DistanceTable, type LayerRotary, type StateMeans, type Way, ways } from './encoderTypes.js';

export function checkedDistances<A extends Floats>(
  given: DistanceTable | undefined,
  d: number,
  like: A,
  normOf: (
    name: string,
    given: Normalization | undefined,
    columns: number,
  ) => ReturnType<typeof checkedNormalization>,
) {
  if (given === undefined) return undefined;
  check.object('distances', given);
  const { rows, norm, buckets, furthest } = given;
  check.table('distances.rows', rows, { columns: d });
  check.samePrecision({ precision: like, 'distances.rows.data': rows.data });
  if (rows.rows < 2 || rows.rows % 2 !== 0)
    check.refuseCount('distances.rows', 'an even number of rows, from 2', rows.rows);
  if (buckets === undefined)
    return { rows, norm: normOf('distances.norm', norm, d), buckets: 0, furthest: 0 };
  const half = check.integer('distances.buckets', buckets, 4) / 2;
  if (!Number.isInteger(half)) check.refuse('distances.buckets', 'an even number', buckets);
  return {
    rows,
    norm: normOf('distances.norm', norm, d),
    buckets,
    furthest: check.integer('distances.furthest', furthest, half + 2),
  };
}

export function checkedRotary(given: LayerRotary | undefined, d_head: number) {
  if (given === undefined) return { frequencies: undefined, gain: 1 };
  check.object('rotary', given);
  const { frequencies, gain = 1 } = given;
  if (!(frequencies instanceof Float64Array))
    check.refuse('rotary.frequencies', 'a Float64Array', frequencies, false);
  check.floats('rotary.frequencies', frequencies);
  const most = Math.floor(d_head / 2);
  if (frequencies.length < 1 || frequencies.length > most) {
    const pairs =
      most === 0
        ? 'no values: a head of 1 channel has no pair'
        : `from 1 to ${most} values, one for each pair of a head’s ${d_head} channels`;
    check.refuseCount('rotary.frequencies', pairs, frequencies.length);
  }
  return { frequencies, gain: check.positive('rotary.gain', gain) };
}

export function checkedMeans<A extends Floats>(
  given: StateMeans<A> | undefined,
  n: number,
  width: number,
  like: A,
  name = 'means',
): Required<StateMeans<A>> {
  check.object(name, given);
  const { mean, position } = given as StateMeans<A>;
  const first = check.integer(`${name}.first`, given?.first ?? 1, 0);
  check.floats(`${name}.mean`, mean, width);
  check.table(`${name}.position`, position, { columns: width });
  check.samePrecision({ precision: like, [`${name}.mean`]: mean, [`${name}.position.data`]: position.data });
  if (position.rows < n - first)
    check.refuseCount(`${name}.position`, `at least ${n - first} rows`, position.rows);
  return { mean, position, first };
}

/** The way of a question about a layer that reads these summands, and its groups. */
export function checkedParts(
  summands: readonly string[],
  { way: named, groups }: { way?: unknown; groups?: DecomposeInput['groups'] },
) {
  const way = check.placeOf('way', named ?? 'direct', ways);
  const written = [...summands, 'attention', 'mlp', 'constant'];
  const parts = {
    mean: ['position', 'content', 'constant'],
    mechanism: ['token', 'position', 'constant', 'offset'],
  };
  return { way, groups: grouped({ direct: written, streams: written, ...parts }[ways[way] as Way], groups) };
}
