// A forward pass of a transformer stack: its checked input, its run in steps, and what can be read from it
// until the next pass.
import * as check from '../check.js';
import { checkedNames, checkedTables, type DecomposeInput, grouped } from '../scores/decompose.js';
import { checkedGauge } from '../scores/gauge.js';
import { fitsScores, type Scores } from '../scores/scores.js';
import { type Table, table } from '../table.js';
import type { ResidentStack } from './residentStack.js';
import { useLayer } from './stackLayer.js';
import {
  decomposeNames,
  type ForwardInput,
  type ForwardPass,
  forwardNames,
  type PositionStatistics,
  type ScoreMeans,
  type StackDecomposeInput,
  type StateMeans,
  ways,
} from './transformerStackTypes.js';
import { breath } from './watch.js';

/**
 * What a step returns when the pass is complete. Until then, it returns the layer that the pass has reached.
 */
const endOfPass = -1;

/** How many multiplications a pass runs between two checks of its signal: about ten milliseconds' worth. */
const stepLength = 2 ** 28;

/** What a model needs of a forward pass beyond its public part. */
export interface PassInternals extends Pick<ResidentStack, 'raw' | 'd'> {
  /** The address of the pass's stack. Throws after the next pass of that stack. */
  address(): number;
  /** Like decompose() of the pass, except that layers that were released are read again. */
  decompose(input: StackDecomposeInput): Promise<Scores>;
}

export const internalsOf = new WeakMap<object, PassInternals>();

type Summands = Readonly<Record<string, Table>>;

/** The summands and options of a forward pass, checked, and the bytes that the pass takes. */
function checkedForward(stack: ResidentStack, summands: Summands, input: ForwardInput) {
  const { d, heads } = stack;
  check.object('summands', summands);
  const names = checkedNames(Object.keys(summands));
  const reserved = names.find((name) => ['attention', 'mlp'].includes(name));
  if (reserved) throw new RangeError(`No summand may be named '${reserved}': that is a part of its own.`);
  const { rows: n } = checkedTables(summands, names, d);
  for (const name of names) check.singles(`summands.${name}.data`, summands[name]?.data);
  if (n === 0) check.refuseCount('summands', 'at least 1 row', 0);
  check.knownOptions('input', input, forwardNames);
  const depth = stack.reader?.layers ?? stack.layers.length;
  const layers = check.integer('layers', input.layers ?? depth, 0, depth);
  const hasMore = layers < depth;
  const trace = check.flag('scores', input.scores ?? true);
  const projections = check.flag('projections', input.projections ?? false);
  check.object('attention', input.attention ?? {});
  const attention = Array<Table>(layers).fill(table(new Float32Array(), 0, n));
  for (const [layer, weights] of Object.entries(input.attention ?? {})) {
    const place = check.index('a layer of attention', Number(layer), layers);
    const name = `attention.${layer}`;
    check.floats(name, weights, heads * n * n);
    check.singles(name, weights);
    attention[place] = table(weights, heads * n, n);
  }
  check.signalAndProgress(input.signal, undefined);

  const { queryChannels, keyChannels } = stack;
  const inner = Math.max(stack.inner, stack.reader?.inner ?? 0);
  const givenAttention = attention.reduce((sum, { data }) => sum + data.length, 0);
  const bytes = stack.raw.forwardBytes(
    n,
    d,
    names.length,
    layers,
    queryChannels,
    keyChannels,
    inner,
    givenAttention,
    trace,
    projections,
  );
  return {
    names,
    n,
    bytes,
    replacesAttention: Object.keys(input.attention ?? {}).length > 0,
    options: { layers, hasMore, trace, projections, attention },
    isDone: false,
  };
}

type Pass = ReturnType<typeof checkedForward>;

/** The stack's address. Throws unless `pass` is its last one. */
function addressFor(stack: ResidentStack, pass: Pass): number {
  const address = stack.address();
  if (stack.lastPass !== pass) {
    throw new Error(
      'The transformer stack has run again since this forward pass. Read what you need from a pass before the next one.',
    );
  }
  return address;
}

