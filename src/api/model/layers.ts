// MiniLM behind its first scores: all layers, run by the second module. A file a layer, fetched when something asks.
import * as check from '../check.js';
import type { Watch } from '../files.js';
import type { First } from '../first.js';
import type { PoolableScores, Scores } from '../scores/scores.js';
import type { Superpose } from '../superpose.js';
import {
  type Floats,
  type FloatsOf,
  type Linear,
  type Precision,
  rounded,
  type Table,
  table,
} from '../table.js';
import { corpusIds, corpusSentences } from './corpus.js';
import type {
  Encoder,
  EncoderDecomposeInput,
  EncoderForward,
  ForwardInput,
  PositionFindings,
} from './encoder.js';
import type { MiniLM, Sentence, Summands } from './minilm.js';

/** Who waits for the model’s layers, and may stop waiting: the layers that have come by then stay. */
export interface LayersWatch {
  /** Ends the fetching. */
  signal?: AbortSignal;
  /** Bytes that have come, and bytes in all, of the layers that were not there. */
  progress?: (bytes: number, of: number) => void;
}

export interface MiniLMForwardOptions<P extends Precision = 'float32'>
  extends ForwardInput<FloatsOf<P>>,
    LayersWatch {
  /** Default float32. */
  precision?: P;
  /** Embedding rows [n, 384] in place of the sentence’s own, as of summands() or changed(). */
  summands?: Summands<FloatsOf<P>>;
}

export interface LayerDecomposeOptions<P extends Precision = 'float64'>
  extends Omit<EncoderDecomposeInput<FloatsOf<P>>, 'means'>,
    LayersWatch {
  /** Default float64. */
  precision?: P;
  /** For the way `mean`, of corpusMeans(). */
  means?: Pick<CorpusMeans, 'states'>;
  /** Embedding rows [n, 384] in place of the sentence’s own. */
  summands?: Summands<FloatsOf<P>>;
}

export interface CorpusMeansOptions extends LayersWatch {
  /** Plain sentences. Default corpusSentences. */
  sentences?: readonly string[];
  /** Default float32. */
  precision?: Precision;
  /** From 0 to 1, of the windows. */
  done?: (fraction: number) => void;
  /**
   * Positions out of the input: each row from 1 on is replaced by the mean of its window’s. What is found then is
   * noise. Default false.
   */
  control?: boolean;
}

/** The mean decomposition of every state over a corpus. */
export interface CorpusMeans {
  /** [CLS], 30 pieces and [SEP], every 7 pieces of the sentences one after the other. */
  readonly windows: number;
  /** [layers + 1], of the state behind so many layers. */
  readonly states: readonly PositionFindings[];
  /**
   * [layers, heads], the share of position → position in what a head’s scores vary by: canonical, by these means,
   * pooled over 32 of the sentences, or as many as there are of at most 31 tokens; NaN where there is none.
   */
  readonly heads: Table<Float64Array>;
  /** How many sentences those were. */
  readonly sentencesOfHeads: number;
}

/** What layers.ts is given of the model. */
export interface LayersInput {
  /** Both modules. */
  superpose: First;
  /** What the first layer’s scores need. */
  model: MiniLM;
  /** Of each layer, the bytes of its own file. */
  layerBytes: readonly number[];
  /** Rows [count, d] of the words of corpusSentences; see corpusIds(). */
  corpusRows(count: number, watch: Watch): Promise<TensorOf>;
  /** The tensors of a layer’s own file. */
  read(layer: number, watch: Watch): Promise<TensorOf>;
}

/** A tensor of a file, by its name behind encoder.layer.N. */
export type TensorOf = <P extends Precision>(name: string, precision: P) => Table<FloatsOf<P>>;

const inner = 30;
const stride = 7;
const sentencesForHeads = 32;

