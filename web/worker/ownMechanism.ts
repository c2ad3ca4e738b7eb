// The answering side of a reader's model whose queries and keys are averaged over a corpus: its scores by mechanism, and
// what was found of models that were opened before.
import type { CorpusMeans, ModelInput, OpenedModel, Sentence, Superpose } from 'superpose';
import type { Depth } from '../figures/depth.js';
import type { Job } from '../figures/figure.js';
import type { Averaged } from '../figures/ownMechanism.js';
import type { Side, Sides } from '../figures/sideBySide.js';
import { idsIn } from './idsIn.js';

const known = new WeakMap<OpenedModel, CorpusMeans>();
/** What was found, by the digests of the models, in the order in which they were opened. */
const sides = new Map<string, Side>();

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
  const digest = await model.digest();
  const kept = [...sides.values()].filter((side) => side.digest !== digest);
  return { windows: means.windows, kept: Object.fromEntries(kept.map((side) => [side.digest, side.name])) };
}

export async function forget(model: OpenedModel): Promise<void> {
  sides.delete(await model.digest());
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

/** How a layer is taken apart by mechanism; in the precision of the means, so that layers are held once. */
const byMechanism = (model: OpenedModel) =>
  ({ way: 'mechanism', means: meansOf(model), precision: 'float32' }) as const;

/** In three parts, as models with tables are. Token → token by the distance has no terms with other parts. */
export const inThree = (model: OpenedModel) => ({
  ...byMechanism(model),
  groups: { token: ['token', 'offset'], position: ['position'], rest: ['constant'] },
});

/** Of token, position, constant and offset: the five kinds of their terms, and the sixth, by the distance. */
const kinds = Array.from({ length: 16 }, (_, term) => {
  const [query, key] = [Math.floor(term / 4), term % 4];
  return term === 15 ? 5 : query < 2 && key < 2 ? 2 * query + key : 4;
});

/** [layers][heads + 1][6], each layer's heads and their mean. */
async function sharesOf(
  superpose: Superpose,
  model: OpenedModel,
  input: ModelInput,
  { signal, progress }: Job,
): Promise<number[][][]> {
  const found: number[][][] = [];
  // The last layer first: what is run for it is there for the others.
  for (let layer = model.layers - 1; layer >= 0; layer--) {
    const scores = await model.decompose(input, { ...byMechanism(model), layer, signal });
    const { heads, mean } = superpose.poolShares([scores], kinds);
    const all = [...heads, ...mean];
    found[layer] = Array.from({ length: all.length / 6 }, (_, head) => {
      const [together = 0, ...others] = all.slice(6 * head, 6 * head + 6);
      const byDistance = others[4] as number;
      return [together + byDistance, ...others];
    });
    progress((model.layers - layer) / model.layers);
  }
  return found;
}

export async function sideBySide(
  superpose: Superpose,
  model: OpenedModel,
  { input, text, dropped }: { input: ModelInput & Sentence; text: string; dropped: number },
  job: Job,
): Promise<Sides> {
  const shares = await sharesOf(superpose, model, input, job);
  const digest = await model.digest();
  const { name, mechanisms, cap } = model;
  sides.set(digest, {
    digest,
    name,
    mechanisms,
    cap,
    text,
    tokens: input.ids.length,
    windows: meansOf(model).windows,
    heads: shares.map((layer) => layer.slice(0, -1)),
    mean: shares.map((layer) => layer.at(-1) as number[]),
  });
  return { sides: [...sides.values()], dropped };
}

/** Where position goes: its part of the states, and of each head's scores in this sentence. */
export async function depthOf(
  superpose: Superpose,
  model: OpenedModel,
  { input, text, dropped }: { input: ModelInput & Sentence; text: string; dropped: number },
  job: Job,
): Promise<Depth> {
  const shares = await sharesOf(superpose, model, input, job);
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
    heads: shares.map((layer) => layer.slice(0, -1).map((kinds) => kinds[3] as number)),
    attention: Array.from({ length: model.layers }, (_, layer) => forward.attention(layer)),
  };
}
