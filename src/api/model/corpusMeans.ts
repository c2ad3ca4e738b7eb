// The mean decomposition of a model's states over a corpus: windows of equal length, run through all layers.
import * as check from '../check.js';
import { makeResident } from '../handle.js';
import type { PoolableScores } from '../scores/scores.js';
import type { SmallSuperpose } from '../smallModule.js';
import { type Table, table } from '../table.js';
import { internalsOf, type PassInternals } from './forwardPass.js';
import type { Sentence } from './sentences.js';
import type { ForwardPass, PositionStatistics, ScoreMeans, StateMeans } from './transformerStack.js';

/** The mean decomposition of every state over a corpus. */
export interface CorpusMeans {
  /**
   * The number of windows. All sentences are joined without their special tokens, and a window begins every
   * 7 tokens.
   */
  readonly windows: number;
  /**
   * [layers + 1], the statistics of the state after 0 layers, 1 layer and so on, up to all that were run.
   */
  readonly states: readonly PositionStatistics[];
  /**
   * [layers, heads], the share of position → position in the variation of a head's scores. It is taken in
   * the canonical gauge with these means, and pooled over 32 of the sentences that are no longer than a
   * window, or over all of those if there are fewer; NaN if there are none.
   */
  readonly heads: Table<Float64Array>;
  /** How many sentences `heads` is pooled over. */
  readonly sentencesOfHeads: number;
  /**
   * The means of the queries and keys of each layer that was run and of the next layer, if they were
   * gathered. In the first layer of a model that adds no positions, the means are by definition the same at
   * all positions.
   */
  readonly scores?: readonly ScoreMeans[];
}

/** A corpus cut into windows. */
export interface Corpus {
  /** How many rows of a window have a position. */
  readonly positions: number;
  /** How many rows of a window come before those. */
  readonly first: number;
  /** Each window, as a sentence of its own. */
  readonly windows: readonly Sentence[];
  /** The sentences over which the shares of heads are pooled. */
  readonly pooledSentences: readonly Sentence[];
}

type ReadPass<T> = (pass: ForwardPass) => T | Promise<T>;

/** A model, as meansOver() needs it. */
export interface CorpusModel {
  /** poolShares() of the module in which the model runs. */
  poolShares: SmallSuperpose['poolShares'];
  /** The number of heads of a layer, from 1 up. */
  heads: number;
  /** How many layers are run. */
  layers: number;
  /** Rows whose token the model fixes. */
  excludedRows: readonly number[];
  /** How many layers' queries and keys are gathered too, and how wide these are; undefined if none are. */
  scores?: Readonly<Record<'layers' | 'query' | 'key', number>> | undefined;
  /**
   * Runs a window through the layers, letting other tasks run in between, and returns what `read` returns
   * for the pass.
   */
  runWindow<T>(window: Sentence, read: ReadPass<T>): Promise<T>;
  /** Does the same for a sentence, and keeps what is needed to decompose its scores. */
  runSentence<T>(sentence: Sentence, read: ReadPass<T>): Promise<T>;
  /** Ends the work between two windows. */
  signal?: AbortSignal | undefined;
  /** Called with the fraction of the windows that are done, from 0 to 1. */
  done?: ((fraction: number) => void) | undefined;
}

/** How many tokens lie between the beginnings of two windows. */
const stride = 7;
/** The largest number of sentences over which the shares of heads are pooled. */
const mostPooled = 32;
/** Even and odd windows are averaged separately, so there must be some of each. */
const leastWindows = 4;

/**
 * Cuts sentences, each the ids of its tokens, into windows of `positions` tokens. All sentences begin with
 * `before` special tokens and end with `after`. Throws RangeError for fewer than four windows.
 */
export function corpusOf(
  sentences: readonly (readonly number[])[],
  { positions, before, after }: Readonly<Record<'positions' | 'before' | 'after', number>>,
): Corpus {
  const tokens = sentences.flatMap((ids) => ids.slice(before, ids.length - after));
  const [first] = sentences;
  const count = Math.floor((tokens.length - positions) / stride) + 1;
  if (!first || count < leastWindows) {
    throw new RangeError(
      `The sentences must have at least ${positions + (leastWindows - 1) * stride} pieces, four windows; they have ${tokens.length}.`,
    );
  }
  const sentenceOf = (ids: readonly number[]): Sentence => ({ ids, tokens: ids.map(String), dropped: 0 });
  const windows = Array.from({ length: count }, (_, place) =>
    sentenceOf([
      ...first.slice(0, before),
      ...tokens.slice(place * stride, place * stride + positions),
      ...first.slice(first.length - after),
    ]),
  );
  const shortSentences = sentences.filter((ids) => ids.length <= before + positions);
  return {
    positions,
    first: before,
    windows,
    pooledSentences: evenlySpaced(shortSentences, mostPooled).map(sentenceOf),
  };
}

/** At most `most` items, evenly spaced over the list. */
function evenlySpaced<Item>(items: readonly Item[], most: number): Item[] {
  const every = Math.max(1, items.length / most);
  return items.filter((_, place) => Math.floor(place / every) !== Math.floor((place - 1) / every));
}

type Rows = 'states' | 'queries' | 'keys';

