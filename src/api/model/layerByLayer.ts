// A model that need not fit into memory: each layer is read, run over all inputs, and dropped. A run through an encoder
// of one layer is that layer, so nothing else is computed here.
import * as check from '../check.js';
import { type Floats, type FloatsOf, type Precision, type Table, table } from '../table.js';
import { breath } from './breath.js';
import { insides, type ModelInput, type OpenedModel } from './openModel.js';
import { ownLayers } from './ownLayers.js';
import type { Sentence } from './sentence.js';
import { counted, type SlicesWatch } from './slices.js';
import { stepsOf } from './steps.js';

export interface LayerByLayerOptions<P extends Precision = 'float32'> extends SlicesWatch {
  /** Default float32. */
  precision?: P;
  /** Which states to keep, by the number of layers passed, from 0. Default none. */
  states?: readonly number[];
  /** The layers, from 0, whose logits and attention to keep. Default none. */
  scores?: readonly number[];
  /** Called each time a layer has been run over all inputs, with the number of layers passed. */
  passed?: ((layers: number) => void) | undefined;
}

/** What is kept of one input. */
export interface LayersPassed<A extends Floats = Floats> {
  /** Its tokens. */
  readonly sentence: Sentence;
  /** [n, d] each, by the number of layers passed; those that were asked for. */
  readonly states: ReadonlyMap<number, Table<A>>;
  /** [heads, n, n] each, by layer, for every pair of tokens; those that were asked for. */
  readonly logits: ReadonlyMap<number, A>;
  /** [heads, n, n] each, likewise: the softmax over the allowed keys. */
  readonly attention: ReadonlyMap<number, A>;
  /** [n, d], after the final norm where there is one. */
  readonly last: Table<A>;
  /** [d], the mean over tokens of that, scaled to length one. */
  readonly embedding: A;
}

/**
 * Runs inputs through all layers of an opened model, of which one at a time is in memory: the way for models that
 * forward() refuses. The file is read once, however many inputs there are. Throws as forward() does; RangeError,
 * before anything is read, if what is to be kept does not fit.
 */
export async function layerByLayer<P extends Precision = 'float32'>(
  model: OpenedModel,
  inputs: readonly ModelInput[],
  { precision, states = [], scores = [], passed, ...watching }: LayerByLayerOptions<P> = {},
): Promise<LayersPassed<FloatsOf<P>>[]> {
  type A = FloatsOf<P>;
  const inside = typeof model === 'object' && model !== null ? insides.get(model) : undefined;
  if (!inside) return check.refuse('model', 'what openModel() returned', model, false);
  if (!Array.isArray(inputs)) check.refuse('inputs', 'a list of inputs', inputs, false);
  const kind = check.precision(precision ?? 'float32') as P;
  const { config, read, rows } = inside;
  const opened = inside.complete();
  const parts = ownLayers(opened, config);
  const { layers } = model;
  check.integers('states', states, layers);
  check.integers('scores', scores, layers - 1);
  const sentences: Sentence[] = [];
  for (const input of inputs) sentences.push(await read(input));

  const { d_model } = opened.layout;
  const numbers = sentences.reduce((sum, { ids }) => {
    const n = ids.length;
    return sum + (new Set(states).size + 2) * n * d_model + 2 * new Set(scores).size * opened.heads * n * n;
  }, 0);
  check.fits(
    `What is kept of ${sentences.length === 1 ? 'the input' : `${sentences.length} inputs`}`,
    numbers * (kind === 'float32' ? 4 : 8),
  );

  const kept = sentences.map((sentence) => ({
    sentence,
    states: new Map<number, Table<A>>(),
    logits: new Map<number, A>(),
    attention: new Map<number, A>(),
    last: table(new Float64Array() as Floats as A, 0, d_model),
    embedding: new Float64Array() as Floats as A,
  }));
  const watch = counted(watching);
  for (let layer = 0; layer < layers; layer++) watch.wanted(parts.bytes(layer));
  const once = { ...watch, wanted: () => {} };
  const reached: Table<A>[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const encoder = await parts.begin(kind, watch, { first: layer === 0, last: layer === layers - 1 });
    try {
      await stepsOf(encoder).addLayer(await parts.layer(layer, kind, once));
      for (const [place, sentence] of sentences.entries()) {
        await breath();
        watch.signal?.throwIfAborted();
        const one = kept[place] as (typeof kept)[number];
        const state = reached[place];
        const summands = state ? { state } : await rows(sentence, kind, watch.signal);
        const asked = scores.includes(layer);
        const run = await stepsOf(encoder).forward(summands, { scores: asked }, watch.signal);
        if (layer === 0 && states.includes(0)) one.states.set(0, run.state(0));
        reached[place] = run.state(1);
        if (states.includes(layer + 1)) one.states.set(layer + 1, run.state(1));
        if (asked) {
          one.logits.set(layer, run.logits(0));
          one.attention.set(layer, run.attention(0));
        }
        if (layer < layers - 1) continue;
        one.last = run.last();
        one.embedding = run.embedding;
      }
    } finally {
      encoder.delete();
    }
    passed?.(layer + 1);
  }
  return kept;
}
