// The methods of an opened model, which work on the tensors of its files.
import * as check from '../check.js';
import type { Superpose } from '../fullModule.js';
import type { Scores } from '../scores/scores.js';
import { firstLayerOf, firstScores } from './firstLayer.js';
import { longestOf, type Model, rowsOf, runnable, summandNames } from './model.js';
import type { ModelRuns } from './modelRuns.js';
import type { OpenDecomposeOptions, OpenedModel } from './openedModel.js';
import { type ModelInput, type Sentence, type SentenceReader, sentenceReader } from './sentences.js';
import { decomposeNames, forwardNames } from './transformerStackTypes.js';
import { type CountedWatch, counted, modelDeleted, shared, watchNames } from './watch.js';

type Methods = Pick<
  OpenedModel,
  | 'd_model'
  | 'positions'
  | 'summands'
  | 'excludedRows'
  | 'markers'
  | 'layers'
  | 'tokenize'
  | 'pieces'
  | 'decompose'
  | 'forward'
  | 'withoutPositions'
  | 'corpusMeans'
  | 'layer'
  | 'rows'
  | 'changed'
  | 'delete'
>;

export function modelMethods(model: Model): Methods {
  const { layout } = model;
  const sentences = sentenceReader(model);
  let cache = modelCache(model);
  return {
    d_model: layout.d_model,
    positions: longestOf(model, model.layers),
    summands: summandNames(layout),
    excludedRows: layout.excludedRows,
    markers: layout.descriptor.markers,
    layers: model.layers,
    tokenize: sentences.tokenize,
    pieces: sentences.pieces,
    decompose: (input, options = {}) => decomposed(model, sentences, cache, input, options),
    async forward(input, options = {}) {
      check.knownOptions('options', options, { ...forwardNames, summands: true, ...watchNames });
      const runs = await cache.runs();
      return runs.forward(await sentences.read(input, options.layers), options);
    },
    async withoutPositions(input, options = {}) {
      check.knownOptions('options', options, watchNames);
      const runs = await cache.runs();
      return runs.withoutPositions(await sentences.read(input), options);
    },
    async corpusMeans(options = {}) {
      check.knownOptions('options', options, {
        layers: true,
        sentences: true,
        done: true,
        scores: true,
        ...watchNames,
      });
      const runs = await cache.runs();
      return runs.corpusMeans(sentences, options);
    },
    layer: () => cache.firstLayer(counted({})),
    rows: async (input) => rowsOf(model, (await sentences.read(input, 0)).ids, counted({})),
    async changed(input, change) {
      const { changedRows } = await import('./modelRuns.js');
      return changedRows(model, await sentences.read(input, 0), change);
    },
    delete() {
      cache.delete();
      cache = modelCache(model);
    },
  };
}

type ModelCache = ReturnType<typeof modelCache>;

/**
 * What a model keeps until delete(). Each call uses the cache that existed when it began, even across
 * delete().
 */
function modelCache(model: Model) {
  let runs: ModelRuns | undefined;
  let isDeleted = false;
  const startRuns = shared(async () => {
    const runnableModel = runnable(model);
    // Started together, so that a failure of one is reported while the other still loads.
    const [superpose, { modelRuns }] = await Promise.all([fullModuleOf(model), import('./modelRuns.js')]);
    runs = modelRuns(runnableModel, superpose);
    if (isDeleted) runs.delete();
    return runs;
  });
  return {
    runs: () => startRuns({}),
    /** The first layer's norm and maps, which are read once. */
    firstLayer: shared((watch: CountedWatch, signal) => firstLayerOf(model, { ...watch, signal })),
    /** Throws if the model was deleted after this cache was made. */
    refuseDeleted() {
      if (isDeleted) throw modelDeleted();
    },
    delete() {
      isDeleted = true;
      runs?.delete();
    },
  };
}

async function decomposed(
  model: Model,
  sentences: SentenceReader,
  cache: ModelCache,
  input: ModelInput,
  options: OpenDecomposeOptions,
): Promise<Scores & { sentence: Sentence }> {
  check.knownOptions('options', options, { ...decomposeNames, ...watchNames });
  const { layer, way, means, ...others } = options;
  const addsPositions = model.layout.descriptor.positions.kind === 'added';
  if (layer === undefined && way === undefined && addsPositions) {
    const sentence = await sentences.read(input);
    const firstLayer = () => cache.firstLayer(counted(others));
    const scores = await firstScores(model, firstLayer, sentence, others as object);
    cache.refuseDeleted();
    return { ...scores, sentence };
  }
  const runs = await cache.runs();
  const chosenWay = way ?? (addsPositions ? undefined : 'mechanism');
  return runs.decompose(await sentences.read(input, (layer ?? 0) + 1), {
    ...others,
    layer: layer ?? 0,
    ...(chosenWay !== undefined && { way: chosenWay }),
    ...(means && { means }),
  });
}

/** The full module, which runs layers. Throws if the model was opened over the small one alone. */
export async function fullModuleOf({ fullModule }: Model): Promise<Superpose> {
  const superpose = await fullModule();
  if (!superpose.transformerStack) {
    throw new Error('Layers run only in the full module. Open the model with the result of load().');
  }
  return superpose;
}
