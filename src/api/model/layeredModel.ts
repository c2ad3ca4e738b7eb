// A model whose layers run in the whole module: its forward, the scores of any layer, means over a corpus.
import * as check from '../check.js';
import type { Scores } from '../scores/scores.js';
import type { Floats, FloatsOf, Precision } from '../table.js';
import type { Superpose } from '../whole.js';
import type { PositionChange } from './changedPositions.js';
import {
  type Corpus,
  type CorpusMeans,
  type CorpusMeansOptions,
  meansAt,
  meansOver,
  scoreMeansAt,
} from './corpusMeans.js';
import type { Encoder, EncoderDecomposeInput, EncoderForward } from './encoder.js';
import { checkedParts } from './encoderChecks.js';
import type { OwnRows } from './firstLayer.js';
import { type PositionsTaken, positionsTaken, type TakenOptions } from './interventions.js';
import type { OpenDecomposeOptions, OpenForwardOptions } from './openedModel.js';
import type { Resident } from './resident.js';
import type { Sentence } from './sentence.js';
import { stepsOf } from './steps.js';
import { counted } from './watch.js';

export interface LayeredModel {
  /** Both modules. */
  superpose: Pick<Superpose, 'positionMeans' | 'poolShares'>;
  /** Its encoders. */
  resident: Resident;
  /** Channels of a state, from 1 up. */
  d_model: number;
  /** The names of the rows that a sentence sums. */
  summands: readonly string[];
  /** Heads of a layer, from 1 up. */
  heads: number;
  /** Widths of a layer’s queries and keys. */
  projections: Readonly<Record<'query' | 'key', number>>;
  /** Layers of the whole model, from 1 up. */
  layers: number;
  /** Rows whose token the model fixes. */
  apart: readonly number[];
  /**
   * Whether a decomposition runs through all layers that are held, so that another layer's scores need no run of
   * their own. It takes memory.
   */
  ahead: boolean;
  /** The rows that a sentence sums. */
  rows(sentence: Sentence, signal?: AbortSignal): Promise<OwnRows>;
  /** The same after its positions are changed. */
  changed(sentence: Sentence, change: PositionChange): Promise<OwnRows>;
}

type ScoresOptions<P extends Precision> = OpenDecomposeOptions<P> & { layer: number };

export interface LayeredFunctions {
  /** See EncoderForward. */
  forward<P extends Precision = 'float32'>(
    sentence: Sentence,
    options?: OpenForwardOptions<P>,
  ): Promise<EncoderForward<FloatsOf<P>> & { sentence: Sentence }>;
  /** See EncoderForward.decompose(). */
  decompose<P extends Precision = 'float64'>(
    sentence: Sentence,
    options: ScoresOptions<P>,
  ): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }>;
  /** See PositionsTaken. */
  withoutPositions(sentence: Sentence, options?: TakenOptions): Promise<PositionsTaken>;
  /** `cut` reads and cuts the corpus, after the options are checked. */
  corpusMeans(
    cut: () => Corpus | Promise<Corpus>,
    options: Omit<CorpusMeansOptions, 'sentences'>,
  ): Promise<CorpusMeans>;
}

/** Checks what is asked of a layer before layers are read, which may take long. */
function checkedScores<P extends Precision>(model: LayeredModel, input: ScoresOptions<P>) {
  const kind = check.precision(input.precision ?? 'float64') as P;
  const layer = check.integer('layer', input.layer, 0, model.layers - 1);
  check.chosenHeads(input.only, model.heads);
  checkedParts(input.summands ? Object.keys(input.summands) : model.summands, input);
  const { way, means } = input;
  if (way === 'mean' || way === 'mechanism') check.object('means', means);
  return {
    kind,
    layer,
    means: means && (way === 'mechanism' ? scoreMeansAt : meansAt)(means, layer, kind),
  };
}

/** Rows in the precision of the encoder that sums them. */
function rowsIn<P extends Precision>(rows: OwnRows<Floats>, precision: P): OwnRows<FloatsOf<P>> {
  check.object('summands', rows);
  const own = Object.entries(rows).map(([name, one]) => {
    const round = precision === 'float32' && one?.data instanceof Float64Array;
    return [name, round ? { ...one, data: new Float32Array(one.data) } : one];
  });
  return Object.fromEntries(own);
}

