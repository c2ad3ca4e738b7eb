// A reader's own model: opened where it is, recognized by its header, and its scores taken apart. For the first scores
// only parts of the file are read: the header, the first layer's queries and keys, and the rows of the tables that are
// needed.
import * as check from '../check.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Floats, FloatsOf, Precision, Table } from '../table.js';
import type { Superpose } from '../whole.js';
import type { PositionChange } from './changedPositions.js';
import { type Checkpoint, checkpointOf } from './checkpoint.js';
import type { CorpusMeans, CorpusMeansOptions } from './corpusMeans.js';
import type { EncoderDecomposeInput, EncoderForward, ForwardInput, Way } from './encoder.js';
import { FamilyUnknown, recognized } from './families.js';
import {
  besideConstant,
  decomposeFirstLayer,
  type FirstLayerInput,
  firstLayer,
  headsOf,
  type Opened,
  summandNames,
  summandsOf,
  tensorsOf,
} from './firstLayer.js';
import { type Config, membersOf } from './headerTensors.js';
import type { PositionsTaken, TakenOptions } from './interventions.js';
import type { LayeredFunctions } from './layeredModel.js';
import { type FamilyId, type Layout, type PositionMechanism, placeOfNorms } from './layout.js';
import { type ModelReport, modelReport, type ReportOptions } from './modelReport.js';
import { layersIn, ownLayers } from './ownLayers.js';
import {
  checkedPicture,
  type Picture,
  type PictureInput,
  type PictureRules,
  patchesOf,
  pictureRules,
} from './pictures.js';
import { resident } from './resident.js';
import type { Sentence } from './sentence.js';
import { counted, filesOf, jsonOf, type Slices, type SlicesWatch, type Source } from './slices.js';

export interface OpenModelOptions extends SlicesWatch {
  /**
   * The family of the model, where no config.json with a model_type says it. Names of tensors do not: one that is
   * taken for another gives wrong numbers.
   */
  family?: FamilyId;
  /**
   * Which model of a shared file: CLIP’s or SigLIP’s text (default) or vision, Whisper’s decoder (default) or encoder.
   */
  part?: FamilyId;
  /** Heads of the first layer, in case there is no config.json to give them. */
  heads?: number;
  /** ε of the norms, in the same case. */
  epsilon?: number;
}

/** The input whose scores are taken apart. */
export type ModelInput =
  /** A text, which needs tokenizer.json beside the weights. */
  | string
  /** Vocabulary indices, including the special tokens that the model expects. */
  | { readonly ids: readonly number[]; readonly tokens?: readonly string[] }
  /** RGBA pixels of the size the model expects. */
  | { readonly picture: Picture }
  /** Normalized pixels [patches, 3 · p · p]: patches row by row, each colour by colour. */
  | { readonly patches: Table }
  /** Log-mel features of sound [frames, bins], as OpenedModel.frames has them. */
  | { readonly frames: Table };

export interface OpenDecomposeOptions<P extends Precision = 'float64'>
  extends GaugeOptions<FloatsOf<P>>,
    SlicesWatch {
  /** Default float64. */
  precision?: P;
  /** Which heads to return, in this order. Default all. */
  only?: readonly number[];
  /** Parts to add up: see DecomposeInput. */
  groups?: Record<string, readonly string[]>;
  /** The layer whose scores to take apart, from 0. Default 0. Others need a model whose layers can be run. */
  layer?: number;
  /** See EncoderForward.decompose(). Default `direct`; `mechanism` for a model without a table of positions. */
  way?: Way;
  /** From corpusMeans(); needed for the ways `mean` and `mechanism`. */
  means?: Pick<CorpusMeans, 'states' | 'scores'>;
}

/** Rows [n, e] to add up, by name: one table for each of `summands`. */
export type OwnRows<A extends Floats = Floats> = Readonly<Record<string, Table<A>>>;

export interface OpenCorpusMeansOptions extends Omit<CorpusMeansOptions, 'sentences'> {
  /**
   * Plain sentences, or vocabulary indices including the tokens that every sentence of the model begins and
   * ends with. Default corpusSentences.
   */
  sentences?: readonly (string | { readonly ids: readonly number[] })[];
  /** For a model of pictures or sound, in place of sentences: at least four, each a window. */
  inputs?: readonly (PictureInput | { readonly frames: Table })[];
}

