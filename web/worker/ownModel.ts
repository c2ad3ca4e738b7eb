// The answering side of a model that the reader opened: held here, so questions need not carry its file. A model
// without a table of positions is taken apart by mechanism, once its queries and keys are averaged over a corpus.
import {
  type CorpusMeans,
  FamilyUnknown,
  type Floats,
  logitsOf,
  type ModelInput,
  type OpenedModel,
  openModel,
  type Scores,
  type Sentence,
  type Slices,
  type Superpose,
} from 'superpose';
import type { State } from '../figures/controls.js';
import type { Depth } from '../figures/depth.js';
import type { Job, Kept, Library, Rows, TextLibrary, TextModel } from '../figures/figure.js';
import { lengthsOf } from '../figures/heads.js';
import type { OneScore } from '../figures/oneScore.js';
import type {
  Averaged,
  ChosenFile,
  FamilyAsked,
  Opened,
  OwnQuestion,
  OwnState,
} from '../figures/ownModel.js';
import { groups, kindOf, sharedOut, terms } from '../figures/terms.js';
import { mostTokens, watching } from '../figures/trainedModel.js';
import { type ComputeFigure, keeping } from './answers.js';

interface LoadedModel {
  model: OpenedModel;
  texts: TextModel;
  /** What its figures keep goes with it. */
  kept: Kept;
}

let held: LoadedModel | undefined;

export async function ownModel(
  library: Library,
  figure: string,
  state: State,
  job: Job,
  running: (library: Library) => ComputeFigure,
): Promise<unknown> {
  if (figure.startsWith('own-table-'))
    return (await import('./ownTable.js')).ownTable(library, figure, state, job, running);
  const superpose = await library.superpose();
  if (figure === 'own-open') return open(superpose, state as unknown as OwnQuestion, job);
  if (!held) throw new Error('There is no model open; open its file again.');
  const { model, texts, kept } = held;
  const named = ofTexts[figure];
  if (named && model.summands.includes('position')) {
    const { ids = '', otherIds = '' } = state as Record<string, string>;
    const both = model.readsText ? {} : { text: ids, other: otherIds, pair: 'yours' };
    // What was computed beforehand is MiniLM's.
    const own = { ...library, kept, recorded: undefined, miniLM: async () => texts } satisfies TextLibrary;
    // These figures need no more of a model than a TextModel has.
    if (named === 'depth' && state.layers === 'none')
      return ofFirstLayer(superpose, texts, String(state.text));
    return running(own as Library & TextLibrary)(named, { ...state, ...both, tokens: 'sentence' }, job);
  }
  if (figure === 'own-overlap') return reported(held, job);
  return ofScores(superpose, model, figure, state as unknown as OwnState, job);
}

/** Opens files, averages what is open over a corpus, or lets go of it. */
async function open(superpose: Superpose, question: OwnQuestion, job: Job) {
  const { files, corpus, ...options } = question;
  if (corpus !== undefined && held) return average(held.model, corpus, job);
  if (files === undefined) {
    held?.model.delete();
    held = undefined;
    return undefined;
  }
  let model: OpenedModel;
  try {
    model = await openModel(superpose, files.map(slicesOf), { ...options, signal: job.signal });
  } catch (error) {
    if (!(error instanceof FamilyUnknown)) throw error;
    return { families: error.families } satisfies FamilyAsked;
  }
  // It may have been forgotten while it was opened.
  job.signal.throwIfAborted();
  held?.model.delete();
  held = { model, texts: asTextModel(model), kept: keeping() };
  return openedOf(model);
}

const slicesOf = ({ path, file }: ChosenFile): Slices => ({
  name: path,
  size: file.size,
  read: async (from, count) => new Uint8Array(await file.slice(from, from + count).arrayBuffer()),
});

/** How much its tables overlap. */
async function reported({ model, kept }: LoadedModel, job: Job) {
  const { curve, overlap, token, position } = await kept('report', '', () => model.report(watching(job)));
  return {
    d_model: curve?.shares.length,
    tokenRows: token?.rows.length,
    positionRows: position?.rows.length,
    ...overlap,
    ...curve,
  };
}

