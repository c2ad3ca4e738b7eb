// What positions are for: a sentence's embedding when they are taken from attention, or from everything else.
import type { FloatsOf, Precision, Table } from '../table.js';
import type { Encoder, EncoderForward, ForwardInput } from './encoder.js';
import { stepsOf } from './steps.js';
import type { SlicesWatch } from './watch.js';

export interface TakenOptions extends SlicesWatch {
  /** Default float32. */
  precision?: Precision;
}

/**
 * The embedding after each number of layers, [layers + 1, d], by what the positions are taken from. `nothing`;
 * `everything`: each position row is replaced by the mean of all, but for row 0 where the model fixes the first token.
 * `allButAttention` runs without positions and attends as the unchanged run does; `attention` runs with them and attends
 * as the run without. Attention is copied between runs, so that no part has to be told from another.
 */
export type PositionsTaken = Readonly<
  Record<'nothing' | 'allButAttention' | 'attention' | 'everything', Table>
>;

type Rows<P extends Precision> = Readonly<Record<string, Table<FloatsOf<P>>>>;

/** `rows` are the sentence’s, `bare` those without positions. */
export async function positionsTaken<P extends Precision>(
  encoder: Encoder<FloatsOf<P>>,
  { rows, bare }: { rows: Rows<P>; bare: Rows<P> },
  signal: AbortSignal | undefined,
): Promise<PositionsTaken> {
  type A = FloatsOf<P>;
  const { forward } = stepsOf(encoder);
  const attentionOf = (run: EncoderForward<A>): Record<number, A> =>
    Object.fromEntries(Array.from({ length: encoder.layers }, (_, layer) => [layer, run.attention(layer)]));
  const run = async (summands: Rows<P>, input: ForwardInput<A>) =>
    (await forward(summands, { scores: false, ...input }, signal)).embeddings;
  const plain = await forward(rows, {}, signal);
  const [nothing, own] = [plain.embeddings, attentionOf(plain)];
  const without = await forward(bare, {}, signal);
  const [everything, other] = [without.embeddings, attentionOf(without)];
  return {
    nothing,
    allButAttention: await run(bare, { attention: own }),
    attention: await run(rows, { attention: other }),
    everything,
  };
}
