// The first layer's scores of a model that adds positions: they need no more of its file than rows of the
// tables, a norm, and the first W_Q and W_K.
import { type DecomposeInput, grouped } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import { layerTensors } from './layerTensors.js';
import { excludedIn, type Model, type RunnableModel, rowsOf, runnable, summandNames } from './model.js';
import { nameIn } from './recognize.js';
import type { Sentence } from './sentences.js';
import { type CountedWatch, counted, type SlicesWatch } from './watch.js';

/** A first layer, as decompose() takes it. */
export type FirstLayer = Required<
  Pick<DecomposeInput, 'normalization' | 'query' | 'key' | 'heads' | 'causal'>
>;

/**
 * Reads what lies between the summed rows and the first layer's scores: a norm, W_Q and W_K. Throws
 * RangeError for a model with RoPE.
 */
export async function firstLayerOf(model: Model, watch: CountedWatch): Promise<FirstLayer> {
  const { descriptor } = model.layout;
  if (descriptor.positions.kind === 'rotary') {
    throw new RangeError(
      `${descriptor.name} rotates its queries and keys, so its first layer is no input of decompose().`,
    );
  }
  return readFirstLayer(runnable(model), watch);
}

async function readFirstLayer(model: RunnableModel, watch: CountedWatch): Promise<FirstLayer> {
  const { checkpoint, layout, heads } = model;
  const { tensors, causal } = layout.descriptor;
  const size = [layout.d_model, layout.d_model] as const;
  const { norm, linear } = layerTensors(checkpoint, watch);
  const normName = tensors.embeddingNorm
    ? layout.prefix + tensors.embeddingNorm
    : nameIn(layout, 0, 'attentionNorm');
  const [normalization, query, key] = await Promise.all([
    norm(model, normName),
    linear(model, 0, 'query', size),
    linear(model, 0, 'key', size),
  ]);
  return { normalization, query, key, heads, causal };
}

type FirstScoresOptions = GaugeOptions & Pick<DecomposeInput, 'only' | 'groups'> & SlicesWatch;

/** Decomposes the first layer's scores; their parts are the summands and `constant`. */
export async function firstScores(
  model: Model,
  firstLayer: () => Promise<FirstLayer>,
  { ids }: Sentence,
  { gauge, excludedRows, only, groups, ...watch }: FirstScoresOptions,
): Promise<Scores> {
  // Groups are checked before anything is read.
  grouped([...summandNames(model.layout), 'constant'], groups);
  const [summands, layer] = await Promise.all([rowsOf(model, ids, counted(watch)), firstLayer()]);
  return model.superpose.decompose({
    summands: { ...summands },
    ...layer,
    ...(only && { only }),
    ...(groups && { groups }),
    ...(gauge !== undefined && { gauge }),
    excludedRows: excludedRows ?? excludedIn(model.layout, ids.length),
  });
}