/** Its scores taken apart: all heads, one of them, or all layers. */
async function ofScores(
  superpose: Superpose,
  model: OpenedModel,
  figure: string,
  own: OwnState,
  job: Job,
): Promise<unknown> {
  // A model without a table is taken apart by means that are gathered first, in as many places as they have.
  const byMechanism = !model.summands.includes('position');
  const { input, dropped } = await inputOf(model, own, byMechanism ? reachOf(model) : undefined);
  if (byMechanism && figure === 'own-depth') {
    const asked = { input: input as Sentence, text: model.readsText ? own.text : own.ids, dropped };
    return depthOf(superpose, model, asked, job);
  }
  const [content = '', position = '', ...others] = model.summands;
  const layer = own.layer ?? 0;
  const written = layer > 0 ? ['attention', 'mlp'] : [];
  const asked = {
    ...watching(job),
    ...(layer > 0 && { layer }),
    ...(figure === 'own-one-score' && { only: [own.head] }),
  };
  const groups = { [content]: [content], [position]: [position], rest: [...others, ...written, 'constant'] };
  const scores: Scores & { sentence: Sentence } = await (byMechanism
    ? model.decompose(input, { ...asked, ...inThree(model) })
    : model.decompose(input, { ...asked, gauge: own.gauge, groups }));
  if (!scores.residuals.every(Number.isFinite))
    throw new RangeError('The model’s scores are beyond float32, in which they are computed.');
  const { tokens } = scores.sentence;
  if (figure === 'own-heads')
    return {
      rows: sharedOut(superpose, [scores]),
      tokens,
      dropped,
      lengths: byMechanism ? undefined : lengthsOf(superpose, await model.rows(input)),
    };
  return oneScoreOf(superpose, scores, own, dropped);
}

function oneScoreOf(
  superpose: Superpose,
  scores: Scores & { sentence: Sentence },
  own: OwnState,
  dropped: number,
): OneScore {
  const on = terms.map((term) => own.on.includes(term));
  const kinds = [terms.map(() => true), on, ...terms.map((term) => terms.map((one) => one === term))];
  const masks = kinds.map((of) => kindOf.map((kind) => of[kind] as boolean));
  const [all, kept, ...panels] = superpose
    .combineTerms(scores, own.head, masks)
    .map(({ sum, centred, share, softmax }) => ({ sum: seenAs(centred, sum), centred, share, softmax })) as [
    OneScore['kept'],
    OneScore['kept'],
    ...OneScore['panels'],
  ];
  return {
    tokens: scores.sentence.tokens,
    dropped,
    n: scores.n,
    panels,
    logits: { ...all, sum: seenAs(all.centred, logitsOf(scores, own.head)) },
    kept,
    residual: scores.residuals[0] as number,
    heads: [],
  };
}

/** The values of the keys that a query sees; NaN at others, as in what is centred over them. */
const seenAs = (centred: Floats, values: Floats): Floats =>
  values.map((value, at) => (Number.isNaN(centred[at]) ? Number.NaN : value));

/** Figures on the reader's model, and the figure on MiniLM that computes each. */
const ofTexts: Record<string, string> = {
  'own-depth': 'depth',
  'own-needs-positions': 'needs-positions',
  'own-dot-products': 'dot-products',
};

async function openedOf(model: OpenedModel): Promise<Opened> {
  const { name, about, family, heads, epsilon, readsText, vocabulary, files, bytes } = model;
  const { layers, positions, summands } = model;
  const ofFile = { name, about, family, vocabulary, files, bytes, layers, positions };
  return { ...ofFile, heads, epsilon, summands, readsText, digest: await model.digest() };
}

/** What `depth` shows before the later layers are read. */
async function ofFirstLayer(superpose: Superpose, model: TextModel, text: string): Promise<Depth> {
  const sentence = await model.tokenize(text, 32);
  const scores = await model.decompose(sentence, { groups });
  const count = scores.parts.length ** 2;
  const both = scores.parts.length + 1;
  const shares = scores.heads.map((head) => scores.shares[count * head + both] as number);
  const all = [Array<boolean>(count).fill(true)];
  const attention = scores.heads.flatMap((head) =>
    superpose.combineTerms(scores, head, all).flatMap(({ softmax }) => Array.from(softmax)),
  );
  const { tokens, dropped } = sentence;
  const { layers } = model;
  const none = { states: [], windows: 0, sentences: 0 };
  return { text, tokens, dropped, ...none, layers, heads: [shares], attention: [attention] };
}

/** The tokens of a text, or of a list of ids where the model has no tokenizer. */
async function cut(model: OpenedModel, text: string, longest: number): Promise<Sentence> {
  // Of some models nothing says how many they take.
  const most = Math.min(longest, model.positions || longest);
  const sentence = model.readsText ? await model.tokenize(text) : { ids: idsIn(text), tokens: undefined };
  const { ids, tokens = ids.map(String) } = sentence;
  return {
    ids: ids.slice(0, most),
    tokens: tokens.slice(0, most),
    dropped: Math.max(0, ids.length - most),
  };
}

