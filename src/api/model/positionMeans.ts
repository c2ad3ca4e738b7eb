// How much of a state depends on the position alone, over a corpus of windows.
import * as check from '../check.js';
import { held } from '../handle.js';
import type { RawModule } from '../module.js';
import { table } from '../table.js';
import type { PositionMeans, PositionMeansInput } from './encoderTypes.js';

/** What positionMeans() needs of each forward, and the module that holds it. */
export const inside = new WeakMap<
  object,
  {
    raw: RawModule;
    of: () => {
      suffix: 'F32' | 'F64';
      address: number;
      n: number;
      d: number;
      projected: Readonly<Record<'query' | 'key', number>> | undefined;
    };
  }
>();

export function positionMeans(raw: RawModule, input: PositionMeansInput): PositionMeans {
  check.object('input', input);
  const positions = check.integer('positions', input.positions, 2);
  const first = check.integer('first', input.first ?? 1, 0);
  const d = check.integer('d_model', input.d_model, 1);
  const layers = check.integer('layers', input.layers, 0);
  const { scores } = input;
  if (scores !== undefined) check.object('scores', scores);
  const queries = scores ? check.integer('scores.query', scores.query, 1) : 0;
  const keys = scores ? check.integer('scores.key', scores.key, 1) : 0;
  const bytes = ((layers + 1) * (2 * positions + d + 2) * d + layers * positions * (queries + keys)) * 8;
  check.fits(`Means of ${layers + 1} states of ${positions} positions`, bytes);
  const mine = held(
    raw,
    'set of means',
    bytes,
    () => raw.positionMeans(layers + 1, positions, d, queries, keys),
    (address) => raw.deletePositionMeans(address),
  );
  let windows = 0;
  return {
    get windows() {
      return windows;
    },
    add(forward) {
      const means = mine.address();
      const found = typeof forward === 'object' && forward !== null ? inside.get(forward) : undefined;
      if (!found) return check.refuse('forward', "an encoder's forward", forward, false);
      // Addresses mean nothing in another module's memory.
      if (found.raw !== raw)
        throw new RangeError(
          'forward is of another module: an encoder and the means of its states must come of the same load().',
        );
      const { suffix, address: encoder, n, d: width, projected } = found.of();
      if (width !== d) check.refuseCount('forward', `states of ${d} channels`, width);
      if (n < first + positions) check.refuseCount('forward', `at least ${first + positions} rows`, n);
      if (forward.layers < layers) check.refuseCount('forward', `at least ${layers} layers`, forward.layers);
      if (scores && !projected)
        throw new RangeError('forward kept no queries and keys; run it with projections: true.');
      if (scores && projected && (projected.query !== queries || projected.key !== keys)) {
        throw new RangeError(
          `forward must have queries of ${queries} and keys of ${keys} channels; it has ${projected.query} and ${projected.key}.`,
        );
      }
      raw[`addToPositionMeans${suffix}`](means, encoder, first);
      windows += 1;
    },
    findings(layer) {
      const means = mine.address();
      check.integer('layers', layer, 0, layers);
      if (windows < 4) check.refuseCount('The means', 'at least 4 windows', windows);
      const { position, ...found } = raw.positionFindings(means, layer);
      return { ...found, position: table(position, positions, d), first };
    },
    scores(layer) {
      const means = mine.address();
      if (!scores) throw new RangeError('These means are of states alone; make them with scores.');
      check.index('layer', layer, layers);
      if (windows < 4) check.refuseCount('The means', 'at least 4 windows', windows);
      const of = (isKey: boolean, width: number) => {
        const { mean, position } = raw.projectionMeans(means, layer, isKey);
        return { mean, position: table<Float64Array>(position, positions, width), first };
      };
      return { query: of(false, queries), key: of(true, keys) };
    },
    ...mine.handle,
  };
}