export interface OpenForwardOptions<P extends Precision = 'float32'>
  extends ForwardInput<FloatsOf<P>>,
    SlicesWatch {
  /** Default float32. */
  precision?: P;
  /** Rows in place of the input’s own, from changed(). */
  summands?: OwnRows<FloatsOf<P>>;
}

export interface OpenedModel {
  /** The family of the opened model. */
  readonly family: FamilyId;
  /** Its usual name. */
  readonly name: string;
  /** Which of such a model’s scores are read, in a sentence. */
  readonly about: string;
  /** The families of all models in the file. */
  readonly parts: readonly FamilyId[];
  /** Width of what W_Q reads. */
  readonly d_model: number;
  /**
   * Heads of the first layer; undefined where neither the header nor config.json nor the caller gives them.
   */
  readonly heads: number | undefined;
  /** ε of the norms; undefined likewise. */
  readonly epsilon: number | undefined;
  /** Rows of the token table; 0 for a model of pictures or sound. */
  readonly vocabulary: number;
  /**
   * How many tokens or patches it takes: those of its table of positions, else what config.json says; 0 where nothing
   * says it.
   */
  readonly positions: number;
  /** The tables that the input sums: the parts of its scores except `constant` and a bias. May be empty. */
  readonly summands: readonly string[];
  /** What tells its scores where tokens stand: a table that is added, or what there is in place of one; in MPNet both. */
  readonly mechanisms: readonly PositionMechanism[];
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** Softmax is of cap tanh(score / cap), and scores are taken apart before that. Undefined without a cap. */
  readonly cap: number | undefined;
  /** Rows whose token the family fixes: see GaugeOptions. */
  readonly apart: readonly number[];
  /** How many tokens every sentence begins and ends with alike. */
  readonly markers: { readonly before: number; readonly after: number };
  /** Whether a tokenizer.json is beside the weights, so that a text can be given. */
  readonly readsText: boolean;
  /** For an image model: the side a picture must have, and the normalization of pixels from 0 to 1. */
  readonly picture: { side: number; mean: readonly number[]; deviation: readonly number[] } | undefined;
  /** For a model of sound: the extents of its input, two frames for each position. */
  readonly frames: { readonly rows: number; readonly columns: number } | undefined;
  /** Bytes of the model’s files, few of which are read. */
  readonly bytes: number;
  /** How many layers can be run: all of them in some families (see modelFamilies), 0 in others. */
  readonly layers: number;
  /**
   * Sixteen hexadecimal digits that another file shares only by chance: a digest of the headers, the sizes,
   * and the first layer’s queries and keys, up to a million bytes of each.
   */
  digest(): Promise<string>;
  /** Cuts a text with the tokenizer.json beside the weights. Throws RangeError where there is none. */
  tokenize(text: string): Promise<Sentence>;
  /** The tables’ norms, cosines, directions and Gram matrix. */
  report(options?: ReportOptions): Promise<ModelReport>;
  /**
   * The first layer’s scores taken apart. The parts are the summands of the family and `constant`: token,
   * position and token_type; patch, position and class; frame and position. A relative bias is one more, `relative`. The default
   * gauge is `canonical`; see Gauge. Exact up to rounding. That the terms add up does not prove that the file
   * was read as its model reads it. A model without a table of positions is taken apart by `mechanism`, in its first
   * layer too: see EncoderForward.decompose(). Throws RangeError, TypeError.
   */
  decompose<P extends Precision = 'float64'>(
    input: ModelInput,
    options?: OpenDecomposeOptions<P>,
  ): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }>;
  /**
   * Runs the model on an input: states, scores and attention of each layer, and the embedding, a mean over
   * tokens. The result is valid until the next forward() or decompose() of a layer. The layers stay in the
   * module’s memory until delete(). Throws RangeError, TypeError.
   */
  forward<P extends Precision = 'float32'>(
    input: ModelInput,
    options?: OpenForwardOptions<P>,
  ): Promise<EncoderForward<FloatsOf<P>> & { sentence: Sentence }>;
  /**
   * The mean decomposition of every state over windows of a corpus: 30 pieces (fewer if the model has fewer
   * positions), between what all sentences begin and end with; or over pictures. Takes seconds to minutes; throws as
   * forward() does, and RangeError for fewer than four windows. Of a model without a table of positions, means of queries
   * and keys are gathered too unless `scores` is false.
   */
  corpusMeans(options?: OpenCorpusMeansOptions): Promise<CorpusMeans>;
  /**
   * What positions are for: the embedding when they are taken from values, from attention, or from everything. Throws as
   * forward() does.
   */
  withoutPositions(input: ModelInput, options?: TakenOptions): Promise<PositionsTaken>;
  /** The rows that an input sums, [n, e] each, by name. Throws RangeError, TypeError. */
  rows<P extends Precision = 'float64'>(input: ModelInput, precision?: P): Promise<OwnRows<FloatsOf<P>>>;
  /**
   * The rows of an input after its positions or word order are changed, for forward(). Positions count from
   * 0, whatever row of the table the model begins with. A picture or a sound takes all positions, so that `mean: 'sentence'` and
   * `order` alone can change it; rows that are no patches keep their places. Throws RangeError, TypeError.
   */
  changed<P extends Precision = 'float64'>(
    input: ModelInput,
    change: PositionChange,
    precision?: P,
  ): Promise<OwnRows<FloatsOf<P>>>;
  /** Frees the layers that forward() and decompose() keep; the next call reads them again. */
  delete(): void;
}

