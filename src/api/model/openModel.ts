// Opens a reader's model: recognizes it by its config.json and header, and reads only those parts of its
// files that are needed.
import * as check from '../check.js';
import type { Superpose } from '../fullModule.js';
import type { SmallSuperpose } from '../smallModule.js';
import { type Checkpoint, checkpointOf, shapeOf } from './checkpoint.js';
import { type Config, type FamilyDescriptor, hasJointMap } from './descriptor.js';
import type { Model, Tokenizer } from './model.js';
import { fullModuleOf, modelMethods } from './modelMethods.js';
import type { OpenedModel, OpenModelOptions } from './openedModel.js';
import { type Layout, layersIn, nameIn, recognize } from './recognize.js';
import { filesOf, jsonOf, type Slices, type Source } from './slices.js';
import { shared, watchNames } from './watch.js';

/**
 * Opens a checkpoint of your own, even one that is larger than memory. In Node, pass the path of a
 * .safetensors file, an index of shards or a folder; in a browser, the files that somebody chose:
 * `[...input.files]`. Beside the weights, config.json says which model it is, and tokenizer.json makes it
 * possible to pass texts; without these files, pass `family` and token ids. Nothing is uploaded, and only
 * the parts that are needed are read. To run layers, `superpose` must be the full module, which load()
 * returns by default. Throws a RangeError that says why the files cannot be read as a model.
 *
 * @category Decompose a model
 */
export async function openModel(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  check.superposeArgument(superpose);
  check.knownOptions('options', options, optionNames);
  return openFiles(superpose, source, options);
}

const optionNames: check.OptionNames<OpenModelOptions> = {
  family: true,
  heads: true,
  epsilon: true,
  layerBytes: true,
  rest: true,
  ...watchNames,
};

/**
 * openModel() without its check of options. If `tokenizerOf` is given, it makes the tokenizer from
 * tokenizer.json, which is then read at once.
 */
export async function openFiles(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenModelOptions,
  tokenizerOf?: (file: object) => Tokenizer,
): Promise<OpenedModel> {
  check.superposeArgument(superpose);
  check.signalAndProgress(options.signal, options.progress);
  const layerBytes = check.integer('layerBytes', options.layerBytes ?? check.maxBytes, 0, check.maxBytes);
  const { files, named } = await filesOf(source);
  const tokenizer = shared(() => readTokenizer(files, tokenizerOf));
  const [checkpoint, configFile] = await Promise.all([
    checkpointOf(superpose, files, named, options),
    jsonOf(files, 'config.json'),
    tokenizerOf && tokenizer({}),
  ]);
  const config = checkedConfig(configFile);
  const [file = '', ...others] = checkpoint.files;
  if (others.length === 0 && file.includes('-of-')) (await import('./shards.js')).refuseShard(file);
  const layout = recognize(checkpoint.tensors, config, options.family);
  const { heads, epsilon } = headsAndEpsilon(layout, config, options);
  checkFirstLayer(checkpoint, layout);
  const layers = layersIn(checkpoint.tensors, layout);
  const { slidingWindow, aboutWindow } = await checkedRotary(layout.descriptor, config, layers);
  const { family, descriptor, vocabulary } = layout;
  const model: Model = {
    superpose,
    checkpoint,
    layout,
    config,
    heads,
    epsilon,
    layers,
    slidingWindow,
    fullModule: options.rest ?? (async () => superpose as Superpose),
    isSmall: checkpoint.size <= Math.min(smallModelBytes, layerBytes),
    layerBytes,
    readsText: files.has('tokenizer.json'),
    tokenizer: () => tokenizer({}),
  };
  return {
    ...modelMethods(model),
    family,
    name: descriptor.name,
    about: [descriptor.about, aboutWindow].join(' ').trim(),
    causal: descriptor.causal,
    vocabulary,
    heads,
    epsilon,
    slidingWindow,
    readsText: model.readsText,
    files: checkpoint.files,
    bytes: checkpoint.size,
    digest: () =>
      checkpoint.digest((['query', 'key'] as const).map((part) => `${nameIn(layout, 0, part)}.weight`)),
    async report(options = {}) {
      check.knownOptions('options', options, watchNames);
      const [superpose, { modelReport }] = await Promise.all([
        fullModuleOf(model),
        import('./modelReport.js'),
      ]);
      return modelReport({ ...model, superpose }, options);
    },
  };
}

