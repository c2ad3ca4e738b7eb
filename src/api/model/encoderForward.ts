// A forward of an encoder: what it is given, and what can be asked of it until the next one.
import type { Heads } from '../../wasm/bound.js';
import * as check from '../check.js';
import { checkedNames, checkedTables, type DecomposeInput, grouped } from '../scores/decompose.js';
import { checkedGauge } from '../scores/gauge.js';
import { fitsScores, type Scores } from '../scores/scores.js';
import { type Floats, type Table, table } from '../table.js';
import {
  type EncoderDecomposeInput,
  type EncoderForward,
  type ForwardInput,
  type ScoreMeans,
  type StateMeans,
  type Way,
  ways,
} from './encoderTypes.js';
import type { HeldEncoder } from './heldEncoder.js';

/** What means over a corpus take of a forward. */
export interface Inside extends Pick<HeldEncoder<Floats>, 'raw' | 'suffix' | 'd'> {
  /** Its encoder's; throws once that has run again. */
  address(): number;
}

export const inside = new WeakMap<object, Inside>();

type Summands<A extends Floats> = Readonly<Record<string, Table<A>>>;

/** What a forward is given, checked and counted. */
function checkedForward<A extends Floats>(
  encoder: HeldEncoder<A>,
  summands: Summands<A>,
  given: ForwardInput<A>,
) {
  const { d, heads, ofQueries, ofKeys, like } = encoder;
  check.object('summands', summands);
  const names = checkedNames(Object.keys(summands));
  const taken = names.find((name) => ['attention', 'mlp'].includes(name));
  if (taken) throw new RangeError(`No summand may be named '${taken}': that is a part of its own.`);
  const { rows: n, data } = checkedTables(summands, names, d);
  check.samePrecision({ precision: like, summands: data });
  if (n === 0) check.refuseCount('summands', 'at least 1 row', 0);
  check.object('input', given);
  const layers = check.integer('layers', given.layers ?? encoder.layers, 0, encoder.layers);
  const trace = check.flag('scores', given.scores ?? true);
  const projections = check.flag('projections', given.projections ?? false);
  check.object('attention', given.attention ?? {});
  const attention = Array<Table | undefined>(layers).fill(undefined);
  for (const [layer, weights] of Object.entries(given.attention ?? {})) {
    const place = check.index('a layer of attention', Number(layer), layers);
    const name = `attention.${layer}`;
    check.floats(name, weights, heads * n * n);
    check.samePrecision({ precision: like, [name]: weights });
    attention[place] = table(weights, heads * n, n);
  }
  const cells = layers * n;
  const kept =
    (trace ? cells * (2 * heads * n + 4 * d) : cells * d) + (projections ? cells * (ofQueries + ofKeys) : 0);
  // A traced run also keeps the parts that were asked for last.
  const parts = trace && layers > 0 ? (names.length + 3) * n * d : 0;
  const within = 5 * d + Math.max(2 * ofQueries + 3 * ofKeys, encoder.widest) + 2 * n;
  const bytes = (kept + parts + n * within + names.length * n * d) * like.BYTES_PER_ELEMENT;
  return { names, n, bytes, asked: { layers, trace, projections, attention } };
}

/** A forward that is under way. */
export interface Begun<A extends Floats> {
  /** Goes on for so many multiplications; undefined until it is through. */
  begin(multiplications: number): A | undefined;
  /** What came of it, given the states' means over tokens. */
  end(pooled: A): EncoderForward<A>;
}

/** Checks what a forward is given, and makes room for it. */
export function begunForward<A extends Floats>(
  encoder: HeldEncoder<A>,
  summands: Summands<A>,
  given: ForwardInput<A> = {},
): Begun<A> {
  const address = encoder.address();
  const { names, n, bytes, asked } = checkedForward(encoder, summands, given);
  encoder.holdRun(`A forward of ${n} tokens through ${asked.layers} layers`, bytes);
  return {
    begin(multiplications) {
      encoder.newest = undefined;
      const tables = names.map((name) => summands[name] as Table<A>);
      return encoder.raw[`runEncoder${encoder.suffix}`](address, tables, asked, multiplications) as
        | A
        | undefined;
    },
    end: (pooled) => forwardOf(encoder, { names, n, asked, pooled }),
  };
}

interface Run<A extends Floats> {
  /** Of the summands. */
  names: readonly string[];
  /** Tokens. */
  n: number;
  asked: ReturnType<typeof checkedForward<A>>['asked'];
  /** [layers + 1, d] */
  pooled: A;
}

