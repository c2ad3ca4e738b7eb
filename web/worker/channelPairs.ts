// The answering side of the figure of RoPE's wavelengths, loaded by whoever opens a model that turns queries and keys.
import type { CorpusMeans, ModelInput, OpenedModel, Superpose } from 'superpose';
import type { ByPair } from '../figures/channelPairs.js';
import type { Job } from '../figures/figure.js';
import type { OwnState } from '../figures/ownModel.js';
import { kindOf } from '../figures/terms.js';

/** `how` has the means and the three groups of parts. */
export async function channelPairsOf(
  superpose: Superpose,
  model: OpenedModel,
  { input, dropped }: { input: ModelInput; dropped: number },
  { layer = 0, head }: Pick<OwnState, 'layer' | 'head'>,
  how: { groups: Record<string, string[]>; means: CorpusMeans; precision: 'float32' },
  { signal }: Job,
): Promise<ByPair> {
  const { groups, means, precision } = how;
  const found = await model.channelPairs(input, { groups, means, precision, layer, only: [head], signal });
  const { data, rows } = found.shares;
  // They are shares of one variance.
  const one = new Float64Array(rows).fill(1);
  const pairs = Array.from(one, (_, pair) => pair);
  const { heads: shares } = superpose.poolShares(
    [{ heads: pairs, parts: found.parts, gauge: 'canonical', covariances: data, variances: one }],
    kindOf,
  );
  const kinds = shares.length / rows;
  return {
    tokens: found.sentence.ids.map(String),
    dropped,
    wavelengths: Array.from(found.frequencies, (turn) => (2 * Math.PI) / turn),
    shares: pairs.map((pair) => Array.from(shares.subarray(kinds * pair, kinds * (pair + 1)))),
  };
}