/**
 * A model of at most this many bytes is run through all its layers at once, rather than again for each
 * layer.
 */
const smallModelBytes = 2 ** 26;

/**
 * Reads from config.json how a model with RoPE rotates and which of its layers have a window. What is not
 * computed here is refused before any layer is read.
 */
async function checkedRotary(descriptor: FamilyDescriptor, config: Config, layers: number) {
  const { positions } = descriptor;
  if (positions.kind === 'added') return { slidingWindow: undefined, aboutWindow: '' };
  // Pages fetch this module only for models with RoPE.
  const { aboutWindow, anglesIn, slidingWindowIn } = await import('./rotaryConfig.js');
  anglesIn(config, positions.base);
  const slidingWindow = slidingWindowIn(descriptor, positions.window, config, layers);
  return { slidingWindow, aboutWindow: slidingWindow ? aboutWindow(slidingWindow) : '' };
}

/**
 * Throws RangeError if the first W_Q or W_K is missing, misshapen or cannot be decoded. Reads none of their
 * values.
 */
function checkFirstLayer({ tensors }: Checkpoint, layout: Layout): void {
  const { descriptor, d_model: d } = layout;
  const addsPositions = descriptor.positions.kind === 'added';
  const rowsOfAdded = hasJointMap(descriptor) ? 3 * d : d;
  const rows = addsPositions ? rowsOfAdded : 'rows';
  for (const part of ['query', 'key'] as const) {
    const name = `${nameIn(layout, 0, part)}.weight`;
    shapeOf(tensors, name, descriptor.tensors.transposed ? [d, rows] : [rows, d]);
  }
}

/** The members of config.json; none where there is no such file. */
function checkedConfig(file: unknown): Config {
  if (file === undefined) return {};
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    check.refuse('config.json', 'an object', file, false);
  }
  return file as Config;
}

/** Heads and ε: from the caller, or else from config.json. */
function headsAndEpsilon({ descriptor, d_model }: Layout, config: Config, options: OpenModelOptions) {
  const { sizes, norms, positions } = descriptor;
  const heads = options.heads ?? config[sizes.heads];
  if (heads !== undefined) {
    const name = options.heads === undefined ? `${sizes.heads} in config.json` : 'heads';
    check.integer(name, heads, 1);
    // With RoPE, all heads together may be wider or narrower than the model.
    if (positions.kind === 'added' && d_model % (heads as number) !== 0) {
      throw new RangeError(`${name} must divide the model’s width ${d_model}; ${heads} does not.`);
    }
  }
  const epsilonByFamily = typeof norms.epsilon === 'number' ? norms.epsilon : config[norms.epsilon];
  const epsilon = options.epsilon ?? epsilonByFamily;
  if (epsilon !== undefined) {
    const name = options.epsilon === undefined ? `${norms.epsilon} in config.json` : 'epsilon';
    check.number(name, epsilon, 0);
  }
  return { heads: heads as number | undefined, epsilon: epsilon as number | undefined };
}

async function readTokenizer(
  files: ReadonlyMap<string, Slices>,
  tokenizerOf?: (file: object) => Tokenizer,
): Promise<Tokenizer> {
  const file = await jsonOf(files, 'tokenizer.json');
  if (file === undefined) {
    throw new RangeError(
      'There is no tokenizer.json beside the weights, which a text needs. Put it there, or pass token ids: { ids: [101, 2023, 102] }.',
    );
  }
  try {
    if (tokenizerOf) return tokenizerOf(file as object);
    return (await import('./tokenizer/tokenizer.js')).tokenizerOf(file);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    const reason = (cause as Error).message.replace(/\.$/, '');
    throw new RangeError(`tokenizer.json could not be parsed: ${reason}. Pass token ids instead.`, { cause });
  }
}