/** The functions of MiniLM that need all layers. */
export function layersOf({ superpose, model, layerBytes, corpusRows, read }: LayersInput) {
  const { encoder, positionMeans } = superpose as Partial<Superpose>;
  if (!encoder || !positionMeans) {
    throw new Error(
      'The layers behind the first scores run in the second module; load the model over load() or loadRest().',
    );
  }
  const encoders = new Map<Precision, { encoder: Encoder; adding: Promise<void> }>();
  const decomposed = new Map<Precision, { key: string; run: EncoderForward }>();

  /** An encoder with so many layers; of several callers the later waits for the earlier. */
  const loaded = async <P extends Precision>(
    precision: P,
    count: number,
    { signal, progress }: LayersWatch,
  ): Promise<Encoder<FloatsOf<P>>> => {
    let held = encoders.get(precision);
    // The module may have broken off and taken it along.
    if (!held?.encoder.isAlive()) {
      const { normalization, heads } = model.layer(precision);
      const made = encoder({ d_model: model.d_model, heads, precision, embeddingNorm: normalization });
      held = { encoder: made as Encoder, adding: Promise.resolve() };
      encoders.set(precision, held);
      decomposed.delete(precision);
    }
    const mine = held;
    const add = async () => {
      const from = mine.encoder.layers;
      const of = layerBytes.slice(from, count).reduce((sum, bytes) => sum + bytes, 0);
      let bytes = 0;
      const received = (more: number) => {
        bytes += more;
        progress?.(Math.min(bytes, of), of);
      };
      for (let layer = from; layer < count; layer++) {
        signal?.throwIfAborted();
        const tensor = await read(layer, { signal, received });
        signal?.throwIfAborted();
        mine.encoder.addLayer(layerIn(model, tensor, layer, precision));
      }
    };
    // One at a time, whether the one before failed or not: layers are added in their order.
    const adding = mine.adding.then(add, add);
    mine.adding = adding.catch(() => {});
    await adding;
    return mine.encoder as Encoder<FloatsOf<P>>;
  };

  const sentenceOf = (text: string | Sentence): Sentence =>
    typeof text === 'object' && text !== null ? text : model.tokenize(text);

  const forward = async <P extends Precision = 'float32'>(
    text: string | Sentence,
    { precision, summands, signal, progress, ...input }: MiniLMForwardOptions<P> = {},
  ): Promise<EncoderForward<FloatsOf<P>> & { sentence: Sentence }> => {
    const sentence = sentenceOf(text);
    const kind = check.precision(precision ?? 'float32') as P;
    const layers = check.integer('layers', input.layers ?? layerBytes.length, 0, layerBytes.length);
    const rows = summands ?? (await model.summands(sentence, kind));
    const watch = { ...(signal && { signal }), ...(progress && { progress }) };
    const ready = await loaded(kind, layers, watch);
    decomposed.delete(kind);
    return Object.assign(ready.forward(rows, { ...input, layers }), { sentence });
  };

  const decompose = async <P extends Precision = 'float64'>(
    text: string | Sentence,
    { precision, means, signal, progress, gauge, apart, summands, ...input }: LayerDecomposeOptions<P>,
  ): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }> => {
    const sentence = sentenceOf(text);
    const kind = check.precision(precision ?? 'float64') as P;
    const layer = check.integer('layer', input.layer, 0, layerBytes.length - 1);
    const key = String(sentence.ids);
    let run = decomposed.get(kind);
    if (summands || run?.key !== key || run.run.layers <= layer) {
      // Through all that are there, so that the next layer's need no forward of their own.
      const layers = Math.max(layer + 1, encoders.get(kind)?.encoder.layers ?? 0);
      const options = { precision: kind, layers, signal, progress, summands } as MiniLMForwardOptions<P>;
      run = { key, run: (await forward(sentence, options)) as unknown as EncoderForward };
      if (!summands) decomposed.set(kind, run);
    }
    const named = gauge ?? 'canonical';
    const scores = run.run.decompose({
      ...(input as EncoderDecomposeInput),
      gauge: named as NonNullable<EncoderDecomposeInput['gauge']>,
      apart: apart ?? (named === 'raw' ? [] : [0]),
      ...(means && { means: meansAt(means, layer, kind) }),
    });
    return { ...(scores as Scores<FloatsOf<P>>), sentence };
  };

  const corpusMeans = async ({
    sentences = corpusSentences,
    precision,
    done,
    control = false,
    ...watch
  }: CorpusMeansOptions = {}): Promise<CorpusMeans> => {
    const kind = check.precision(precision ?? 'float32');
    check.flag('control', control);
    const cut = windowsOf(model, sentences);
    await loaded(kind, layerBytes.length, watch);
    const rows = sentences === corpusSentences ? await ownRows(kind, watch) : model.summands;
    const short = sentences.map((text) => model.tokenize(text)).filter(({ ids }) => ids.length <= inner + 1);
    const every = Math.max(1, short.length / sentencesForHeads);
    const chosen = short.filter((_, place) => Math.floor(place / every) !== Math.floor((place - 1) / every));
    const steps = cut.length + chosen.length;
    let step = 0;
    const stepped = async () => {
      watch.signal?.throwIfAborted();
      done?.(++step / steps);
      // So that a stop is heard.
      if (step % 4 === 0) await new Promise((go) => setTimeout(go));
    };
    const means = positionMeans({ positions: inner, d_model: model.d_model, layers: layerBytes.length });
    try {
      for (const ids of cut) {
        const sentence: Sentence = { ids, tokens: model.pieces(ids), dropped: 0 };
        const summands = await (control
          ? model.changed(sentence, { mean: 'sentence' }, kind)
          : rows(sentence, kind));
        means.add(await forward(sentence, { precision: kind, summands, scores: false }));
        await stepped();
      }
      const states = Array.from({ length: layerBytes.length + 1 }, (_, layers) => means.findings(layers));
      const scores: PoolableScores[][] = layerBytes.map(() => []);
      for (const sentence of chosen) {
        const run = await forward(sentence, { precision: kind, summands: await rows(sentence, kind) });
        for (const [layer, found] of scores.entries()) {
          const input = {
            layer,
            way: 'mean',
            gauge: 'canonical',
            apart: [0],
            groups: positionAndRest,
          } as const;
          const { heads, parts, gauge, covariances, variances } = run.decompose({
            ...input,
            means: meansAt({ states }, layer, kind),
          });
          found.push({ heads, parts, gauge, covariances, variances });
        }
        await stepped();
      }
      const { heads } = model;
      const shares = new Float64Array(layerBytes.length * heads).fill(Number.NaN);
      for (const [layer, found] of scores.entries()) {
        if (found.length === 0) continue;
        const ofPosition = superpose.poolShares(found, [0, 1, 1, 1]).heads;
        for (let head = 0; head < heads; head++)
          shares[layer * heads + head] = ofPosition[2 * head] as number;
      }
      return {
        windows: cut.length,
        states,
        heads: table(shares, layerBytes.length, heads),
        sentencesOfHeads: chosen.length,
      };
    } finally {
      means.delete();
    }
  };

  /** summands() for sentences of the corpus, whose words come in one file. */
  const ownRows = async <P extends Precision>(
    precision: P,
    watch: LayersWatch,
  ): Promise<MiniLM['summands']> => {
    const all = corpusIds(corpusSentences.map((text) => model.tokenize(text).ids));
    const { data } = (await corpusRows(all.length, watch.signal ? { signal: watch.signal } : {}))(
      'rows',
      precision,
    );
    const places = new Map(all.map((id, place) => [id, place]));
    const d = model.d_model;
    return async <Q extends Precision = 'float64'>(sentence: Sentence, asked?: Q) => {
      // Its positions, and rows for its tokens to be put into.
      const ids = sentence.ids.map(() => sentence.ids[0] as number);
      const like = await model.summands({ ...sentence, ids }, asked);
      for (const [row, id] of sentence.ids.entries()) {
        const at = (places.get(id) as number) * d;
        like.token.data.set(data.subarray(at, at + d), row * d);
      }
      return like;
    };
  };

  return { forward, decompose, corpusMeans };
}

