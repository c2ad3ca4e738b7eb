// The answering side of a model that the reader opened: held here, so that its figures need no file with each question.
import { logitsOf, type ModelInput, type OpenedModel, openModel, type Picture, type Scores } from 'superpose';
import type { State } from '../figures/controls.js';
import type { Job, Library } from '../figures/figure.js';
import { sharedOut } from '../figures/heads.js';
import type { OneScore } from '../figures/oneScore.js';
import type { GramData, Opened, OwnQuestion, OwnState } from '../figures/ownModel.js';
import { mostTokens } from '../figures/sentence.js';
import { kindOf, terms } from '../figures/terms.js';

let held: { model: OpenedModel; picture?: Picture } | undefined;

const watching = ({ signal, progress }: Job) => ({
  signal,
  progress: (bytes: number, of: number) => progress(of > 0 ? bytes / of : 0),
});

export async function ownModel(library: Library, figure: string, state: State, job: Job): Promise<unknown> {
  const superpose = await library.superpose();
  if (figure === 'own-open') {
    const { files, picture, ...options } = state as unknown as OwnQuestion;
    if (files === undefined) {
      if (picture && held) held.picture = picture;
      else held = undefined;
      return undefined;
    }
    held = { model: await openModel(superpose, files, { ...options, signal: job.signal }) };
    return openedOf(held.model);
  }
  if (!held) throw new Error('There is no model open; open its file again.');
  const { model } = held;
  if (figure === 'own-overlap' || figure === 'own-gram') {
    const { curve, overlap, token, position, gram, offsets } = await model.report(watching(job));
    if (figure === 'own-gram') {
      const both = gram && { raw: gram.raw.data, centred: gram.centred.data };
      return {
        gram: both,
        rows: gram && { raw: gram.raw.rows, centred: gram.centred.rows },
        shares: offsets && { raw: offsets.raw.share, centred: offsets.centred.share },
      } as GramData;
    }
    return {
      d_model: curve?.shares.length,
      tokenRows: token?.rows.length,
      positionRows: position?.rows.length,
      ...overlap,
      ...curve,
    };
  }
  const own = state as unknown as OwnState;
  const { input, dropped } = await inputOf(held, own);
  const [content = '', position = '', ...others] = model.summands;
  const scores = await model.decompose(input, {
    ...watching(job),
    gauge: own.gauge,
    groups: { [content]: [content], [position]: [position], rest: [...others, 'constant'] },
    ...(figure === 'own-one-score' && { only: [own.head] }),
  });
  const { tokens } = scores.sentence;
  const nine = inNine(scores);
  if (figure === 'own-heads') return { rows: sharedOut(superpose, [nine]), tokens, dropped };
  const groupOf = nineOf(scores.parts.length);
  const combine = (on: (kind: number) => boolean) => {
    const { sum, centred, share, softmax } = superpose.combineTerms(scores, own.head, groupOf.map(on));
    return { sum, centred, share, softmax };
  };
  return {
    tokens,
    dropped,
    n: scores.n,
    panels: terms.map((_, kind) => combine((one) => one === kind)),
    logits: { ...combine(() => true), sum: logitsOf(scores, own.head).slice() },
    kept: combine((kind) => own.on.includes(terms[kind] as (typeof terms)[number])),
    residual: scores.residuals[0] as number,
  } satisfies OneScore;
}

const openedOf = (model: OpenedModel): Opened => {
  const { name, about, family, parts, heads, epsilon, summands, readsText, picture, vocabulary, bytes } =
    model;
  return { name, about, family, parts, heads, epsilon, summands, readsText, picture, vocabulary, bytes };
};

async function inputOf(
  { model, picture }: NonNullable<typeof held>,
  { text, ids }: OwnState,
): Promise<{ input: ModelInput; dropped: number }> {
  if (model.picture) {
    if (!picture) throw new Error('Choose a picture first.');
    return { input: { picture }, dropped: 0 };
  }
  const most = Math.min(mostTokens, model.positions);
  if (!model.readsText) {
    const numbers = ids.split(/[\s,]+/).filter((one) => one !== '');
    return {
      input: { ids: numbers.slice(0, most).map(Number) },
      dropped: Math.max(0, numbers.length - most),
    };
  }
  const { ids: all, tokens } = await model.tokenize(text);
  return {
    input: { ids: all.slice(0, most), tokens: tokens.slice(0, most) },
    dropped: Math.max(0, all.length - most),
  };
}

/** Which of the five kinds each term is, of three parts or of three and a relative bias, which is of the rest. */
const nineOf = (parts: number): number[] =>
  Array.from({ length: parts ** 2 }, (_, term) => {
    const [s, r] = [Math.floor(term / parts), term % parts];
    return s < 3 && r < 3 ? (kindOf[3 * s + r] as number) : (kindOf[8] as number);
  });

/** Covariances of nine terms: a relative bias is added to the rest. */
function inNine(scores: Scores<Float64Array>) {
  const { heads, gauge, variances, covariances } = scores;
  const width = scores.parts.length;
  if (width === 3) return { heads, parts: scores.parts, gauge, variances, covariances };
  const nine = new Float64Array(9 * heads.length);
  for (const place of heads.keys()) {
    for (let term = 0; term < width ** 2; term++) {
      const [s, r] = [Math.min(2, Math.floor(term / width)), Math.min(2, term % width)];
      const at = 9 * place + 3 * s + r;
      nine[at] = (nine[at] as number) + (covariances[place * width ** 2 + term] as number);
    }
  }
  return { heads, parts: scores.parts.slice(0, 3), gauge, variances, covariances: nine };
}
