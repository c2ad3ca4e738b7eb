// The answering side of a reader's model whose queries and keys are averaged over a corpus: its scores by mechanism.
import type { CorpusMeans, ModelInput, OpenedModel, Sentence, Superpose } from 'superpose';
import type { Depth } from '../figures/depth.js';
import type { Job } from '../figures/figure.js';
import type { Averaged } from '../figures/ownModel.js';
import { kindOf } from '../figures/terms.js';
import { idsIn } from './idsIn.js';

const known = new WeakMap<OpenedModel, CorpusMeans>();

/** Reads all layers, runs them over the corpus, and keeps the means with the model. */
export async function average(
  model: OpenedModel,
  corpus: string,
  { signal, progress }: Job,
): Promise<Averaged> {
  // Reading is the first third.
  const part = 1 / 3;
  const lines = corpus.split('\n').filter((line) => line.trim() !== '');
  const means = await model.corpusMeans({
    ...(!model.readsText && { sentences: lines.map((line) => ({ ids: idsIn(line) })) }),
    scores: true,
    signal,
    progress: (bytes, of) => progress(of > 0 ? (part * bytes) / of : 0),
    done: (share) => progress(part + (1 - part) * share),
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
 * How a layer is taken apart by mechanism: in three parts, as models with tables are, and in the precision of the means,
 * so that layers are held once. Token → token by the distance has no terms with other parts.
 */
export const inThree = (model: OpenedModel) =>
  ({
    way: 'mechanism',
    means: meansOf(model),
    precision: 'float32',
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