/** Runs a forward pass in steps, between which other tasks run and its signal can end it. */
export async function forwarded(
  stack: ResidentStack,
  summands: Summands,
  input: ForwardInput = {},
): Promise<ForwardPass> {
  const { raw } = stack;
  const address = stack.address();
  const pass = checkedForward(stack, summands, input);
  const { names, n, options } = pass;
  stack.layerInUse = undefined;
  stack.reservePass(
    `A forward of ${check.counted(n, 'token')} through ${check.counted(options.layers, 'layer')}`,
    pass.bytes,
  );
  stack.lastPass = pass;
  try {
    const tables = names.map((name) => summands[name] as Table);
    let layer = raw.runForward(address, tables, options, stepLength);
    while (layer !== endOfPass) {
      const isResident = stack.isResident(layer);
      await useLayer(stack, layer);
      if (isResident) await breath();
      input.signal?.throwIfAborted();
      layer = raw.stepForward(addressFor(stack, pass), stepLength);
    }
    // The scores of the last layer can be decomposed for as long as that layer stays in memory.
    stack.layerInUse = options.layers - 1;
    pass.isDone = true;
    return resultOf(stack, pass, raw.forwardEmbeddings(address));
  } catch (error) {
    if (stack.lastPass === pass) stack.dropPass();
    throw error;
  }
}

/** The result of a pass. `embeddings` are the means of its states over tokens, [layers + 1, d]. */
function resultOf(stack: ResidentStack, pass: Pass, embeddings: Float64Array): ForwardPass {
  const { raw, d, heads } = stack;
  const { names, n, options } = pass;
  const { layers } = options;
  const address = () => addressFor(stack, pass);
  const addressWithScores = () => {
    const current = address();
    if (!options.trace) throw new Error('This forward pass kept no scores. Run it with scores: true.');
    return current;
  };
  const scoresOf = (layer: number, only: readonly number[] | undefined, attention: boolean) => {
    const current = addressWithScores();
    check.index('layer', layer, layers);
    return raw.forwardScores(current, layer, attention, check.chosenHeads(only, heads));
  };
  const stateAt = (current: number, count: number) => table(raw.forwardState(current, count), n, d);
  const result: ForwardPass = {
    n,
    layers,
    summands: names,
    embeddings: table(embeddings, layers + 1, d),
    embedding: embeddings.subarray(layers * d),
    state: (count) => stateAt(address(), check.integer('layers', count, 0, layers)),
    last: () => stateAt(address(), -1),
    logits: (layer, only) => scoresOf(layer, only, false),
    attention: (layer, only) => scoresOf(layer, only, true),
    decompose: (input) => decomposition(stack, pass, addressWithScores(), input).compute(),
  };
  internalsOf.set(result, {
    raw,
    d,
    address,
    async decompose(input) {
      const { layers, advance, compute } = decomposition(stack, pass, addressWithScores(), input);
      for (const layer of layers) {
        await useLayer(stack, layer);
        address();
        advance(layer);
      }
      return compute();
    },
  });
  return result;
}

/**
 * Prepares the decomposition of the scores of a layer. `layers` lists the layers whose weights it needs, in
 * order; `advance` is called with each of them, and `compute` returns the result.
 */
