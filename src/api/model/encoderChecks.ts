// Checks of what an encoder is given beside its maps and norms.
import * as check from '../check.js';
import { type DecomposeInput, grouped } from '../scores/decompose.js';
import type { Floats } from '../table.js';
import { type LayerRotary, type StateMeans, type Way, ways } from './encoderTypes.js';

export function checkedRotary(given: LayerRotary | undefined, d_head: number) {
  if (given === undefined) return undefined;
  check.object('rotary', given);
  const { frequencies } = given;
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
  return frequencies;
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
