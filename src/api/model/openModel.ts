// A reader's own model: opened where it is, recognized by its config.json and header, and its scores taken apart. Only
// what is needed of its file is read.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { Superpose } from '../whole.js';
import { type Checkpoint, checkpointOf } from './checkpoint.js';
import type { Layout } from './families.js';
import type { Config } from './family.js';
import type { Model, Tokenizer } from './firstLayer.js';
import { modelOver, wholeOf } from './modelOver.js';
import type { OpenedModel, OpenModelOptions } from './openedModel.js';
import { recognized } from './recognize.js';
import { filesOf, jsonOf, type Slices, type Source } from './slices.js';
import { layersIn, nameIn, shapeOf } from './tensors.js';
import { shared, watchNames } from './watch.js';

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
  check.reading(superpose);
  check.knownOptions('options', options, openNames);
  return openedFrom(superpose, source, options);
}

const openNames: check.OptionNames<OpenModelOptions> = {
  family: true,
  heads: true,
  epsilon: true,
  rest: true,
  ...watchNames,
};

/** The same; `tokenizerOf` makes a tokenizer of a known tokenizer.json, which is read at once. */
export async function openedFrom(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenModelOptions,
  tokenizerOf?: (file: object) => Tokenizer,
): Promise<OpenedModel> {
  check.reading(superpose);
  check.waiting(options.signal, options.progress);
  const { files, named } = await filesOf(source);
  const tokenizer = shared(() => tokenizerIn(files, tokenizerOf));
  const [checkpoint, found] = await Promise.all([
    checkpointOf(superpose, files, named, options),
    jsonOf(files, 'config.json'),
    tokenizerOf && tokenizer({}),
  ]);
  const config = configOf(found);
  const [file = '', ...others] = checkpoint.files;
  if (others.length === 0 && file.includes('-of-')) (await import('./shards.js')).refuseShard(file);
  const layout = recognized(checkpoint.tensors, config, options.family);
  const { heads, epsilon } = told(layout, config, options);
  refuseMisread(checkpoint, layout);
  const layers = layersIn({ checkpoint, layout });
  const { slidingWindow, aboutWindow } = await turning(layout, config, layers);
  const model: Model = {
    ...{ superpose, checkpoint, layout, config, heads, epsilon },
    tokenizer: () => tokenizer({}),
    ...{ layers, slidingWindow },
    whole: options.rest ?? (async () => superpose as Superpose),
    isSmall: checkpoint.size <= mostOfSmall,
    readsText: files.has('tokenizer.json'),
  };
  const { facts, family, vocabulary } = layout;
  return {
    ...modelOver(model),
    ...{ family, vocabulary, heads, epsilon, readsText: model.readsText },
    ...{ name: facts.name, causal: facts.causal, slidingWindow },
    about: [facts.about, aboutWindow].join(' ').trim(),
    files: checkpoint.files,
    bytes: checkpoint.size,
    digest: () =>
      checkpoint.digest((['query', 'key'] as const).map((part) => `${nameIn(layout, 0, part)}.weight`)),
    async report(asked = {}) {
      check.knownOptions('options', asked, watchNames);
      const [superpose, { modelReport }] = await Promise.all([wholeOf(model), import('./modelReport.js')]);
      return modelReport({ ...model, superpose }, asked);
    },
  };
}

/**
 * What config.json says of a model whose queries and keys turn. Refuses what is not computed here, before layers are read.
 * Pages fetch this for such models alone.
 */
async function turning({ facts }: Layout, config: Config, layers: number) {
  if (!facts.angles) return { slidingWindow: undefined, aboutWindow: '' };
  const [{ anglesIn }, window] = await Promise.all([import('./angles.js'), import('./slidingWindow.js')]);
  anglesIn(config, facts.angles);
  const slidingWindow = window.slidingWindowIn(facts, config, layers);
  return { slidingWindow, aboutWindow: slidingWindow ? window.aboutWindow(slidingWindow) : '' };
}

/** Bytes of the files of a model that is run through all its layers rather than twice. */
const mostOfSmall = 2 ** 26;

/** Refuses a file whose first W_Q or W_K lacks, is misshapen or cannot be decoded; nothing of them is read. */
function refuseMisread({ tensors }: Checkpoint, layout: Layout): void {
  const { facts, d_model: d } = layout;
  const joined = facts.layer.query === facts.layer.value;
  const rows = facts.tables.position ? (joined ? 3 * d : d) : 'rows';
  for (const part of ['query', 'key'] as const) {
    const name = `${nameIn(layout, 0, part)}.weight`;
    shapeOf(tensors, name, facts.transposed ? [d, rows] : [rows, d]);
  }
}

/** The members of config.json; none where there is no such file. */
function configOf(found: unknown): Config {
  if (found === undefined) return {};
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    check.refuse('config.json', 'an object', found, false);
  return found as Config;
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

async function tokenizerIn(
  files: ReadonlyMap<string, Slices>,
  tokenizerOf?: (file: object) => Tokenizer,
): Promise<Tokenizer> {
  const file = await jsonOf(files, 'tokenizer.json');
  if (file === undefined)
    throw new RangeError(
      'There is no tokenizer.json beside the weights, which a text needs. Put it there, or give ids: { ids: [101, 2023, 102] }.',
    );
  const settings = tokenizerOf ? {} : ((await jsonOf(files, 'tokenizer_config.json')) ?? {});
  try {
    if (tokenizerOf) return tokenizerOf(file as object);
    return (await import('./tokenizer.js')).tokenizerOf(file as object, settings as object);
  } catch (cause) {
    throw new RangeError('The tokenizer.json beside the weights is none that can be read; give ids.', {
      cause,
    });
  }
}