const asTextModel = (model: OpenedModel): TextModel => ({
  d_model: model.d_model,
  heads: model.heads ?? 0,
  positions: model.positions,
  layers: model.layers,
  excludedRows: model.excludedRows,
  tokenize: (text, most = mostTokens) => cut(model, text, most),
  rows: async ({ ids }) => (await model.rows({ ids })) as Rows,
  changed: async (sentence, change) => (await model.changed(sentence, change)) as Rows,
  forward: (sentence, options) => model.forward(sentence, options),
  corpusMeans: (options) => model.corpusMeans(options),
  withoutPositions: (sentence, options) => model.withoutPositions(sentence, options),
  decompose: (sentence, { groups }) => model.decompose(sentence, { groups: groupsIn(model, groups) }),
});

/** The groups without the parts that the model lacks. */
function groupsIn({ summands }: OpenedModel, groups: Record<string, readonly string[]>) {
  const parts = [...summands, 'constant'];
  return Object.fromEntries(
    Object.entries(groups).map(([name, members]) => [name, members.filter((one) => parts.includes(one))]),
  );
}

async function inputOf(
  model: OpenedModel,
  { text, ids }: OwnState,
  most = mostTokens,
): Promise<{ input: ModelInput; dropped: number }> {
  const { dropped, ...input } = await cut(model, model.readsText ? text : ids, most);
  return { input, dropped };
}

export const idsIn = (text: string): number[] =>
  text.split(/[\s,]+/).flatMap((one) => (one === '' ? [] : [Number(one)]));

const known = new WeakMap<OpenedModel, CorpusMeans>();

/** Reads all layers, runs them over the corpus, and keeps the means with the model. */
export async function average(model: OpenedModel, corpus: string, job: Job): Promise<Averaged> {
  // Reading is the first third.
  const part = 1 / 3;
  const lines = corpus.split('\n').filter((line) => line.trim() !== '');
  const means = await model.corpusMeans({
    ...(!model.readsText && { sentences: lines.map((line) => ({ ids: idsIn(line) })) }),
    scores: true,
    ...watching(job, part),
    done: (share) => job.progress(part + (1 - part) * share),
  });
  known.set(model, means);
  return { windows: means.windows };
}

const meansOf = (model: OpenedModel): CorpusMeans => {
  const means = known.get(model);
  if (!means)
    throw new Error('Its queries and keys are not averaged yet; run its layers over a corpus first.');
  return means;
};

/** How many tokens of a sentence have a mean. */
export function reachOf(model: OpenedModel): number {
  const [means] = meansOf(model).scores ?? [];
  return means ? (means.query.first ?? 0) + means.query.position.rows : 0;
}

/**
 * How a layer is taken apart by mechanism: in three parts, as models with tables are. Token → token by the distance has no
 * terms with other parts.
 */
export const inThree = (model: OpenedModel) =>
  ({
    way: 'mechanism',
    means: meansOf(model),
    groups: { token: ['token', 'offset'], position: ['position'], rest: ['constant'] },
  }) as const;

/** [layers][heads], the share of position → position. */
async function positionShares(
  superpose: Superpose,
  model: OpenedModel,
  input: ModelInput,
  { signal, progress }: Job,
): Promise<number[][]> {
  const found: number[][] = [];
  // The last layer first: what is run for it is there for the others.
  for (let layer = model.layers - 1; layer >= 0; layer--) {
    const scores = await model.decompose(input, { ...inThree(model), layer, signal });
    const { heads } = superpose.poolShares([scores], kindOf);
    const kinds = heads.length / scores.heads.length;
    found[layer] = scores.heads.map((_, head) => heads[kinds * head + 3] as number);
    progress((model.layers - layer) / model.layers);
  }
  return found;
}

/** Where position goes: its part of the states, and of each head's scores in this sentence. */
export async function depthOf(
  superpose: Superpose,
  model: OpenedModel,
  { input, text, dropped }: { input: ModelInput & Sentence; text: string; dropped: number },
  job: Job,
): Promise<Depth> {
  const heads = await positionShares(superpose, model, input, job);
  const forward = await model.forward(input, { signal: job.signal });
  const { states, windows } = meansOf(model);
  return {
    text,
    tokens: input.tokens,
    dropped,
    mechanism: true,
    // Rows of tokens carry no position; and there is no table whose directions could be counted, or left.
    states: states.map(({ positionEnergy }, passed) => ({
      energy: passed === 0 ? 0 : positionEnergy,
      directions: Number.NaN,
      table: Number.NaN,
    })),
    windows,
    sentences: 1,
    layers: model.layers,
    heads,
    attention: Array.from({ length: model.layers }, (_, layer) => forward.attention(layer)),
  };
}
