// What positions are for: a sentence's embedding when they are taken from some of their readers.
import * as check from '../check.js';
import type { FloatsOf, Precision, Table } from '../table.js';
import type { CorpusMeans } from './corpusMeans.js';
import { meansAt } from './corpusMeans.js';
import type { Encoder, EncoderForward, ForwardInput, StateMeans } from './encoder.js';
import { stepsOf } from './steps.js';
import type { SlicesWatch } from './watch.js';

/** How the positions’ part is told from the rest; see PositionsTaken. */
export type TakenBy = (typeof takers)[number];
const takers = ['copied', 'streams', 'means'] as const;

export interface TakenOptions extends SlicesWatch {
  /** Default `copied`. */
  by?: TakenBy;
  /** From corpusMeans(); needed by `means`, of which there are as many positions as windows have. */
  means?: Pick<CorpusMeans, 'states'>;
  /** Default float32. */
  precision?: Precision;
}

/**
 * The embedding after each number of layers, [layers + 1, d], by what the positions are taken from:
 *
 * - always `nothing`; and `everything`: each position row is replaced by the mean of all, but for row 0 where the model
 *   fixes the first token;
 * - `copied`: `allButAttention` runs without positions and attends as the unchanged run does; `attention` runs with
 *   them and attends as the run without. No part has to be told from another;
 * - `streams`: in all layers `values`, `queriesKeys` or `allThree` read the state less the unchanged run’s stream of
 *   position (see EncoderForward.decompose()); `residual`: in layer 0, the residual path alone loses it, where no norm
 *   comes between that path and what layer 0 reads;
 * - `means`: the same three, less the position’s mean over a corpus.
 *
 * A stream is the unchanged run’s in every layer, so that all three take the same away; estimated again in the
 * changed run, it would differ from the second layer on.
 */
export type PositionsTaken = Readonly<Record<string, Table>>;

type Means = NonNullable<TakenOptions['means']>;
type Rows<P extends Precision> = Readonly<Record<string, Table<FloatsOf<P>>>>;

export const checkedTaker = (by: unknown): TakenBy => check.oneOf('by', by ?? 'copied', takers);

/** `rows` are the sentence’s, `bare` those without positions. */
export async function positionsTaken<P extends Precision>(
  encoder: Encoder<FloatsOf<P>>,
  { rows, bare }: { rows: Rows<P>; bare: Rows<P> },
  apart: readonly number[],
  {
    by,
    means,
    precision,
    norm,
    signal,
  }: {
    by: TakenBy;
    means: TakenOptions['means'];
    precision: P;
    norm: 'pre' | 'post';
    signal: AbortSignal | undefined;
  },
): Promise<PositionsTaken> {
  type A = FloatsOf<P>;
  const { layers } = encoder;
  const steps = stepsOf(encoder);
  const each = <T>(of: (layer: number) => T): Record<number, T> =>
    Object.fromEntries(Array.from({ length: layers }, (_, layer) => [layer, of(layer)]));
  const run = async (summands: Rows<P>, input: ForwardInput<A>) =>
    (await steps.forward(summands, { scores: false, ...input }, signal)).embeddings as Table;
  const attentionOf = (forward: EncoderForward<A>) => each((layer) => forward.attention(layer));

  if (by === 'means') check.object('means', means);
  const plain = await steps.forward(rows, {}, signal);
  const nothing = plain.embeddings as Table;
  if (by === 'copied') {
    const own = attentionOf(plain);
    const without = await steps.forward(bare, {}, signal);
    const everything = without.embeddings as Table;
    const other = attentionOf(without);
    return {
      nothing,
      allButAttention: await run(bare, { attention: own }),
      attention: await run(rows, { attention: other }),
      everything,
    };
  }
  const position = each(
    (layer) =>
      plain.parts(
        by === 'streams'
          ? { layer, way: by, gauge: 'canonical', apart }
          : {
              layer,
              way: 'mean',
              means: meansAt(means as Means, layer, precision) as unknown as StateMeans<A>,
            },
      ).position as Table<A>,
  );
  const first = position[0] as Table<A>;
  const back = { ...first, data: first.data.map((value) => -value) as A };
  return {
    nothing,
    values: await run(rows, { uncarried: position }),
    queriesKeys: await run(rows, { unread: position }),
    allThree: await run(rows, { uncarried: position, unread: position }),
    // Taken from all that reads the first state, and given back to queries, keys and values.
    ...(by === 'streams' &&
      norm === 'post' && {
        residual: await run(rows, { withheld: first, unread: { 0: back }, uncarried: { 0: back } }),
      }),
    everything: await run(bare, {}),
  };
}
