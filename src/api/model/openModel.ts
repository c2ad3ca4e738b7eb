// A reader's own model: opened where it is, recognized by its config.json and header, and its scores taken apart. Only
// what is needed of its file is read.
import * as check from '../check.js';
import type { Scores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import type { FloatsOf, Precision, Table } from '../table.js';
import type { Superpose } from '../whole.js';
import { type Checkpoint, checkpointOf } from './checkpoint.js';
import { firstLayerOf, firstScores, type OwnRows, rowsOf, summandNames } from './firstLayer.js';
import type { Config } from './header.js';
import type { LayeredFunctions } from './layeredModel.js';
import { modelReport } from './modelReport.js';
import type {
  ModelInput,
  OpenCorpusMeansOptions,
  OpenDecomposeOptions,
  OpenedModel,
  OpenModelOptions,
} from './openedModel.js';
import { layersIn, ownLayers } from './ownLayers.js';
import { FamilyUnknown, type Layout, recognized } from './recognize.js';
import { type EncoderParts, gone, resident } from './resident.js';
import type { Sentence } from './sentence.js';
import { counted, filesOf, jsonOf, type Slices, type Source } from './slices.js';
import { headsOf, nameIn, type Opened, refuseMisread } from './tensors.js';

/** Texts are cut whole, so very long ones are refused. */
const longestText = 100_000;

/** How many pieces of a sentence a window of the default corpus has. */
const windowOf = 30;

/** What the methods share: the model as far as it is known, and how to complete it. */
interface Parts extends Omit<Opened, 'heads' | 'epsilon'> {
  readonly heads: number | undefined;
  readonly epsilon: number | undefined;
  readonly layers: number;
  /** Throws where nothing says how many heads there are, or ε. */
  complete(): Opened;
  /** The whole module. Throws Error where the model was opened over the small one. */
  whole(): Superpose;
}

/**
 * Opens a model: in Node by the path of a .safetensors file, an index of shards or a folder; in a browser by
 * files that the reader chose. Nothing is uploaded, and only the parts that are needed are read. `superpose`
 * must be of the whole module to run layers. A file that cannot be read as a model is a RangeError that says why.
 */
export async function openModel(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  check.object('superpose', superpose);
  check.object('options', options);
  const { files, named } = await filesOf(source);
  const checkpoint = await checkpointOf(superpose, files, named, options);
  const config = configOf(await jsonOf(files, 'config.json'));
  const layout = layoutOf(checkpoint, config, options);
  const { heads, epsilon } = told(layout, config, options);
  const parts: Parts = {
    superpose,
    checkpoint,
    layout,
    config,
    heads,
    epsilon,
    layers: layersIn({ checkpoint, layout }),
    complete() {
      if (heads === undefined) missing('heads', 'how many heads its layers have');
      if (epsilon === undefined) missing('epsilon', 'the ε of its norms');
      return { superpose, checkpoint, layout, config, heads, epsilon };
    },
    whole() {
      const found = superpose as Superpose;
      if (!found.encoder)
        throw new Error(
          'The layers after the first scores run in the whole module; open the model over load().',
        );
      return found;
    },
  };
  refuseMisread(parts);
  return modelOver(parts, inputsOf(layout, files));
}

type Inputs = ReturnType<typeof inputsOf>;

/** How texts and ids become sentences. */
function inputsOf({ facts, vocabulary, positions, padding }: Layout, files: ReadonlyMap<string, Slices>) {
  let tokenizer: Promise<Tokenizer> | undefined;
  const cutter = () => {
    tokenizer ??= tokenizerIn(files);
    tokenizer.catch(() => {
      tokenizer = undefined;
    });
    return tokenizer;
  };
  const sentenceOf = ({ ids: given, tokens, dropped = 0 }: Partial<Sentence>): Sentence => {
    const ids = check.integers('ids', given, vocabulary - 1);
    if (ids.length === 0 || ids.length > (positions || Infinity))
      check.refuseCount(
        'A sentence',
        positions ? `from 1 to ${positions} tokens` : 'at least 1 token',
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
  const tokenize = async (text: string, most = positions || Infinity): Promise<Sentence> => {
    if (typeof text !== 'string') check.refuse('The text', 'a string', text, false);
    if (text.length > longestText)
      check.refuseCount('The text', `at most ${longestText} characters`, text.length);
    if (most !== Infinity) check.integer('most', most, 2, positions || 2 ** 31);
    const { ids, tokens } = (await cutter()).cut(text);
    const dropped = Math.max(0, ids.length - most);
    if (dropped === 0) return { ids, tokens, dropped };
    // The marker that ends a sentence stays last: the model was trained that way.
    const { after } = facts.markers;
    const cut = <T>(all: T[]) => [...all.slice(0, most - after), ...(after ? all.slice(-1) : [])];
    return { ids: cut(ids), tokens: cut(tokens), dropped };
  };
  return {
    readsText: files.has('tokenizer.json'),
    tokenize,
    async pieces(ids: readonly number[]): Promise<string[]> {
      check.integers('ids', ids, vocabulary - 1);
      return files.has('tokenizer.json') ? (await cutter()).pieces(ids) : ids.map(String);
    },
    async read(input: ModelInput): Promise<Sentence> {
      if (typeof input === 'string') return sentenceOf(await tokenize(input));
      check.object('input', input);
      if (!('ids' in input)) check.refuse('input', 'a text or an object with ids', input, false);
      return sentenceOf(input);
    },
  };
}

type FirstLayer<P extends Precision> = Awaited<ReturnType<typeof firstLayerOf<P>>>;

/** What is kept until delete(); a call keeps to what was held when it was made. */
function heldOf(parts: Parts) {
  const { layout, layers } = parts;
  const first = new Map<Precision, Promise<FirstLayer<Precision>>>();
  let run: Promise<LayeredFunctions> | undefined;
  let own: EncoderParts | undefined;
  const partsOf = () => {
    own ??= ownLayers(parts.complete(), parts.whole());
    return own;
  };
  const kept = resident(partsOf);
  let deleted = false;
  const load = async () => {
    const opened = parts.complete();
    const whole = parts.whole();
    const { layeredModel } = await import('./layers.js');
    // Throws where the file lacks what the first layer needs.
    partsOf();
    const { d_head, keyHeads } = headsOf(opened);
    return layeredModel({
      superpose: whole,
      resident: kept,
      d_model: layout.d_model,
      summands: summandNames(layout),
      heads: opened.heads,
      projections: { query: opened.heads * d_head, key: keyHeads * d_head },
      norm: layout.facts.finalNorm ? 'pre' : 'post',
      layers,
      apart: layout.apart,
      ahead: false,
      rows: (sentence, precision, signal) => rowsOf(parts, sentence.ids, precision, counted({ signal })),
      changed: (sentence, change, precision) => changedOf(parts, sentence, change, precision),
    });
  };
  return {
    layered() {
      run ??= load().catch((error: unknown) => {
        run = undefined;
        throw error;
      });
      return run;
    },
    /** The first layer's maps, which are read once. */
    first<P extends Precision>(
      precision: P,
      watch: Parameters<typeof firstLayerOf>[2],
    ): Promise<FirstLayer<P>> {
      const found = first.get(precision) ?? firstLayerOf(parts.complete(), precision, watch);
      first.set(precision, found);
      found.catch(() => first.delete(precision));
      return found as Promise<FirstLayer<P>>;
    },
    /** Throws where the model was deleted since. */
    refuseDeleted() {
      if (deleted) throw gone();
    },
    delete() {
      deleted = true;
      kept.delete();
    },
  };
}

async function changedOf<P extends Precision>(
  parts: Parts,
  { ids }: Sentence,
  change: Parameters<OpenedModel['changed']>[1],
  precision: P,
): Promise<OwnRows<FloatsOf<P>>> {
  const { checkpoint, layout } = parts;
  const { position } = layout.tables;
  if (!position)
    throw new RangeError(
      `${layout.facts.name} adds no positions to its tokens, so there are none to change.`,
    );
  const { firstPosition = 0 } = layout.facts;
  const [rows, { changedRows }] = await Promise.all([
    rowsOf(parts, ids, precision, counted({})),
    import('./layers.js'),
  ]);
  const places = (list: readonly number[]) =>
    checkpoint.rows(
      position,
      list.map((place) => place + firstPosition),
      precision,
      counted({}),
    );
  const [of, at] = [rows.token, rows.position] as [Table<FloatsOf<P>>, Table<FloatsOf<P>>];
  return { ...rows, ...(await changedRows(of, at, change, places, layout.positions, layout.apart.length)) };
}

function modelOver(parts: Parts, inputs: Inputs): OpenedModel {
  const { checkpoint, layout, heads, epsilon, layers } = parts;
  const { facts } = layout;
  let held = heldOf(parts);
  return {
    family: layout.family,
    name: facts.name,
    about: facts.about,
    d_model: layout.d_model,
    heads,
    epsilon,
    vocabulary: layout.vocabulary,
    positions: layout.positions,
    summands: summandNames(layout),
    causal: facts.causal,
    apart: layout.apart,
    markers: facts.markers,
    readsText: inputs.readsText,
    bytes: checkpoint.size,
    layers,
    digest: () =>
      checkpoint.digest((['query', 'key'] as const).map((part) => `${nameIn(layout, 0, part)}.weight`)),
    tokenize: inputs.tokenize,
    pieces: inputs.pieces,
    report: async (asked = {}) => modelReport({ ...parts, superpose: parts.whole() }, asked),
    decompose: (input, options = {}) => decomposed(parts, inputs, held, input, options),
    async forward(input, options = {}) {
      const run = await held.layered();
      check.object('options', options);
      return run.forward(await inputs.read(input), options);
    },
    async withoutPositions(input, options) {
      const run = await held.layered();
      return run.withoutPositions(await inputs.read(input), options);
    },
    async corpusMeans(options = {}) {
      const run = await held.layered();
      check.object('options', options);
      const cut = () => corpusIn(layout, inputs, options.sentences);
      return run.corpusMeans(cut, { scores: layout.tables.position === undefined, ...options });
    },
    async rows<P extends Precision = 'float64'>(input: ModelInput, precision?: P) {
      const kind = check.precision(precision ?? 'float64') as P;
      return rowsOf(parts, (await inputs.read(input)).ids, kind, counted({}));
    },
    async changed<P extends Precision = 'float64'>(
      input: ModelInput,
      change: Parameters<OpenedModel['changed']>[1],
      precision?: P,
    ) {
      const kind = check.precision(precision ?? 'float64') as P;
      return changedOf(parts, await inputs.read(input), change, kind);
    },
    delete() {
      held.delete();
      held = heldOf(parts);
    },
  };
}

async function decomposed<P extends Precision = 'float64'>(
  parts: Parts,
  inputs: Inputs,
  held: ReturnType<typeof heldOf>,
  input: ModelInput,
  { precision, layer, way, means, ...others }: OpenDecomposeOptions<P>,
): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }> {
  const kind = check.precision(precision ?? 'float64') as P;
  const adds = parts.layout.tables.position !== undefined;
  if (layer === undefined && way === undefined && adds) {
    const sentence = await inputs.read(input);
    const opened = parts.complete();
    const first = () => held.first(kind, counted(others));
    const scores = await firstScores(opened, first, sentence, kind, others);
    held.refuseDeleted();
    return { ...scores, sentence };
  }
  const run = await held.layered();
  const by = way ?? (adds ? undefined : 'mechanism');
  return run.decompose<P>(await inputs.read(input), {
    ...others,
    precision: kind,
    layer: layer ?? 0,
    ...(by !== undefined && { way: by }),
    ...(means && { means }),
  });
}

async function corpusIn(
  { facts, positions }: Layout,
  { tokenize, read }: Inputs,
  sentences: OpenCorpusMeansOptions['sentences'],
) {
  const { corpusOf } = await import('./layers.js');
  const all = sentences ?? (await import('./corpus.js')).corpusSentences;
  if (!Array.isArray(all)) check.refuse('sentences', 'a list of texts', all, false);
  const ids: (readonly number[])[] = [];
  for (const one of all)
    ids.push(typeof one === 'string' ? (await tokenize(one)).ids : (await read(one)).ids);
  const { before, after } = facts.markers;
  const most = (positions || Infinity) - before - after;
  return corpusOf(ids, (one) => one, { positions: Math.min(windowOf, most), before, after });
}

function missing(option: string, what: string): never {
  throw new RangeError(
    `A .safetensors file does not say ${what}. Put the model’s config.json beside it, or give the option ${option}.`,
  );
}

/** The members of config.json; none where there is no such file. */
function configOf(found: unknown): Config {
  if (found === undefined) return {};
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    check.refuse('config.json', 'an object', found, false);
  return found as Config;
}

function layoutOf({ tensors, missing }: Checkpoint, config: Config, { family }: OpenModelOptions): Layout {
  try {
    return recognized(tensors, config, family);
  } catch (error) {
    if (missing.length === 0 || !(error instanceof RangeError) || error instanceof FamilyUnknown) throw error;
    const names = missing.slice(0, 5).join(', ');
    throw new RangeError(`${error.message} These shards of the index are not there: ${names}.`);
  }
}

/** Heads and ε: from the caller, or else from config.json. */
function told({ facts, d_model, tables }: Layout, config: Config, options: OpenModelOptions) {
  const { sizes, epsilon: ofFamily } = facts;
  const heads = options.heads ?? config[sizes.heads];
  const where = options.heads === undefined ? `${sizes.heads} in config.json` : 'heads';
  if (heads !== undefined) {
    check.integer(where, heads, 1);
    // Where queries turn, heads may be wider or narrower than that.
    if (tables.position && d_model % (heads as number) !== 0)
      throw new RangeError(`${where} must divide the model’s width ${d_model}; ${heads} does not.`);
  }
  const epsilon = options.epsilon ?? (typeof ofFamily === 'number' ? ofFamily : config[ofFamily]);
  if (epsilon !== undefined)
    check.number(options.epsilon === undefined ? `${ofFamily} in config.json` : 'epsilon', epsilon, 0);
  return { heads: heads as number | undefined, epsilon: epsilon as number | undefined };
}

type Tokenizer = ReturnType<typeof import('./tokenizer.js').tokenizerOf>;

async function tokenizerIn(files: ReadonlyMap<string, Slices>): Promise<Tokenizer> {
  const file = await jsonOf(files, 'tokenizer.json');
  if (file === undefined)
    throw new RangeError(
      'There is no tokenizer.json beside the weights, which a text needs. Put it there, or give ids: { ids: [101, 2023, 102] }.',
    );
  const { tokenizerOf } = await import('./tokenizer.js');
  try {
    const settings = (await jsonOf(files, 'tokenizer_config.json')) ?? {};
    return tokenizerOf(file as object, settings as object);
  } catch (cause) {
    throw new RangeError('The tokenizer.json beside the weights is none that can be read; give ids.', {
      cause,
    });
  }
}
