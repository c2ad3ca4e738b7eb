// What an opened model does, over the tensors of its files and what is known of them.
import * as check from '../check.js';
import type { Scores } from '../scores/scores.js';
import type { Ids } from '../table.js';
import type { Superpose } from '../whole.js';
import {
  type FirstLayer,
  firstScores,
  longestOf,
  type Model,
  rowsOf,
  runnable,
  summandNames,
} from './firstLayer.js';
import type { Layers } from './layers.js';
import type { ModelInput, OpenDecomposeOptions, OpenedModel } from './openedModel.js';
import type { Sentence } from './sentence.js';
import { firstLayerOf } from './tensors.js';
import { decomposeNames, forwardNames } from './transformerStackTypes.js';
import { type CountedWatch, counted, gone, shared, watchNames } from './watch.js';

/** Texts are cut whole, so very long ones are refused. */
const longestText = 100_000;

/** What it does, and what is known of it whatever its family. */
type Over = Omit<
  OpenedModel,
  | 'family'
  | 'name'
  | 'about'
  | 'slidingWindow'
  | 'heads'
  | 'epsilon'
  | 'vocabulary'
  | 'causal'
  | 'readsText'
  | 'files'
  | 'bytes'
  | 'digest'
  | 'report'
>;

/** The model of these tensors. */
export function modelOver(model: Model): Over {
  const { layout } = model;
  const inputs = inputsOf(model);
  let held = heldOf(model);
  return {
    d_model: layout.d_model,
    positions: longestOf(model, model.layers),
    summands: summandNames(layout),
    excludedRows: layout.excludedRows,
    markers: layout.facts.markers,
    layers: model.layers,
    tokenize: inputs.tokenize,
    pieces: inputs.pieces,
    decompose: (input, options = {}) => decomposed(model, inputs, held, input, options),
    async forward(input, options = {}) {
      check.knownOptions('options', options, { ...forwardNames, summands: true, ...watchNames });
      const run = await held.layered();
      return run.forward(await inputs.read(input, options.layers), options);
    },
    async withoutPositions(input, options = {}) {
      check.knownOptions('options', options, watchNames);
      const run = await held.layered();
      return run.withoutPositions(await inputs.read(input), options);
    },
    async corpusMeans(options = {}) {
      check.knownOptions('options', options, { sentences: true, done: true, scores: true, ...watchNames });
      const run = await held.layered();
      return run.corpusMeans(inputs, options);
    },
    layer: () => held.first(counted({})),
    rows: async (input) => rowsOf(model, (await inputs.read(input, 0)).ids, counted({})),
    async changed(input, change) {
      const { changedOf } = await import('./layers.js');
      return changedOf(model, await inputs.read(input, 0), change);
    },
    delete() {
      held.delete();
      held = heldOf(model);
    },
  };
}

/** A sentence, whose ids may be of any kind. */
interface Given extends Omit<Sentence, 'ids'> {
  readonly ids: Ids;
}

