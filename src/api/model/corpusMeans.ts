// The mean decomposition of a model’s states over a corpus: windows of equal length, run through all layers.
import * as check from '../check.js';
import { held } from '../handle.js';
import type { PoolableScores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import { type Table, table } from '../table.js';
import { type Inside, inside } from './forwardPass.js';
import type { Sentence } from './sentences.js';
import type { ForwardPass, PositionFindings, ScoreMeans, StateMeans } from './transformerStack.js';

/** The mean decomposition of every state over a corpus. */
export interface CorpusMeans {
  /**
   * How many windows: 30 pieces, cut every 7 from all sentences joined, between what every sentence begins and
   * ends with.
   */
  readonly windows: number;
  /** [layers + 1], one for the state after each number of layers. */
  readonly states: readonly PositionFindings[];
  /**
   * [layers, heads], the share of position → position in the variation of a head’s scores. Canonical, by
   * these means, pooled over 32 of the sentences that are no longer than they reach, or all where there are
   * fewer; NaN where there is none.
   */
  readonly heads: Table<Float64Array>;
  /** How many sentences `heads` is pooled over. */
  readonly sentencesOfHeads: number;
  /**
   * [layers], of each layer’s queries and keys, if asked for. In the first layer of a model that adds no positions, no
   * place differs from another by definition.
   */
  readonly scores?: readonly ScoreMeans[];
}

/** A corpus cut into windows. */
export interface Corpus {
  /** Rows of a window that have a position: its pieces. */
  readonly positions: number;
  /** How many rows come before them. */
  readonly first: number;
  /** Each window, as a sentence of its own. */
  readonly windows: readonly Sentence[];
  /** The sentences that the heads' shares are taken from. */
  readonly chosen: readonly Sentence[];
}

/** A model, as meansOver() needs it. */
export interface CorpusModel {
  /** The module's own. */
  poolShares: SmallSuperpose['poolShares'];
  /** Heads of a layer, from 1 up. */
  heads: number;
  /** Layers of the whole model, from 1 up. */
  layers: number;
  /** Rows whose token the model fixes. */
  excludedRows: readonly number[];
  /** Widths of queries and keys, if their means are gathered too. */
  scores?: Readonly<Record<'query' | 'key', number>> | undefined;
  /** A run through all layers, which lets others run between two of them; a window needs no scores. */
  run(sentence: Sentence, isWindow: boolean): Promise<ForwardPass>;
  /** Ends the run between two windows. */
  signal?: AbortSignal | undefined;
  /** Called with the fraction of the windows done, from 0 to 1. */
  done?: ((fraction: number) => void) | undefined;
}

const stride = 7;
const sentencesForHeads = 32;

/**
 * Cuts sentences, each the ids of its tokens, into windows of so many pieces. All begin and end with the same numbers of
 * tokens.
 */
export function corpusOf(
  cut: readonly (readonly number[])[],
  { positions, before, after }: Readonly<Record<'positions' | 'before' | 'after', number>>,
): Corpus {
  const pieces = cut.flatMap((ids) => ids.slice(before, ids.length - after));
  const [one] = cut;
  const count = Math.floor((pieces.length - positions) / stride) + 1;
  if (!one || count < 4) {
    throw new RangeError(
      `The sentences must have at least ${positions + 3 * stride} pieces, four windows; they have ${pieces.length}.`,
    );
  }
  const sentence = (ids: readonly number[]): Sentence => ({ ids, tokens: ids.map(String), dropped: 0 });
  return {
    positions,
    first: before,
    windows: Array.from({ length: count }, (_, place) =>
      sentence([
        ...one.slice(0, before),
        ...pieces.slice(place * stride, place * stride + positions),
        ...one.slice(one.length - after),
      ]),
    ),
    chosen: chosenOf(cut.filter((ids) => ids.length <= before + positions)).map(sentence),
  };
}

/** As many as the heads’ shares are taken from, from all over the list. */
function chosenOf<One>(all: readonly One[]): One[] {
  const every = Math.max(1, all.length / sentencesForHeads);
  return all.filter((_, place) => Math.floor(place / every) !== Math.floor((place - 1) / every));
}

/** Means over windows of equal length, state by state, in the module that runs them. */
export function gathering(
  { raw, d }: Inside,
  { positions, first }: Pick<Corpus, 'positions' | 'first'>,
  { layers, scores: widths }: Pick<CorpusModel, 'layers' | 'scores'>,
) {
  check.integer('positions', positions, 2);
  const { query, key } = widths ?? { query: 0, key: 0 };
  const bytes = ((layers + 1) * (2 * positions + d + 2) * d + 2 * layers * positions * (query + key)) * 8;
  check.fits(`Means of ${layers + 1} states of ${positions} positions`, bytes);
  const { address, handle } = held(
    raw,
    'set of means',
    bytes,
    () => raw.positionMeans(layers + 1, positions, d, query, key),
    (own) => raw.deletePositionMeans(own),
  );
  const found = (kind: 'states' | 'queries' | 'keys', layer: number, width: number): PositionFindings => {
    const { position, ...others } = raw.positionFindings(address(), kind, layer);
    // Queries or keys that overflow leave no state behind them finite.
    if (kind === 'states' && !others.mean.every(Number.isFinite))
      throw new RangeError(
        `After ${check.counted(layer, 'layer')} the states overflow float32, in which a model runs; they have no means.`,
      );
    return { ...others, position: table(position, positions, width), first };
  };
  const scoresAt = (kind: 'queries' | 'keys', layer: number, width: number, bare: boolean): StateMeans => {
    const { mean, position } = found(kind, layer, width);
    const places = bare ? table(new Float64Array(position.data.length), positions, width) : position;
    return { mean, position: places, first };
  };
  return {
    /** The rows of each state from `first` on. */
    add: ({ address: stack }: Inside) => raw.addToPositionMeans(address(), stack(), first),
    states: () => Array.from({ length: layers + 1 }, (_, behind) => found('states', behind, d)),
    /** Where nothing is added to tokens, no place differs from another in the first layer. */
    scores: (placed: boolean): ScoreMeans[] =>
      Array.from({ length: layers }, (_, layer) => ({
        query: scoresAt('queries', layer, query, layer === 0 && !placed),
        key: scoresAt('keys', layer, key, layer === 0 && !placed),
      })),
    delete: handle.delete,
  };
}

export async function meansOver(corpus: Corpus, model: CorpusModel): Promise<CorpusMeans> {
  const { windows, chosen } = corpus;
  const { poolShares, heads, layers, excludedRows, run, signal, done } = model;
  const steps = windows.length + chosen.length;
  let step = 0;
  const stepped = () => {
    signal?.throwIfAborted();
    done?.(++step / steps);
  };
  let means: ReturnType<typeof gathering> | undefined;
  let placed = false;
  try {
    for (const window of windows) {
      const forward = await run(window, true);
      const own = inside.get(forward) as Inside;
      means ??= gathering(own, corpus, model);
      means.add(own);
      placed ||= forward.summands.includes('position');
      stepped();
    }
    const states = means?.states() ?? [];
    const scores = Array.from({ length: layers }, (): PoolableScores[] => []);
    for (const sentence of chosen) {
      const forward = await run(sentence, false);
      for (const [layer, found] of scores.entries()) {
        const { heads, parts, gauge, covariances, variances } = forward.decompose({
          layer,
          way: 'mean',
          gauge: 'canonical',
          excludedRows,
          groups: { position: ['position'], rest: ['content', 'constant'] },
          means: meansAt({ states }, layer),
        });
        found.push({ heads, parts, gauge, covariances, variances });
      }
      stepped();
    }
    const shares = new Float64Array(layers * heads).fill(Number.NaN);
    for (const [layer, found] of scores.entries()) {
      const [one] = found;
      if (!one) continue;
      // Group 0 is position → position, group 1 all other terms.
      const ofPosition = poolShares(
        found,
        Array.from({ length: one.parts.length ** 2 }, (_, term) => Math.min(term, 1)),
      ).heads;
      for (let head = 0; head < heads; head++) shares[layer * heads + head] = ofPosition[2 * head] as number;
    }
    return {
      windows: windows.length,
      states,
      heads: table(shares, layers, heads),
      sentencesOfHeads: chosen.length,
      ...(model.scores && means && { scores: means.scores(placed) }),
    };
  } finally {
    means?.delete();
  }
}

function atLayer<T>(name: string, list: readonly T[], layer: number): T {
  if (!Array.isArray(list)) check.refuse(name, 'an array, as corpusMeans() gives it', list, false);
  return list[check.index('layer', layer, list.length)] as T;
}

/** The means of the state that a layer reads. */
export const meansAt = ({ states }: Pick<CorpusMeans, 'states'>, layer: number): StateMeans =>
  atLayer('means.states', states, layer);

/** Those of its queries and keys. */
export function scoreMeansAt({ scores }: Pick<CorpusMeans, 'scores'>, layer: number): ScoreMeans {
  if (!scores) throw new RangeError('means has none of queries and keys; gather them with scores: true.');
  return atLayer('means.scores', scores, layer);
}
