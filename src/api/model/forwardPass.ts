// A forward of a transformer stack: what it is given, and what can be asked of it until the next one.
import * as check from '../check.js';
import { checkedNames, checkedTables, type DecomposeInput, grouped } from '../scores/decompose.js';
import { checkedGauge } from '../scores/gauge.js';
import { fitsScores } from '../scores/scores.js';
import { type Table, table } from '../table.js';
import type { ResidentStack } from './residentStack.js';
import {
  decomposeNames,
  type ForwardInput,
  type ForwardPass,
  forwardNames,
  type PositionFindings,
  type ScoreMeans,
  type StackDecomposeInput,
  type StateMeans,
  ways,
} from './transformerStackTypes.js';
import { breath } from './watch.js';

/** How many multiplications a forward goes on for before it looks at its signal: ten milliseconds or so. */
const stepLength = 2 ** 28;

/** What means over a corpus take of a forward. */
export interface Inside extends Pick<ResidentStack, 'raw' | 'd'> {
  /** Its stack's; throws once that has run again. */
  address(): number;
}

export const inside = new WeakMap<object, Inside>();

type Summands = Readonly<Record<string, Table>>;

/** What a forward is given, checked and counted. */
function checkedForward(stack: ResidentStack, summands: Summands, given: ForwardInput) {
  const { d, heads, ofQueries, ofKeys } = stack;
  check.object('summands', summands);
  const names = checkedNames(Object.keys(summands));
  const taken = names.find((name) => ['attention', 'mlp'].includes(name));
  if (taken) throw new RangeError(`No summand may be named '${taken}': that is a part of its own.`);
  const { rows: n } = checkedTables(summands, names, d);
  for (const name of names) check.singles(`summands.${name}.data`, summands[name]?.data);
  if (n === 0) check.refuseCount('summands', 'at least 1 row', 0);
  check.knownOptions('input', given, forwardNames);
  const layers = check.integer('layers', given.layers ?? stack.layers, 0, stack.layers);
  const trace = check.flag('scores', given.scores ?? true);
  const projections = check.flag('projections', given.projections ?? false);
  check.object('attention', given.attention ?? {});
  const attention = Array<Table>(layers).fill(table(new Float32Array(), 0, n));
  for (const [layer, weights] of Object.entries(given.attention ?? {})) {
    const place = check.index('a layer of attention', Number(layer), layers);
    const name = `attention.${layer}`;
    check.floats(name, weights, heads * n * n);
    check.singles(name, weights);
    attention[place] = table(weights, heads * n, n);
  }
  const cells = layers * n;
  const kept =
    (trace ? cells * (2 * heads * n + 4 * d) : cells * d) + (projections ? cells * (ofQueries + ofKeys) : 0);
  // A traced run also keeps the parts that were asked for last.
  const parts = trace && layers > 0 ? (names.length + 3) * n * d : 0;
  const within = 5 * d + Math.max(2 * ofQueries + 3 * ofKeys, stack.widest) + 2 * n;
  const bytes = (kept + parts + n * within + names.length * n * d) * 4;
  const replaced = Object.keys(given.attention ?? {}).length > 0;
  check.waiting(given.signal, undefined);
  return { names, n, bytes, replaced, asked: { layers, trace, projections, attention }, isThrough: false };
}

type Run = ReturnType<typeof checkedForward>;

/** The stack's address, while this is its last forward. */
function addressFor(stack: ResidentStack, run: Run): number {
  const address = stack.address();
  if (stack.newest !== run)
    throw new Error(
      'The transformer stack has run again since this forward pass. Read what you need from a pass before the next one.',
    );
  return address;
}

/** A forward: what it is given is checked, it is run step by step, and can be asked until the next one. */
export async function forwarded(
  stack: ResidentStack,
  summands: Summands,
  given: ForwardInput = {},
): Promise<ForwardPass> {
  const { raw } = stack;
  const address = stack.address();
  const run = checkedForward(stack, summands, given);
  const { names, n, asked } = run;
  stack.holdRun(`A forward of ${n} tokens through ${asked.layers} layers`, run.bytes);
  stack.newest = run;
  try {
    const tables = names.map((name) => summands[name] as Table);
    let pooled = raw.runEncoder(address, tables, asked, stepLength);
    while (pooled.length === 0) {
      await breath();
      given.signal?.throwIfAborted();
      pooled = raw.stepEncoder(addressFor(stack, run), stepLength);
    }
    run.isThrough = true;
    return forwardOf(stack, run, pooled);
  } catch (error) {
    if (stack.newest === run) stack.dropRun();
    throw error;
  }
}