/** How texts and ids become sentences. */
function inputsOf(model: Model) {
  const { layout, readsText, tokenizer, slidingWindow } = model;
  const { vocabulary, positions, padding, facts } = layout;
  const idsIn = (given: unknown) => Array.from(check.ids('ids', given, 0, vocabulary - 1));
  const sentenceOf = async (
    { ids: given, tokens, dropped = 0 }: Partial<Given>,
    longest: number,
  ): Promise<Sentence> => {
    const ids = idsIn(given);
    if (ids.length > longest && longest === slidingWindow?.keys && longest !== positions)
      throw (await import('./slidingWindow.js')).beyondWindow(slidingWindow, ids.length);
    if (ids.length === 0 || ids.length > (longest || Infinity))
      check.refuseCount(
        'A sentence',
        longest ? `from 1 to ${longest} tokens` : 'at least 1 token',
        ids.length,
      );
    if (padding !== undefined && ids.includes(padding))
      throw new RangeError(
        `ids must have no padding, which has the number ${padding} in this ${facts.name}: other tokens would look at it. Leave it out.`,
      );
    const names = tokens ?? ids.map(String);
    if (names.length !== ids.length) check.refuseCount('tokens', `${ids.length} texts`, names.length);
    return { ids, tokens: names, dropped };
  };
  const tokenize = async (
    text: string,
    most = longestOf(model, model.layers) || Infinity,
  ): Promise<Sentence> => {
    if (typeof text !== 'string') check.refuse('The text', 'a string', text, false);
    if (text.length > longestText)
      check.refuseCount('The text', `at most ${longestText} characters`, text.length);
    if (most !== Infinity) check.integer('most', most, 2, positions || 2 ** 31);
    const { ids, tokens } = (await tokenizer()).cut(text);
    const dropped = Math.max(0, ids.length - most);
    if (dropped === 0) return { ids, tokens, dropped };
    // The marker that ends a sentence stays last: the model was trained that way.
    const { after } = facts.markers;
    const cut = <T>(all: T[]) => [...all.slice(0, most - after), ...(after ? all.slice(-1) : [])];
    return { ids: cut(ids), tokens: cut(tokens), dropped };
  };
  return {
    tokenize,
    async pieces(given: Ids): Promise<string[]> {
      const ids = idsIn(given);
      return readsText ? (await tokenizer()).pieces(ids) : ids.map(String);
    },
    /** For a run through so many layers. */
    async read(input: ModelInput, layers = model.layers): Promise<Sentence> {
      const longest = longestOf(model, layers);
      if (typeof input === 'string') return sentenceOf(await tokenize(input, longest || Infinity), longest);
      check.object('input', input);
      const sentence = 'a text or an object with ids';
      if (Array.isArray(input) || ArrayBuffer.isView(input)) check.refuse('input', sentence, input, false);
      check.knownOptions('input', input as Given, { ids: true, tokens: true, dropped: true });
      if (!('ids' in input)) check.refuse('input', sentence, input, false);
      return sentenceOf(input, longest);
    },
  };
}

async function firstOf(model: Model, watch: CountedWatch): Promise<FirstLayer> {
  const { tables, facts } = model.layout;
  if (!tables.position)
    throw new RangeError(
      `The queries and keys of ${facts.name} turn; its first layer is no input of decompose().`,
    );
  return firstLayerOf(runnable(model), watch);
}

/** What is kept until delete(); a call keeps to what was held when it was made. */
function heldOf(model: Model) {
  let own: Layers | undefined;
  let deleted = false;
  const run = shared(async () => {
    const opened = runnable(model);
    // Together: what fails while the others are under way is heard.
    const [superpose, { layersOf }] = await Promise.all([wholeOf(model), import('./layers.js')]);
    own = layersOf(opened, superpose);
    if (deleted) own.delete();
    return own;
  });
  return {
    layered: () => run({}),
    /** The first layer's maps, which are read once. */
    first: shared((watch: CountedWatch, signal) => firstOf(model, { ...watch, signal })),
    /** Throws where the model was deleted since. */
    refuseDeleted() {
      if (deleted) throw gone();
    },
    delete() {
      deleted = true;
      own?.delete();
    },
  };
}

async function decomposed(
  model: Model,
  inputs: ReturnType<typeof inputsOf>,
  held: ReturnType<typeof heldOf>,
  input: ModelInput,
  options: OpenDecomposeOptions,
): Promise<Scores & { sentence: Sentence }> {
  check.knownOptions('options', options, { ...decomposeNames, ...watchNames });
  const { layer, way, means, ...others } = options;
  const adds = model.layout.tables.position !== undefined;
  if (layer === undefined && way === undefined && adds) {
    const sentence = await inputs.read(input);
    const first = () => held.first(counted(others));
    const scores = await firstScores(model, first, sentence, others as object);
    held.refuseDeleted();
    return { ...scores, sentence };
  }
  const run = await held.layered();
  const by = way ?? (adds ? undefined : 'mechanism');
  return run.decompose(await inputs.read(input, (layer ?? 0) + 1), {
    ...others,
    layer: layer ?? 0,
    ...(by !== undefined && { way: by }),
    ...(means && { means }),
  });
}

/** The whole module, which later layers run in. */
export async function wholeOf({ whole }: Model): Promise<Superpose> {
  const found = await whole();
  if (!found.transformerStack)
    throw new Error('The layers after the first scores run in the whole module; open the model over load().');
  return found;
}