function forwardOf<A extends Floats>(encoder: HeldEncoder<A>, run: Run<A>): EncoderForward<A> {
  const { raw, suffix, d, heads, causal, ofQueries, ofKeys, like } = encoder;
  const { names, n, asked, pooled } = run;
  const { layers } = asked;
  const here = () => {
    const now = encoder.address();
    if (encoder.newest !== found)
      throw new Error('The encoder has run again since; take what is wanted of a forward before the next.');
    return now;
  };
  const traced = () => {
    const now = here();
    if (!asked.trace) throw new Error('This forward kept no scores; run it with scores: true.');
    return now;
  };
  const scoresOf = (layer: number, only: readonly number[] | undefined, attention: boolean): A => {
    const now = traced();
    check.index('layer', layer, layers);
    const chosen = check.chosenHeads(only, heads);
    return raw[`encoderScores${suffix}`](now, layer, attention, chosen) as A;
  };
  const stateAt = (now: number, count: number) => table(raw[`encoderState${suffix}`](now, count) as A, n, d);
  const found: EncoderForward<A> = {
    n,
    layers,
    summands: names,
    embeddings: table(pooled, layers + 1, d),
    embedding: pooled.subarray(layers * d) as A,
    state: (count) => stateAt(here(), check.integer('layers', count, 0, layers)),
    last: () => stateAt(here(), -1),
    logits: (layer, only) => scoresOf(layer, only, false),
    attention: (layer, only) => scoresOf(layer, only, true),
    decompose(wanted) {
      const now = traced();
      // Weights that were given are no softmax of the scores, so nothing would add up.
      if (asked.attention.some((one) => one !== undefined))
        throw new Error(
          'The scores of a forward with attention are not those of its summands; run it without.',
        );
      check.object('input', wanted);
      const layer = check.index('layer', wanted.layer, layers);
      const only = check.chosenHeads(wanted.only, heads);
      const { way, groups } = checkedParts(names, wanted);
      const parts = groups.names;
      if (ways[way] === 'mechanism') {
        const means = mechanismMeans(encoder, wanted, n);
        const apart = Array.from({ length: Math.min(n, means.query.first) }, (_, row) => row);
        // Terms are formed in double, from copies of queries, keys and their means.
        fitsScores(n, parts.length, only.length, 2 * Math.max(d, ofQueries), like.BYTES_PER_ELEMENT);
        check.fits(`${n} tokens by mechanism`, 8 * (24 * n * n + 8 * n * (ofQueries + ofKeys)));
        const call = [now, layer, means, apart, groups.of, parts.length, only] as const;
        const result = raw[`mechanism${suffix}`](...call) as Heads<A>;
        return { n, heads: only, parts, gauge: 'canonical', apart, causal, ...result };
      }
      const byMeans = ways[way] === 'mean';
      const means = byMeans ? checkedMeans(wanted.means as StateMeans<A>, n, d, like) : undefined;
      const gauge = checkedGauge(wanted, n);
      fitsScores(n, groups.of.length, only.length, 2 * Math.max(d, ofQueries), like.BYTES_PER_ELEMENT);
      const call = [now, layer, way, means, gauge, groups.of, parts.length, only] as const;
      const result = raw[`decomposeEncoder${suffix}`](...call) as Heads<A>;
      return { n, parts, heads: only, gauge: gauge.name, apart: gauge.apart, causal, ...result } as Scores<A>;
    },
  };
  encoder.newest = found;
  inside.set(found, { raw, suffix, d, address: here });
  return found;
}

/** The means of queries and keys, which are the gauge of the way by mechanism and say which rows stand apart. */
function mechanismMeans<A extends Floats>(
  { ofQueries, ofKeys, like }: HeldEncoder<A>,
  wanted: EncoderDecomposeInput<A>,
  n: number,
) {
  if ((wanted.gauge ?? 'canonical') !== 'canonical' || wanted.apart !== undefined)
    throw new RangeError(
      "The way 'mechanism' takes its gauge and the rows that stand apart from its means; leave out gauge and apart.",
    );
  check.object('means', wanted.means);
  const { query, key } = wanted.means as ScoreMeans<A>;
  const means = {
    query: checkedMeans(query, n, ofQueries, like, 'means.query'),
    key: checkedMeans(key, n, ofKeys, like, 'means.key'),
  };
  if (means.query.first !== means.key.first)
    check.refuse('means.key.first', `${means.query.first}, as means.query.first is`, means.key.first);
  return means;
}

function checkedMeans<A extends Floats>(
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
