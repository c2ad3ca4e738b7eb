// MiniLM beyond its first scores: all layers, run by the second module. Each has a file, fetched on demand.
import * as check from '../check.js';
import type { Watch } from '../files.js';
import type { First } from '../first.js';
import type { Scores } from '../scores/scores.js';
import type { Superpose } from '../superpose.js';
import type { FloatsOf, Linear, Precision, Table } from '../table.js';
import { changedRows } from './changedPositions.js';
import { corpusIds, corpusSentences } from './corpus.js';
import { type CorpusMeans, type CorpusMeansOptions, corpusOf, meansAt, meansOver } from './corpusMeans.js';
import type { Encoder, EncoderDecomposeInput, EncoderForward, ForwardInput } from './encoder.js';
import type { MiniLM, Sentence } from './minilm.js';

// One chunk for everything that few readers need.
export { changedRows, corpusOf, corpusSentences, meansAt, meansOver };

/** For a caller who waits for the model’s layers and may stop waiting. Layers that have arrived stay. */
export interface LayersWatch {
  /** Ends the fetching. */
  signal?: AbortSignal;
  /** Bytes received, and bytes in all, of the layers that were missing. */
  progress?: (bytes: number, of: number) => void;
}

export interface MiniLMForwardOptions<P extends Precision = 'float32'>
  extends ForwardInput<FloatsOf<P>>,
    LayersWatch {
  /** Default float32. */
  precision?: P;
  /** Embedding rows [n, 384], by name, in place of the sentence’s own; from summands() or changed(). */
  summands?: Readonly<Record<string, Table<FloatsOf<P>>>>;
}

export interface LayerDecomposeOptions<P extends Precision = 'float64'>
  extends Omit<EncoderDecomposeInput<FloatsOf<P>>, 'means'>,
    LayersWatch {
  /** Default float64. */
  precision?: P;
  /** From corpusMeans(); needed for the way `mean`. */
  means?: Pick<CorpusMeans, 'states'>;
  /** Embedding rows [n, 384], by name, in place of the sentence’s own. */
  summands?: Readonly<Record<string, Table<FloatsOf<P>>>>;
}

/** What layersOf() needs of the model. */
export interface LayersInput {
  /** Both modules. */
  superpose: First;
  /** What the first layer’s scores need. */
  model: MiniLM;
  /** Bytes of each layer’s own file. */
  layerBytes: readonly number[];
  /** Rows [count, d] for the words of corpusSentences; see corpusIds(). */
  corpusRows(count: number, watch: Watch): Promise<TensorOf>;
  /** The tensors of a layer’s own file. */
  read(layer: number, watch: Watch): Promise<TensorOf>;
}

/** A tensor of a file, by its name after encoder.layer.N. */
export type TensorOf = <P extends Precision>(name: string, precision: P) => Table<FloatsOf<P>>;

/** The functions of MiniLM that need all layers. */
export function layersOf({ superpose, model, layerBytes, corpusRows, read }: LayersInput) {
  const { encoder, positionMeans } = superpose as Partial<Superpose>;
  if (!encoder || !positionMeans) {
    throw new Error(
      'The layers after the first scores run in the second module; load the model over load() or loadRest().',
    );
  }
  const encoders = new Map<Precision, { encoder: Encoder; adding: Promise<void> }>();
  const decomposed = new Map<Precision, { key: string; run: EncoderForward }>();

  /** An encoder with at least so many layers. Callers wait for one another. */
  const loaded = async <P extends Precision>(
    precision: P,
    count: number,
    { signal, progress }: LayersWatch,
  ): Promise<Encoder<FloatsOf<P>>> => {
    let held = encoders.get(precision);
    // The encoder may have been lost when the module broke off.
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
    // One at a time, even after a failure: layers must be added in order.
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
      // Through all loaded layers, so that the next layer's scores need no forward of their own.
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
    const corpus = corpusOf(sentences, (text) => model.tokenize(text).ids);
    await loaded(kind, layerBytes.length, watch);
    const rows = sentences === corpusSentences ? await ownRows(kind, watch) : model.summands;
    const sentenceOfIds = (ids: readonly number[]): Sentence => ({
      ids,
      tokens: model.pieces(ids),
      dropped: 0,
    });
    return meansOver(corpus, {
      positionMeans,
      poolShares: superpose.poolShares,
      d_model: model.d_model,
      heads: model.heads,
      layers: layerBytes.length,
      apart: [0],
      precision: kind,
      async run(ids, isWindow) {
        const sentence = sentenceOfIds(ids);
        const summands = await (control && isWindow
          ? model.changed(sentence, { mean: 'sentence' }, kind)
          : rows(sentence, kind));
        return forward(sentence, { precision: kind, summands, scores: !isWindow });
      },
      signal: watch.signal,
      done,
    });
  };

  /** summands() for sentences of the corpus, whose words come in a single file. */
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
      // Its position rows, and token rows to overwrite.
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

/** The tensors in a layer’s own file, and their shapes. */
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