/** Gathers the means of each state over windows of equal length, in the module's memory. */
export function gatherMeans(
  { raw, d }: PassInternals,
  { positions, first }: Pick<Corpus, 'positions' | 'first'>,
  { layers, scores: gathered }: Pick<CorpusModel, 'layers' | 'scores'>,
) {
  check.integer('positions', positions, 2);
  const { layers: scoreLayers, query, key } = gathered ?? { layers: 0, query: 0, key: 0 };
  const bytes = raw.positionMeansBytes(layers + 1, scoreLayers, positions, d, query, key);
  check.requireMemory(`Means of ${layers + 1} states of ${positions} positions`, bytes);
  const { address, handle } = makeResident(
    raw,
    'set of means',
    bytes,
    () => raw.positionMeans(layers + 1, scoreLayers, positions, d, query, key),
    (at) => raw.deletePositionMeans(at),
  );
  const statistics = (rows: Rows, layer: number, width: number): PositionStatistics => {
    const { position, ...others } = raw.positionStatistics(address(), rows, layer);
    // If queries or keys overflow, so do the states after them.
    if (rows === 'states' && !others.mean.every(Number.isFinite)) {
      throw new RangeError(
        `After ${check.counted(layer, 'layer')} the states overflow float32, in which a model runs; they have no means.`,
      );
    }
    return { ...others, position: table(position, positions, width), first };
  };
  const scoreMeans = (rows: Rows, layer: number, width: number, hasPositions: boolean): StateMeans => {
    const { mean, position } = statistics(rows, layer, width);
    const noPositions = table(new Float64Array(position.data.length), positions, width);
    return { mean, position: hasPositions ? position : noPositions, first };
  };
  return {
    /** Adds the rows of each state of a pass, from row `first` on. */
    add: (pass: PassInternals) => raw.addToPositionMeans(address(), pass.address(), first),
    states: () => Array.from({ length: layers + 1 }, (_, after) => statistics('states', after, d)),
    /** If nothing is added to tokens, the first layer's queries and keys do not depend on the position. */
    scores: (addsPositions: boolean): ScoreMeans[] =>
      Array.from({ length: scoreLayers }, (_, layer) => ({
        query: scoreMeans('queries', layer, query, layer > 0 || addsPositions),
        key: scoreMeans('keys', layer, key, layer > 0 || addsPositions),
      })),
    delete: handle.delete,
  };
}

/** Runs a corpus through a model, and gathers the means of its states and the shares of its heads. */
export async function meansOver(corpus: Corpus, model: CorpusModel): Promise<CorpusMeans> {
  const { windows } = corpus;
  const { layers, runWindow, runSentence, signal, done } = model;
  // Without layers there are no heads whose shares could be pooled.
  const pooledSentences = layers > 0 ? corpus.pooledSentences : [];
  const steps = windows.length + pooledSentences.length;
  let step = 0;
  const endStep = () => {
    signal?.throwIfAborted();
    done?.(++step / steps);
  };
  let means: ReturnType<typeof gatherMeans> | undefined;
  let addsPositions = false;
  try {
    for (const window of windows) {
      await runWindow(window, (forward) => {
        const pass = internalsOf.get(forward) as PassInternals;
        means ??= gatherMeans(pass, corpus, model);
        means.add(pass);
        addsPositions ||= forward.summands.includes('position');
      });
      endStep();
    }
    const states = means?.states() ?? [];
    const scoresOfLayers = Array.from({ length: layers }, (): PoolableScores[] => []);
    for (const sentence of pooledSentences) {
      await runSentence(sentence, async (forward) => {
        for (const [layer, scores] of scoresOfLayers.entries()) {
          scores.push(await poolableScores(forward, layer, states, model.excludedRows));
        }
      });
      endStep();
    }
    return {
      windows: windows.length,
      states,
      heads: positionShares(scoresOfLayers, model),
      sentencesOfHeads: pooledSentences.length,
      ...(model.scores && means && { scores: means.scores(addsPositions) }),
    };
  } finally {
    means?.delete();
  }
}

/** Decomposes a layer's scores by the means of its input, and returns what shares are pooled from. */
async function poolableScores(
  forward: ForwardPass,
  layer: number,
  states: readonly PositionStatistics[],
  excludedRows: readonly number[],
): Promise<PoolableScores> {
  const pass = internalsOf.get(forward) as PassInternals;
  const { heads, parts, gauge, covariances, variances } = await pass.decompose({
    layer,
    way: 'mean',
    gauge: 'canonical',
    excludedRows,
    groups: { position: ['position'], rest: ['content', 'constant'] },
    means: meansAt({ states }, layer),
  });
  return { heads, parts, gauge, covariances, variances };
}

/** [layers, heads], the pooled share of position → position; NaN without sentences. */
function positionShares(
  scoresOfLayers: readonly PoolableScores[][],
  { poolShares, heads, layers }: CorpusModel,
): Table<Float64Array> {
  const shares = new Float64Array(layers * heads).fill(Number.NaN);
  for (const [layer, scores] of scoresOfLayers.entries()) {
    const [first] = scores;
    if (!first) continue;
    // Group 0 is position → position, and group 1 is all other terms.
    const groups = Array.from({ length: first.parts.length ** 2 }, (_, term) => Math.min(term, 1));
    const pooled = poolShares(scores, groups).heads;
    for (let head = 0; head < heads; head++) shares[layer * heads + head] = pooled[2 * head] as number;
  }
  return table(shares, layers, heads);
}

function atLayer<T>(name: string, list: readonly T[], layer: number): T {
  if (!Array.isArray(list)) check.refuse(name, 'an array, as corpusMeans() gives it', list, false);
  return list[check.index('layer', layer, list.length)] as T;
}

/** The means of the state that a layer reads. Throws RangeError, TypeError. */
export const meansAt = ({ states }: Pick<CorpusMeans, 'states'>, layer: number): StateMeans =>
  atLayer('means.states', states, layer);

/** The means of a layer's queries and keys. Throws RangeError, TypeError. */
export function scoreMeansAt({ scores }: Pick<CorpusMeans, 'scores'>, layer: number): ScoreMeans {
  if (!scores) throw new RangeError('means has no means of queries and keys. Gather them with scores: true.');
  return atLayer('means.scores', scores, layer);
}
