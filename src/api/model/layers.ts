// MiniLM beyond its first scores: all layers, run by the whole module. Each has a file, fetched on demand.
import type { Watch } from '../files.js';
import type { SmallSuperpose } from '../small.js';
import type { FloatsOf, Linear, Precision, Table } from '../table.js';
import type { Superpose } from '../whole.js';
import { changedRows } from './changedPositions.js';
import { type CorpusMeans, type CorpusMeansOptions, corpusOf } from './corpusMeans.js';
import { encoderApi } from './encoder.js';
import type { TakenOptions } from './interventions.js';
import { layeredModel } from './layeredModel.js';
import type { LayerDecomposeOptions, MiniLMForwardOptions } from './layerOptions.js';
import type { MiniLM } from './minilmModel.js';
import { resident } from './resident.js';
import type { Sentence } from './sentence.js';

// One chunk for everything that few readers need.
export { changedRows, corpusOf, encoderApi, layeredModel };

/** What layersOf() needs of the model. */
export interface LayersInput {
  /** Both modules. */
  superpose: SmallSuperpose;
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
    throw new Error('The layers after the first scores run in the whole module; load the model over load().');
  }
  const { d_model } = model;
  const run = layeredModel({
    superpose: superpose as Superpose,
    resident: resident(() => ({
      async begin(precision) {
        const { normalization, heads } = model.layer(precision);
        return encoder({ d_model, heads, precision, embeddingNorm: normalization });
      },
      async layer(number, precision, { signal, received }) {
        return layerIn(model, await read(number, { signal, received }), number, precision);
      },
      bytes: (number) => layerBytes[number] as number,
      alone: false,
    })),
    d_model,
    summands: ['token', 'position', 'token_type'],
    heads: model.heads,
    norm: 'post',
    layers: layerBytes.length,
    apart: [0],
    ahead: true,
    rows: model.summands,
    changed: model.changed,
  });

  const sentenceOf = (text: string | Sentence): Sentence =>
    typeof text === 'object' && text !== null ? text : model.tokenize(text);

  const forward = async <P extends Precision = 'float32'>(
    text: string | Sentence,
    options: MiniLMForwardOptions<P> = {},
  ) => run.forward<P>(sentenceOf(text), options);

  const decompose = async <P extends Precision = 'float64'>(
    text: string | Sentence,
    options: LayerDecomposeOptions<P>,
  ) => run.decompose<P>(sentenceOf(text), options);

  const corpusMeans = async (options: CorpusMeansOptions = {}): Promise<CorpusMeans> => {
    const { sentences } = options;
    const cut = async () =>
      corpusOf(
        sentences ?? (await import('./corpus.js')).corpusSentences,
        (text) => model.tokenize(text).ids,
        { positions: 30, before: 1, after: 1 },
      );
    return run.corpusMeans(cut, options, sentences === undefined ? ownRows : undefined);
  };

  /** summands() for sentences of the corpus, whose words come in a single file. */
  const ownRows = async (precision: Precision, signal?: AbortSignal): Promise<MiniLM['summands']> => {
    const { corpusIds, corpusSentences } = await import('./corpus.js');
    const all = corpusIds(corpusSentences.map((text) => model.tokenize(text).ids));
    const { data } = (await corpusRows(all.length, { signal }))('rows', precision);
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

  const withoutPositions = async (text: string | Sentence, options?: TakenOptions) =>
    run.withoutPositions(sentenceOf(text), options);

  return { forward, decompose, corpusMeans, withoutPositions };
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