function decomposition(stack: ResidentStack, pass: Pass, address: number, input: StackDecomposeInput) {
  const { raw, d, heads, causal, queryChannels, keyChannels } = stack;
  const { n } = pass;
  // Attention weights that replace the softmax are not those of the scores, so terms would not add up.
  if (pass.replacesAttention) {
    throw new Error(
      'The scores of a forward pass with attention weights are not those of its summands. Run it without attention.',
    );
  }
  check.knownOptions('input', input, decomposeNames);
  const layer = check.index('layer', input.layer, pass.options.layers);
  const only = check.chosenHeads(input.only, heads);
  const { way, groups } = checkedParts(pass.names, input);
  const parts = groups.names;
  // For the way `streams`, the layers before it move the parts too.
  const layers = way === 'streams' ? Array.from({ length: layer + 1 }, (_, before) => before) : [layer];
  let advanced = 0;
  /** Checks that the decomposition fits into memory, and that the layers that it needs are there. */
  const prepare = (count: number, more: number) => {
    stack.layerInUse = layer;
    fitsScores(raw, n, count, only.length, 2 * Math.max(d, queryChannels), more);
    const missing = layers.find((needed) => needed >= advanced && !stack.isResident(needed));
    if (missing === undefined) return;
    throw new Error(
      `Layer ${missing} was released after it ran, because not all layers fit into memory. Call decompose() of the model with layer: ${layer}, which reads it again.`,
    );
  };
  if (way === 'mechanism') {
    const means = mechanismMeans(stack, input, n);
    const excludedRows = Array.from({ length: Math.min(n, means.query.first) }, (_, row) => row);
    const compute = () => {
      prepare(parts.length, raw.mechanismBytes(n, queryChannels, keyChannels));
      const scores = raw.mechanism(address, layer, means, excludedRows, groups.of, parts.length, only);
      return { n, heads: only, parts, gauge: 'canonical' as const, excludedRows, causal, ...scores };
    };
    return { layers, advance() {}, compute };
  }
  const means = way === 'mean' ? checkedMeans(input.means as StateMeans, n, d) : {};
  const gauge = checkedGauge(input, n);
  return {
    layers,
    advance(before: number) {
      if (before === layer) return;
      raw.advanceStackParts(address, before + 1, way, gauge);
      advanced = before + 1;
    },
    compute() {
      prepare(groups.of.length, way === 'streams' ? raw.streamsBytes(n, heads) : 0);
      const scores = raw.decomposeStack(address, layer, way, means, gauge, groups.of, parts.length, only);
      const { kind, excludedRows } = gauge;
      return { n, parts, heads: only, gauge: kind, excludedRows, causal, ...scores };
    },
  };
}

/**
 * Checks the means of queries and keys. For the way `mechanism`, they are the gauge and say which rows are
 * excluded.
 */
function mechanismMeans(
  { queryChannels, keyChannels }: ResidentStack,
  input: StackDecomposeInput,
  n: number,
) {
  if ((input.gauge ?? 'canonical') !== 'canonical' || input.excludedRows !== undefined) {
    throw new RangeError(
      "The way 'mechanism' takes its gauge and excluded rows from its means; leave out gauge and excludedRows.",
    );
  }
  const scoreMeans = input.means as ScoreMeans;
  check.knownOptions('means', scoreMeans, { query: true, key: true });
  const means = {
    query: checkedMeans(scoreMeans.query, n, queryChannels, 'means.query'),
    key: checkedMeans(scoreMeans.key, n, keyChannels, 'means.key'),
  };
  if (means.query.first !== means.key.first) {
    check.refuse('means.key.first', `${means.query.first}, as means.query.first is`, means.key.first);
  }
  return means;
}

function checkedMeans(means: StateMeans | undefined, n: number, width: number, name = 'means') {
  // The result of corpusMeans() has more members than these.
  check.knownOptions(name, means as PositionStatistics, {
    mean: true,
    position: true,
    first: true,
    positionEnergy: true,
    participationRatio: true,
    overlap: true,
    cosineWithFirst: true,
  });
  const { mean, position } = means as StateMeans;
  const first = check.integer(`${name}.first`, means?.first ?? 1, 0);
  check.floats(`${name}.mean`, mean, width);
  check.table(`${name}.position`, position, { columns: width });
  check.singles(`${name}.mean`, mean);
  check.singles(`${name}.position.data`, position.data);
  if (position.rows < n - first) {
    check.refuseCount(`${name}.position`, `at least ${n - first} rows`, position.rows);
  }
  return { mean, position, first };
}

/** Checks the way of a decomposition and the groups of its parts, for a pass with these summands. */
export function checkedParts(
  summands: readonly string[],
  { way: chosen, groups }: { way?: unknown; groups?: DecomposeInput['groups'] },
) {
  const way = check.oneOf('way', chosen ?? 'direct', ways);
  const ofStream = [...summands, 'attention', 'mlp', 'constant'];
  const partsOf = {
    direct: ofStream,
    streams: ofStream,
    mean: ['position', 'content', 'constant'],
    mechanism: ['token', 'position', 'constant', 'offset'],
  };
  return { way, groups: grouped(partsOf[way], groups) };
}