/** What can be asked of a forward, given the states' means over tokens, [layers + 1, d]. */
function forwardOf(stack: ResidentStack, run: Run, pooled: Float64Array): ForwardPass {
  const { raw, d, heads, causal, ofQueries, ofKeys } = stack;
  const { names, n, asked } = run;
  const { layers } = asked;
  const here = () => addressFor(stack, run);
  const traced = () => {
    const now = here();
    if (!asked.trace) throw new Error('This forward kept no scores; run it with scores: true.');
    return now;
  };
  const scoresOf = (layer: number, only: readonly number[] | undefined, attention: boolean) => {
    const now = traced();
    check.index('layer', layer, layers);
    return raw.encoderScores(now, layer, attention, check.chosenHeads(only, heads));
  };
  const stateAt = (now: number, count: number) => table(raw.encoderState(now, count), n, d);
  const found: ForwardPass = {
    n,
    layers,
    summands: names,
    embeddings: table(pooled, layers + 1, d),
    embedding: pooled.subarray(layers * d),
    state: (count) => stateAt(here(), check.integer('layers', count, 0, layers)),
    last: () => stateAt(here(), -1),
    logits: (layer, only) => scoresOf(layer, only, false),
    attention: (layer, only) => scoresOf(layer, only, true),
    decompose(wanted) {
      const now = traced();
      // Weights that were given are no softmax of the scores, so nothing would add up.
      if (run.replaced)
        throw new Error(
          'The scores of a forward with attention are not those of its summands; run it without.',
        );
      check.knownOptions('input', wanted, decomposeNames);
      const layer = check.index('layer', wanted.layer, layers);
      const only = check.chosenHeads(wanted.only, heads);
      const { way, groups } = checkedParts(names, wanted);
      const parts = groups.names;
      if (way === 'mechanism') {
        const means = mechanismMeans(stack, wanted, n);
        const excludedRows = Array.from({ length: Math.min(n, means.query.first) }, (_, row) => row);
        // Terms are formed in double, from copies of queries, keys and their means.
        fitsScores(n, parts.length, only.length, 2 * Math.max(d, ofQueries));
        check.fits(`${n} tokens by mechanism`, 8 * (24 * n * n + 8 * n * (ofQueries + ofKeys)));
        const result = raw.mechanism(now, layer, means, excludedRows, groups.of, parts.length, only);
        return { n, heads: only, parts, gauge: 'canonical', excludedRows, causal, ...result };
      }
      const byMeans = way === 'mean';
      const means = byMeans ? checkedMeans(wanted.means as StateMeans, n, d) : {};
      const gauge = checkedGauge(wanted, n);
      fitsScores(n, groups.of.length, only.length, 2 * Math.max(d, ofQueries));
      const result = raw.decomposeEncoder(now, layer, way, means, gauge, groups.of, parts.length, only);
      const { excludedRows } = gauge;
      return { n, parts, heads: only, gauge: gauge.kind, excludedRows, causal, ...result };
    },
  };
  inside.set(found, { raw, d, address: here });
  return found;
}

/** The means of queries and keys, which are the gauge of the way by mechanism and say which rows are excluded. */
function mechanismMeans({ ofQueries, ofKeys }: ResidentStack, wanted: StackDecomposeInput, n: number) {
  if ((wanted.gauge ?? 'canonical') !== 'canonical' || wanted.excludedRows !== undefined)
    throw new RangeError(
      "The way 'mechanism' takes its gauge and excluded rows from its means; leave out gauge and excludedRows.",
    );
  const both = wanted.means as ScoreMeans;
  check.knownOptions('means', both, { query: true, key: true });
  const { query, key } = both;
  const means = {
    query: checkedMeans(query, n, ofQueries, 'means.query'),
    key: checkedMeans(key, n, ofKeys, 'means.key'),
  };
  if (means.query.first !== means.key.first)
    check.refuse('means.key.first', `${means.query.first}, as means.query.first is`, means.key.first);
  return means;
}

function checkedMeans(given: StateMeans | undefined, n: number, width: number, name = 'means') {
  // What was found over a corpus has more than these means.
  check.knownOptions(name, given as PositionFindings, {
    mean: true,
    position: true,
    first: true,
    positionEnergy: true,
    participationRatio: true,
    overlap: true,
    cosineWithFirst: true,
  });
  const { mean, position } = given as StateMeans;
  const first = check.integer(`${name}.first`, given?.first ?? 1, 0);
  check.floats(`${name}.mean`, mean, width);
  check.table(`${name}.position`, position, { columns: width });
  check.singles(`${name}.mean`, mean);
  check.singles(`${name}.position.data`, position.data);
  if (position.rows < n - first)
    check.refuseCount(`${name}.position`, `at least ${n - first} rows`, position.rows);
  return { mean, position, first };
}

/** The way of a question about a layer that reads these summands, and its groups. */
export function checkedParts(
  summands: readonly string[],
  { way: named, groups }: { way?: unknown; groups?: DecomposeInput['groups'] },
) {
  const way = check.oneOf('way', named ?? 'direct', ways);
  const written = [...summands, 'attention', 'mlp', 'constant'];
  const parts = {
    mean: ['position', 'content', 'constant'],
    mechanism: ['token', 'position', 'constant', 'offset'],
  };
  return { way, groups: grouped({ direct: written, streams: written, ...parts }[way], groups) };
}