/**
 * Opens a model: in Node by the path of a .safetensors file, an index of shards or a folder; in a browser by
 * files that the reader chose. Nothing is uploaded, and only the parts that are needed are read. `superpose`
 * must have both modules. A file that cannot be read as a model is a RangeError that says why.
 */
export async function openModel(
  superpose: Superpose,
  source: Source,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  check.object('superpose', superpose);
  check.object('options', options);
  const { files, named } = await filesOf(source);
  const checkpoint = await checkpointOf(superpose, files, named, options);
  const config = configOf(await jsonOf(files, 'config.json'));
  const layouts = await layoutsOf(checkpoint, config, options.family);
  const parts = layouts.map(({ family }) => family);
  const part = options.part === undefined ? options.family : check.oneOf('part', options.part, parts);
  const layout = layouts.find(({ family }) => family === part) ?? (layouts[0] as Layout);
  const { heads, epsilon } = told(layout, config, options);
  const rules = layout.patch && pictureRules(layout.patch, await jsonOf(files, 'preprocessor_config.json'));
  const positions =
    layout.longest ??
    layout.positions - (layout.patch ? layout.patch.labels.length - layout.patch.unplaced : 0);
  const { sound } = layout;
  const seen = sound ? 'sound' : 'picture';
  const frames = sound && { rows: 2 * positions, columns: sound.bins };
  let tokenizer: Promise<Tokenizer> | undefined;

  const cutter = () => {
    tokenizer ??= tokenizerIn(files);
    tokenizer.catch(() => {
      tokenizer = undefined;
    });
    return tokenizer;
  };
  const tokenize = async (text: string): Promise<Sentence> => {
    if (typeof text !== 'string') check.refuse('The text', 'a string', text, false);
    if (layout.kind !== 'tokens')
      throw new RangeError(
        `${layout.name} reads no text; give ${frames ? 'frames' : 'a picture or its patches'}.`,
      );
    return { ...(await cutter()).cut(text), dropped: 0 };
  };

  const sentenceOf = async (input: { ids: readonly number[]; tokens?: readonly string[] }) => {
    const ids = check.integers('ids', input.ids, layout.vocabulary - 1);
    if (ids.length === 0 || ids.length > (positions || Infinity))
      check.refuseCount(
        'A sentence',
        positions ? `from 1 to ${positions} tokens` : 'at least 1 token',
        ids.length,
      );
    if (layout.padding !== undefined && ids.includes(layout.padding))
      throw new RangeError(
        `ids must have no padding, which has the number ${layout.padding} in ${layout.name} and no position; leave it out.`,
      );
    const tokens = input.tokens ?? ids.map(String);
    if (tokens.length !== ids.length) check.refuseCount('tokens', `${ids.length} texts`, tokens.length);
    return { ids, tokens, dropped: 0 };
  };

  const filled = ({ ids, tokens }: Sentence) => {
    const { filler, positions } = layout;
    const missing = Array<number>(Math.max(0, positions - ids.length));
    return filler === undefined
      ? { ids, tokens }
      : {
          ids: [...ids, ...missing.fill(filler)],
          tokens: [...tokens, ...missing.fill(0).map(() => '[padding]')],
        };
  };

  /** What is not in its sentence, where an input is no text. */
  const behind = new WeakMap<Sentence, () => FirstLayerInput>();
  const givenOf = (sentence: Sentence): FirstLayerInput => behind.get(sentence)?.() ?? { ids: sentence.ids };
  const standIn = (tokens: string[], given: () => FirstLayerInput): Sentence => {
    const sentence = { ids: tokens.map((_, row) => row), tokens, dropped: 0 };
    behind.set(sentence, given);
    return sentence;
  };
  const ofPicture = (input: PictureInput, { grid, ...rules }: PictureRules) => {
    const patches = Array.from({ length: grid ** 2 }, (_, at) => `${Math.floor(at / grid)},${at % grid}`);
    return standIn([...(layout.patch?.labels ?? []), ...patches], () => ({
      patches: patchesOf(input, { grid, ...rules }),
    }));
  };

  const inputOf = async (input: ModelInput): Promise<Sentence> => {
    if (frames && typeof input !== 'string') {
      const { frames: given } = Object(input) as { frames?: Table };
      if (given === undefined) check.refuse('input', 'an object with frames', input, false);
      check.table('frames', given, frames);
      return standIn(Array.from(Array(positions).keys(), String), () => ({ frames: given }));
    }
    if (rules) return ofPicture(checkedPicture(input, rules), rules);
    if (typeof input === 'string') return sentenceOf(filled(await tokenize(input)));
    check.object('input', input);
    if (!('ids' in input)) check.refuse('input', 'a text or an object with ids', input, false);
    return sentenceOf(input);
  };

  const layers = layersIn(checkpoint, layout);
  const markers = { before: layout.apart.length, after: layout.ended ? 1 : 0 };
  /** The model with heads and ε, which must be known from here on. */
  const complete = (): Opened => {
    if (heads === undefined) missing('heads', 'how many heads the first layer has');
    if (epsilon === undefined) missing('epsilon', 'the ε of its norms');
    return { superpose, checkpoint, layout, heads, epsilon };
  };
  const rowsOf = async <P extends Precision>(
    sentence: Sentence,
    precision: P,
    signal?: AbortSignal | undefined,
  ): Promise<OwnRows<FloatsOf<P>>> => {
    const watch = counted({ signal });
    const of = tensorsOf(checkpoint, precision, watch);
    return summandsOf({ superpose, checkpoint, layout }, givenOf(sentence), precision, of, watch);
  };

  /** Parts that every row has one of, and what is added to them. */
  const [content = '', position = ''] = summandNames(layout);
  const changed = async <P extends Precision>(
    sentence: Sentence,
    change: PositionChange,
    kind: P,
  ): Promise<OwnRows<FloatsOf<P>>> => {
    if (layout.relative)
      throw new RangeError(`${layout.name} adds no positions to its tokens, so there are none to change.`);
    const first = layout.apart.length;
    if (layout.kind !== 'tokens') {
      check.object('change', change);
      const order = 'order' in change && Array.isArray(change.order) ? change.order : [];
      if (order.slice(0, first).some((from, row) => from !== row))
        throw new RangeError(`order must leave the first ${first} rows in place: they are no patches.`);
      if (!('order' in change) && !('mean' in change && change.mean === 'sentence'))
        throw new RangeError(
          `A ${seen} takes all positions of ${layout.name}: give { mean: 'sentence' } or { order }.`,
        );
    }
    const rows = await rowsOf(sentence, kind);
    const [of, at] = [rows[content], rows[position]] as [Table<FloatsOf<P>>, Table<FloatsOf<P>>];
    const places = (list: readonly number[]) =>
      checkpoint.rows(
        layout.position as string,
        list.map((place) => place + layout.firstPosition),
        kind,
        counted({}),
      );
    const { changedRows } = await import('./layers.js');
    const found = await changedRows(of, at, change, places, layout.positions, first);
    return { ...rows, [content]: found.token, [position]: found.position };
  };
  /** Rows in place of the sentence’s own; what a picture’s patches have in common is no summand, so it is not among them. */
  const given = async <P extends Precision>(
    sentence: Sentence,
    kind: P,
    rows: OwnRows<FloatsOf<P>> | undefined,
    signal: AbortSignal | undefined,
  ) => (behind.has(sentence) ? { ...(await rowsOf(sentence, kind, signal)), ...rows } : rows);
  const shown = [...summandNames(layout), 'attention', 'mlp', 'constant'];
  /** A question about parts of this model. */
  const asked = <A extends Floats, T extends Pick<EncoderDecomposeInput<A>, 'way' | 'groups' | 'gauge'>>(
    wanted: T,
  ): T =>
    layout.patch && wanted && wanted.way !== 'mean' ? besideConstant<A, T>(layout, shown, wanted) : wanted;

  /** What is held in the module’s memory until delete(); a call keeps to what was held when it was made. */
  const hold = () => {
    const first = resident(() => firstLayer(complete()));
    const all = resident(() => ownLayers(complete(), config));
    let run: Promise<LayeredFunctions> | undefined;
    /** Loaded on demand, as few readers need this code. */
    const load = async (): Promise<LayeredFunctions> => {
      // Throws where the family has none that can be run, or the file lacks what the first needs.
      if (layers === 0) ownLayers(complete(), config);
      const whole = complete();
      const { heads } = whole;
      const { d_head, keyHeads } = layout.relative ? headsOf(whole) : { d_head: 0, keyHeads: 0 };
      const projections = layout.relative && { query: heads * d_head, key: keyHeads * d_head };
      const { layeredModel } = await import('./layers.js');
      const { d_model, apart } = layout;
      const norm = placeOfNorms(layout);
      const sizes = {
        d_model,
        summands: model.summands,
        heads,
        norm,
        layers,
        apart,
        ...(projections && { projections }),
      };
      return layeredModel({ superpose, resident: all, ...sizes, ahead: false, rows: rowsOf, changed });
    };
    return {
      first,
      layered() {
        run ??= load().catch((error: unknown) => {
          run = undefined;
          throw error;
        });
        return run;
      },
      delete() {
        first.delete();
        all.delete();
      },
    };
  };
  let held = hold();

  const model: OpenedModel = {
    family: layout.family,
    name: layout.name,
    about: layout.about,
    parts,
    d_model: layout.d_model,
    heads,
    epsilon,
    vocabulary: layout.vocabulary,
    positions,
    summands: summandNames(layout),
    mechanisms: [
      layout.position ? ('table' as const) : [],
      layout.relative ?? (layout.relativeBias ? ('bias' as const) : []),
    ].flat(),
    causal: layout.causal,
    cap: layout.layer?.cap,
    apart: layout.apart,
    markers,
    readsText: layout.kind === 'tokens' && files.has('tokenizer.json'),
    frames,
    picture: rules && { side: rules.side, mean: rules.mean, deviation: rules.deviation },
    bytes: checkpoint.size,
    layers,
    digest: () =>
      checkpoint.digest([layout.query, layout.key].flatMap((names) => (names ? [names.weight] : []))),
    tokenize,
    report: (asked = {}) => modelReport({ superpose, checkpoint, layout, heads }, asked),
    async decompose<P extends Precision = 'float64'>(
      input: ModelInput,
      { precision, layer, way, means, ...others }: OpenDecomposeOptions<P> = {},
    ) {
      const kind = check.precision(precision ?? 'float64') as P;
      const { first, layered } = held;
      if (layer || way !== undefined || layout.relative) {
        const run = await layered();
        const sentence = await inputOf(input);
        const summands = await given(sentence, kind, undefined, others.signal);
        const by = way ?? (layout.relative && 'mechanism');
        return run.decompose<P>(sentence, {
          precision: kind,
          layer: layer ?? 0,
          ...(by !== undefined && { way: by }),
          ...(means && { means }),
          ...(summands && { summands }),
          ...asked({ ...others, ...(way !== undefined && { way }) }),
        });
      }
      const sentence = await inputOf(input);
      const own = givenOf(sentence);
      const scores = await decomposeFirstLayer({ superpose, checkpoint, layout }, first, own, kind, others);
      return { ...scores, sentence };
    },
    async forward<P extends Precision = 'float32'>(input: ModelInput, options: OpenForwardOptions<P> = {}) {
      const run = await held.layered();
      const sentence = await inputOf(input);
      check.object('options', options);
      const kind = check.precision(options.precision ?? 'float32') as P;
      const summands = await given(sentence, kind, options.summands, options.signal);
      const found = await run.forward<P>(sentence, { ...options, ...(summands && { summands }) });
      const { decompose, parts, headOutputs } = found;
      return Object.assign(found, {
        decompose: (wanted: Parameters<typeof decompose>[0]) => decompose(asked(wanted)),
        parts: (wanted: Parameters<typeof parts>[0]) => parts(asked(wanted)),
        headOutputs: (wanted: Parameters<typeof headOutputs>[0]) => headOutputs(asked(wanted)),
      });
    },
    async withoutPositions(input, options) {
      const run = await held.layered();
      return run.withoutPositions(await inputOf(input), options);
    },
    async corpusMeans(options: OpenCorpusMeansOptions = {}) {
      const run = await held.layered();
      check.object('options', options);
      const { corpusOf, corpusOfWhole } = await import('./layers.js');
      const cut = async () => {
        if (layout.kind !== 'tokens') {
          const all = options.inputs;
          if (!Array.isArray(all) || all.length < 4)
            check.refuse('inputs', `a list of at least four ${seen}s`, all, false);
          const windows: Sentence[] = [];
          for (const one of all) windows.push(await inputOf(one));
          return corpusOfWhole(windows, (windows[0] as Sentence).ids.length - markers.before, markers.before);
        }
        const all = options.sentences ?? (await import('./corpus.js')).corpusSentences;
        if (!Array.isArray(all)) check.refuse('sentences', 'a list of texts', all, false);
        const ids: (readonly number[])[] = [];
        for (const one of all)
          ids.push(typeof one === 'string' ? (await tokenize(one)).ids : (await sentenceOf(one)).ids);
        const most = (positions || Infinity) - markers.before - markers.after;
        return corpusOf(ids, (one) => one, { positions: Math.min(30, most), ...markers });
      };
      return run.corpusMeans(cut, { scores: layout.relative !== undefined, ...options });
    },
    async rows<P extends Precision = 'float64'>(input: ModelInput, precision?: P) {
      const kind = check.precision(precision ?? 'float64') as P;
      const rows = await rowsOf(await inputOf(input), kind);
      return Object.fromEntries(summandNames(layout).map((name) => [name, rows[name] as Table<FloatsOf<P>>]));
    },
    async changed<P extends Precision = 'float64'>(
      input: ModelInput,
      change: PositionChange,
      precision?: P,
    ): Promise<OwnRows<FloatsOf<P>>> {
      const kind = check.precision(precision ?? 'float64') as P;
      return changed(await inputOf(input), change, kind);
    },
    delete() {
      held.delete();
      held = hold();
    },
  };
  return model;
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

async function layoutsOf(
  { tensors, missing }: Checkpoint,
  config: Config,
  family: FamilyId | undefined,
): Promise<Layout[]> {
  try {
    return await recognized(tensors, config, family);
  } catch (error) {
    if (missing.length === 0 || !(error instanceof RangeError) || error instanceof FamilyUnknown) throw error;
    const names = missing.slice(0, 5).join(', ');
    throw new RangeError(`${error.message} These shards of the index are not there: ${names}.`);
  }
}

/** Heads and ε: from the caller, else the header, else config.json. */
function told(layout: Layout, config: Config, options: OpenModelOptions) {
  const from = membersOf(config, layout.config.within);
  const named = (names: readonly string[]) => names.find((name) => from[name] !== undefined);
  const headsName = named(layout.config.heads);
  const epsilonName = named(layout.config.epsilon);
  const usual = config.model_type === undefined ? undefined : layout.usualHeads;
  const ofFile = headsName === undefined ? (layout.heads ?? usual) : from[headsName];
  const heads = options.heads ?? ofFile;
  const where = options.heads === undefined && headsName ? `${headsName} in config.json` : 'heads';
  // Of relative families heads may be wider or narrower than that.
  const width = layout.relative ? undefined : layout.d_model;
  if (heads !== undefined) {
    check.integer(where, heads, 1);
    if (width !== undefined && width % (heads as number) !== 0)
      throw new RangeError(`${where} must divide the model’s width ${width}; ${heads} does not.`);
    if (layout.heads !== undefined && heads !== layout.heads)
      throw new RangeError(`${where} must be ${layout.heads}, as the file has it; it is ${heads}.`);
  }
  const epsilon =
    options.epsilon ?? (epsilonName === undefined ? layout.epsilon : (from[epsilonName] as unknown));
  if (epsilon !== undefined)
    check.number(
      options.epsilon === undefined && epsilonName ? `${epsilonName} in config.json` : 'epsilon',
      epsilon,
      0,
    );
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
