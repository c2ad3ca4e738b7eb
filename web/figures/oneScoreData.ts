// What can be set in the figure "one-score", and its numbers: the terms of a head's scores, of MiniLM's
// first layer or of a layer of the reader's own model.
import { type CombinedTerms, type Floats, logitsOf, type Scores } from 'add-or-concatenate';
import type { Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Job, Library, UserTextModel } from './figure.js';
import { kindOf, kindOfSixteen, termLabels, terms } from './terms.js';
import {
  excludedRows,
  firstLayer,
  gaugeControl,
  headControl,
  mostTokens,
  sentenceControl,
  watching,
} from './trainedModel.js';

export const controls = {
  head: { ...headControl, initial: 2 },
  view: {
    kind: 'choice',
    more: true,
    label: 'Terms',
    options: { four: 'Four questions, and the rest', sixteen: 'All sixteen' },
    initial: 'four',
    radio: true,
  },
  on: {
    kind: 'several',
    more: true,
    label: 'Terms included',
    options: termLabels,
    initial: terms,
  },
  gauge: { ...gaugeControl, more: true },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
  text: { ...sentenceControl, more: true },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export interface Panel {
  sum: Floats;
  centred: Floats;
  share: number;
}

export interface OneScore {
  tokens: readonly string[];
  dropped: number;
  n: number;
  panels: Panel[];
  /** The logits as the model computes them, not as the sum of the terms. */
  logits: Panel;
  /** The sum of the terms that are included, and the attention that it gives. */
  selection: Panel & { softmax: Floats };
  /** The largest |sum of all terms − logits|. */
  residual: number;
  /** The five shares of each head, by which the reader chooses a head; empty if only one was decomposed. */
  heads: number[][];
}

interface Decomposition {
  tokens: readonly string[];
  dropped: number;
  scores: Scores;
  /** Which of the five kinds each term of the scores is. */
  kinds: readonly number[];
  heads: number[][];
}

/**
 * Decomposes the scores of all heads at once, in about twice the time of one head, so that choosing another
 * head or other terms needs no further decomposition.
 */
async function decompose(library: Library, { text, gauge }: State): Promise<Decomposition> {
  const [superpose, layer] = [await library.small(), await firstLayer(library)];
  const { summands, ...sentence } = await library.memoize('one-score: rows', text, async () => {
    const model = await library.miniLM();
    const sentence = await model.tokenize(text, mostTokens);
    const { tokens, dropped } = sentence;
    return { tokens, dropped, summands: await model.rows(sentence) };
  });
  const { scores, shares } = library.memoize('one-score: heads', [gauge, text], () => {
    const scores = layer.decompose({ summands, gauge, excludedRows });
    return { scores, shares: superpose.poolShares([scores], kindOfSixteen).heads };
  });
  const heads = scores.heads.map((_, place) =>
    Array.from(shares.subarray(place * terms.length, (place + 1) * terms.length)),
  );
  return { ...sentence, scores, kinds: kindOfSixteen, heads };
}

/** Decomposes the scores of one head: a reader's own model may have many, and each takes time. */
async function decomposeUserModel(
  model: UserTextModel,
  state: State & Layer,
  job: Job,
): Promise<Decomposition> {
  const { text, gauge, head, layer = 0 } = state;
  const sentence = await model.tokenize(text, mostTokens);
  const scores = await model.layerScores(sentence, { layer, gauge, heads: [head], ...watching(job) });
  return { tokens: sentence.tokens, dropped: sentence.dropped, scores, kinds: kindOf, heads: [] };
}

/** Set only for a reader's own model of several layers. */
interface Layer {
  layer?: number;
}

export const compute: Compute<typeof controls, OneScore> = async (library, state, job) => {
  const { scores, kinds, tokens, dropped, heads } = library.userModel
    ? await decomposeUserModel(library.userModel, state, job)
    : await decompose(library, state);
  const superpose = await library.small();
  const everyTerm = kinds.map(() => true);
  const includedTerms = kinds.map((kind) => state.on.includes(terms[kind] as Term));
  const panelMasks =
    state.view === 'sixteen'
      ? kinds.map((_, term) => kinds.map((_, other) => other === term))
      : terms.map((_, panel) => kinds.map((kind) => kind === panel));
  const [all, selection, ...panels] = superpose.combineTerms(scores, state.head, [
    everyTerm,
    includedTerms,
    ...panelMasks,
  ]) as [CombinedTerms, CombinedTerms, ...CombinedTerms[]];
  // A query of a causal model sees no later keys. The centred scores of those keys are NaN, so their scores
  // become NaN, too.
  const seen = (sum: Floats, centred: Floats): Floats =>
    scores.causal ? sum.map((value, at) => (Number.isNaN(centred[at]) ? Number.NaN : value)) : sum;
  const panelOf = ({ sum, centred, share }: CombinedTerms): Panel => ({
    sum: seen(sum, centred),
    centred,
    share,
  });
  return {
    tokens,
    dropped,
    n: scores.n,
    panels: panels.map(panelOf),
    logits: { ...panelOf(all), sum: seen(logitsOf(scores, state.head).slice(), all.centred) },
    selection: { ...panelOf(selection), softmax: selection.softmax },
    residual: scores.residuals[scores.heads.indexOf(state.head)] as number,
    heads,
  };
};