const positionAndRest = { position: ['position'], rest: ['content', 'constant'] };

/** In the element type that is asked for. */
function meansAt({ states }: Pick<CorpusMeans, 'states'>, layer: number, precision: Precision) {
  const { mean, position } = states[check.index('layer', layer, states.length)] as PositionFindings;
  const single = precision === 'float32';
  const as = (values: Float64Array): Floats => rounded<Floats>(values, single);
  return { mean: as(mean), position: table(as(position.data), position.rows, position.columns) };
}

function windowsOf(model: MiniLM, sentences: readonly string[]): number[][] {
  if (!Array.isArray(sentences)) check.refuse('sentences', 'a list of texts', sentences, false);
  const cut = sentences.map((text) => model.tokenize(text).ids);
  const pieces = cut.flatMap((ids) => ids.slice(1, -1));
  const [first] = cut;
  const count = Math.floor((pieces.length - inner) / stride) + 1;
  if (!first || count < 4) {
    throw new RangeError(
      `The sentences must have at least ${inner + 3 * stride} pieces, four windows; they have ${pieces.length}.`,
    );
  }
  const [cls, sep] = [first[0] as number, first.at(-1) as number];
  return Array.from({ length: count }, (_, place) => [
    cls,
    ...pieces.slice(place * stride, place * stride + inner),
    sep,
  ]);
}

function layerIn<P extends Precision>(model: MiniLM, tensor: TensorOf, layer: number, precision: P) {
  const linear = (name: string): Linear<FloatsOf<P>> => ({
    weight: tensor(`${name}.weight`, precision),
    bias: tensor(`${name}.bias`, precision).data,
  });
  const first = model.layer(precision);
  const norm = (name: string) => ({
    ...first.normalization,
    gamma: tensor(`${name}.weight`, precision).data,
    beta: tensor(`${name}.bias`, precision).data,
  });
  return {
    query: layer === 0 ? first.query : linear('attention.self.query'),
    key: layer === 0 ? first.key : linear('attention.self.key'),
    value: linear('attention.self.value'),
    output: linear('attention.output.dense'),
    attentionNorm: norm('attention.output.LayerNorm'),
    up: linear('intermediate.dense'),
    down: linear('output.dense'),
    mlpNorm: norm('output.LayerNorm'),
  };
}

/** The tensors of a layer’s own file, and their shapes. */
export function encoderShapes(layer: number, d: number, wide: number): Record<string, readonly number[]> {
  const name = (part: string) => `encoder.layer.${layer}.${part}`;
  const linear = (part: string, out: number, into: number) => ({
    [name(`${part}.weight`)]: [out, into],
    [name(`${part}.bias`)]: [out],
  });
  return {
    ...(layer > 0 && { ...linear('attention.self.query', d, d), ...linear('attention.self.key', d, d) }),
    ...linear('attention.self.value', d, d),
    ...linear('attention.output.dense', d, d),
    [name('attention.output.LayerNorm.weight')]: [d],
    [name('attention.output.LayerNorm.bias')]: [d],
    ...linear('intermediate.dense', wide, d),
    ...linear('output.dense', d, wide),
    [name('output.LayerNorm.weight')]: [d],
    [name('output.LayerNorm.bias')]: [d],
  };
}