/** The forward of an encoder's last decomposition, and of which tokens it is. */
type Decomposed = WeakMap<object, { key: string; run: EncoderForward }>;

/** The forward whose scores are taken apart; the last one, if it is of the same tokens. */
async function through<P extends Precision>(
  model: LayeredModel,
  decomposed: Decomposed,
  encoder: Encoder<FloatsOf<P>>,
  { kind, layer, sentence }: { kind: P; layer: number; sentence: Sentence },
  { summands, signal }: { summands: OwnRows<Floats> | undefined; signal: AbortSignal | undefined },
) {
  const key = String(sentence.ids);
  const last = decomposed.get(encoder);
  if (!summands && last?.key === key && last.run.layers > layer) return last.run;
  const rows = rowsIn(summands ?? (await model.rows(sentence, signal)), kind);
  decomposed.delete(encoder);
  const layers = model.ahead ? encoder.layers : layer + 1;
  const found = await stepsOf(encoder).forward(rows, { layers }, signal);
  if (!summands) decomposed.set(encoder, { key, run: found as unknown as EncoderForward });
  return found;
}

export function layeredModel(model: LayeredModel): LayeredFunctions {
  const { superpose, resident, d_model, heads, layers: all, apart: fixed } = model;
  const decomposed: Decomposed = new WeakMap();

  const forward: LayeredFunctions['forward'] = async <P extends Precision = 'float32'>(
    sentence: Sentence,
    { precision, summands, signal, progress, ...input }: OpenForwardOptions<P> = {},
  ) => {
    const kind = check.precision(precision ?? 'float32') as P;
    const layers = check.integer('layers', input.layers ?? all, 0, all);
    return resident.use(kind, layers, counted({ signal, progress }), async (encoder) => {
      const rows = rowsIn(summands ?? (await model.rows(sentence, signal)), kind);
      decomposed.delete(encoder);
      const found = await stepsOf(encoder).forward(rows, { ...input, layers }, signal);
      return Object.assign(found, { sentence });
    });
  };

  return {
    forward,
    async decompose<P extends Precision = 'float64'>(sentence: Sentence, options: ScoresOptions<P>) {
      const { kind, layer, means: layerMeans } = checkedScores(model, options);
      const { precision, means, signal, progress, gauge, apart, summands, ...input } = options;
      return resident.use(kind, layer + 1, counted({ signal, progress }), async (encoder) => {
        const wanted = { kind, layer, sentence };
        const found = await through(model, decomposed, encoder, wanted, { summands, signal });
        const byMechanism = input.way === 'mechanism';
        const named = gauge ?? (byMechanism ? undefined : 'canonical');
        const rows =
          apart ?? (byMechanism ? undefined : named === 'raw' ? [] : fixed.filter((row) => row < found.n));
        const scores = found.decompose({
          ...(input as EncoderDecomposeInput),
          ...(named !== undefined && { gauge: named as NonNullable<EncoderDecomposeInput['gauge']> }),
          ...(rows !== undefined && { apart: rows }),
          ...(layerMeans && { means: layerMeans }),
        });
        return { ...(scores as Scores<FloatsOf<P>>), sentence };
      });
    },
    async corpusMeans(cut, { precision, done, scores = false, signal, progress }) {
      const kind = check.precision(precision ?? 'float32');
      check.flag('scores', scores);
      const { positionMeans, poolShares } = superpose;
      return meansOver(await cut(), {
        ...{ positionMeans, poolShares, d_model, heads, layers: all, apart: fixed, precision: kind },
        ...(scores && { scores: model.projections }),
        async run(sentence, isWindow) {
          const summands = await model.rows(sentence, signal);
          const kept = { scores: !isWindow, projections: scores && isWindow };
          return forward(sentence, { precision: kind, summands, ...kept, signal, progress });
        },
        ...{ signal, done },
      });
    },
    async withoutPositions(sentence, options = {}) {
      check.object('options', options);
      const kind = check.precision(options.precision ?? 'float32');
      const { signal, progress } = options;
      // All layers in one turn, since a forward is valid until the next.
      return resident.use(kind, all, counted({ signal, progress }), async (encoder) => {
        decomposed.delete(encoder);
        const rows = rowsIn(await model.rows(sentence, signal), kind);
        const bare = rowsIn(await model.changed(sentence, { mean: 'sentence' }), kind);
        return positionsTaken(encoder, { rows, bare }, signal);
      });
    },
  };
}
