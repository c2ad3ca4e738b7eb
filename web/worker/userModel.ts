// The worker's side of a model that the reader opened: it stays here, so that requests need not carry its
// files, and takes MiniLM's place in the figures that can show it.
import {
  type CorpusMeans,
  FamilyUnknown,
  type ModelInput,
  type OpenedModel,
  openModel,
  type Scores,
  type Sentence,
  type Slices,
  type Superpose,
} from 'add-or-concatenate';
import type { State } from '../figures/controls.js';
import type { Job, LayerScoresOptions, Library, Memoize, Rows, UserTextModel } from '../figures/figure.js';
import { groupsOf } from '../figures/terms.js';
import { mostTokens, watching } from '../figures/trainedModel.js';
import type {
  ChosenFile,
  CorpusAverage,
  FamilyChoice,
  ModelRequest,
  UserModel,
} from '../figures/userFile.js';
import { type ComputeFigure, memoizer } from './answers.js';

interface OpenModel {
  model: OpenedModel;
  /** What the model's figures memoize, which is forgotten with it. */
  memoize: Memoize;
  /** Set once the model is averaged over a corpus, for a model without a table of positions. */
  means: CorpusMeans | undefined;
}

let open: OpenModel | undefined;

/** Opens a model, or computes one of its figures. */
export async function userModel(
  library: Library,
  figure: string,
  state: State,
  job: Job,
  computeWith: (library: Library) => ComputeFigure,
): Promise<unknown> {
  if (figure === 'user-model-open')
    return handle(await library.superpose(), state as unknown as ModelRequest, job);
  if (!open) throw new Error('There is no model open; open its file again.');
  const { ids = '', otherIds = '' } = state as Record<string, string>;
  const input = open.model.readsText ? {} : { text: ids, other: otherIds };
  const withModel: Library = {
    ...library,
    memoize: open.memoize,
    // The recorded results are MiniLM's.
    recorded: undefined,
    userModel: asTextModel(open),
  };
  return computeWith(withModel)(figure.slice('user-model-'.length), { ...state, ...input }, job);
}

/** Opens files, averages the open model over a corpus, or forgets it. */
async function handle(superpose: Superpose, request: ModelRequest, job: Job) {
  const { files, corpus, ...options } = request;
  if (corpus !== undefined && open) return average(open, corpus, job);
  if (files === undefined) {
    open?.model.delete();
    open = undefined;
    return undefined;
  }
  let model: OpenedModel;
  try {
    model = await openModel(superpose, files.map(slicesOf), { ...options, signal: job.signal });
  } catch (error) {
    if (!(error instanceof FamilyUnknown)) throw error;
    return { families: error.families } satisfies FamilyChoice;
  }
  // The reader may have forgotten the model while it was being opened.
  job.signal.throwIfAborted();
  open?.model.delete();
  open = { model, memoize: memoizer(), means: undefined };
  return describe(model);
}

const slicesOf = ({ path, file }: ChosenFile): Slices => ({
  name: path,
  size: file.size,
  read: async (from, count) => new Uint8Array(await file.slice(from, from + count).arrayBuffer()),
});

async function describe(model: OpenedModel): Promise<UserModel> {
  const { name, about, family, heads, epsilon, summands, readsText, vocabulary } = model;
  const { files, bytes, layers, positions } = model;
  const digest = await model.digest();
  return {
    name,
    about,
    family,
    heads,
    epsilon,
    summands,
    readsText,
    vocabulary,
    files,
    bytes,
    layers,
    positions,
    digest,
  };
}

/** Reads all layers, runs them over the corpus, and keeps the means with the model. */
async function average(opened: OpenModel, corpus: string, job: Job): Promise<CorpusAverage> {
  const { model } = opened;
  const lines = corpus.split('\n').filter((line) => line.trim() !== '');
  // Reading is the first third of the progress.
  const part = 1 / 3;
  opened.means = await model.corpusMeans({
    ...(!model.readsText && { sentences: lines.map((line) => ({ ids: idsIn(line) })) }),
    scores: true,
    ...watching(job, part),
    done: (share) => job.progress(part + (1 - part) * share),
  });
  return { windows: opened.means.windows };
}

/** What figures use of the model. */
function asTextModel(opened: OpenModel): UserTextModel {
  const { model, memoize } = opened;
  const byMechanism = !model.summands.includes('position');
  const means = () => {
    if (!opened.means) {
      throw new Error('Its queries and keys are not averaged yet; run its layers over a corpus first.');
    }
    return opened.means;
  };
  return {
    d_model: model.d_model,
    heads: model.heads ?? 0,
    positions: model.positions,
    layers: model.layers,
    excludedRows: model.excludedRows,
    tokenize: (text, most = mostTokens) =>
      tokenized(model, text, byMechanism ? Math.min(most, tokensWithMeans(means())) : most),
    rows: async ({ ids }) => (await model.rows({ ids })) as Rows,
    changed: async (sentence, change) => (await model.changed(sentence, change)) as Rows,
    forward: (sentence, options) => model.forward(sentence, options),
    corpusMeans: (options) => model.corpusMeans(options),
    withoutPositions: (sentence, options) => model.withoutPositions(sentence, options),
    report: async (options) => memoize('report', '', () => model.report(options)),
    layerScores: (sentence, options) =>
      layerScores(model, sentence, options, byMechanism ? means : undefined),
    ...(byMechanism && { means }),
  };
}

/** The tokens of a text, or of a list of ids if the model has no tokenizer. */
async function tokenized(model: OpenedModel, text: string, longest: number): Promise<Sentence> {
  // Some models do not say how many tokens they take.
  const most = Math.min(longest, model.positions || longest);
  const sentence = model.readsText ? await model.tokenize(text) : { ids: idsIn(text), tokens: undefined };
  const { ids, tokens = ids.map(String) } = sentence;
  return {
    ids: ids.slice(0, most),
    tokens: tokens.slice(0, most),
    dropped: Math.max(0, ids.length - most),
  };
}

const idsIn = (text: string): number[] =>
  text
    .split(/[\s,]+/)
    .filter((id) => id !== '')
    .map(Number);

/** How many tokens of a sentence have means, from the first on. */
function tokensWithMeans({ scores }: CorpusMeans): number {
  const [first] = scores ?? [];
  return first ? (first.query.first ?? 0) + first.query.position.rows : 0;
}

async function layerScores(
  model: OpenedModel,
  { ids, tokens }: Sentence,
  { layer, gauge, heads, signal, progress }: LayerScoresOptions,
  means: (() => CorpusMeans) | undefined,
): Promise<Scores> {
  const input: ModelInput = { ids, tokens };
  const options = { signal, progress, ...(heads && { only: [...heads] }) };
  const scores = means
    ? await model.decompose(input, { ...options, layer, ...byMechanism(means()) })
    : await model.decompose(input, {
        ...options,
        // Without `layer`, the first layer's scores are taken apart by its tables, and little of the file is
        // read.
        ...(layer > 0 && { layer }),
        gauge,
        groups: groupsOf(model.summands, layer),
      });
  if (!scores.residuals.every(Number.isFinite))
    throw new RangeError('The model’s scores are beyond float32, in which they are computed.');
  return scores;
}

/**
 * The scores by mechanism in three groups, as in models with tables. The token → token scores that depend on
 * the distance have no terms with other parts, so their part joins the tokens.
 */
const byMechanism = (means: CorpusMeans) =>
  ({
    way: 'mechanism',
    means,
    groups: { token: ['token', 'offset'], position: ['position'], rest: ['constant'] },
  }) as const;
