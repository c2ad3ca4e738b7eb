// What positions are for: a sentence's embedding when they are taken from some of their readers, and what
// draws attention to its first token.
import * as check from '../check.js';
import type { Superpose } from '../superpose.js';
import { type FloatsOf, type Precision, type Table, table } from '../table.js';
import type { CorpusMeans } from './corpusMeans.js';
import { meansAt } from './corpusMeans.js';
import type { Encoder, EncoderForward, ForwardInput, StateMeans } from './encoder.js';
import type { LayersWatch } from './layersWatch.js';
import type { Sentence } from './sentence.js';
import { stepsOf } from './steps.js';

/** How the positions’ part is told from the rest; see PositionsTaken. */
export type TakenBy = (typeof takers)[number];
const takers = ['copied', 'streams', 'means'] as const;

export interface TakenOptions extends LayersWatch {
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
 */
export type PositionsTaken = Readonly<Record<string, Table>>;

export interface FirstTokenOptions extends LayersWatch {
  /** The id of the token that takes the first one’s place. */
  token: number;
  /** The row of the position table that takes row 0’s place, from 1; the sentence has more than 2 tokens more. */
  row: number;
  /** Default float32. */
  precision?: Precision;
}

/** One input, and who is attended to. */
export interface FirstTokenInput {
  /**
   * `unchanged`; `token`: another token on row 0; `row`: the first token on another row, with none on row 0; `both`;
   * `swapped`: the first token and that of the other row change rows.
   */
  readonly name: 'unchanged' | 'token' | 'row' | 'both' | 'swapped';
  /** [layers], mean attention to the first token over heads and over all queries but the first and the last. */
  readonly first: Float64Array;
  /** [layers], the same to the token on row 0; undefined where there is none. */
  readonly rowZero: Float64Array | undefined;
  /** The cosine of the last state’s mean over all tokens but the first with that of `unchanged`. */
  readonly cosine: number;
}

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

/** Both modules’ measurements that are taken here. */
export type Measures = Pick<Superpose, 'summary' | 'meanDecomposition' | 'rowCosines'>;

/** `rowsOf` gives a sentence’s rows after its position rows are chosen. */
export async function firstTokenInputs<P extends Precision>(
  superpose: Measures,
  encoder: Encoder<FloatsOf<P>>,
  sentence: Sentence,
  rowsOf: (sentence: Sentence, rows: readonly number[]) => Promise<Rows<P>>,
  heads: number,
  { token, row, signal }: { token: number; row: number; signal: AbortSignal | undefined },
): Promise<FirstTokenInput[]> {
  const { ids } = sentence;
  const n = ids.length;
  const own = ids.map((_, place) => place);
  const moved = [row, ...own.slice(1)];
  const swapped = moved.map((one, place) => (place === row ? 0 : one));
  const other = { ...sentence, ids: [token, ...ids.slice(1)] };
  const inputs = [
    ['unchanged', sentence, own],
    ['token', other, own],
    ['row', sentence, moved],
    ['both', other, moved],
    ['swapped', sentence, swapped],
  ] as const;
  const found: FirstTokenInput[] = [];
  let plain: Table | undefined;
  for (const [name, input, rows] of inputs) {
    const forward = await stepsOf(encoder).forward(await rowsOf(input, rows), {}, signal);
    const to = (column: number) =>
      Float64Array.from({ length: forward.layers }, (_, layer) =>
        meanAttention(superpose, forward.attention(layer), heads, n, column),
      );
    const rest = meanAfterFirst(superpose, forward.state(forward.layers));
    plain ??= rest;
    const zero = rows.indexOf(0);
    found.push({
      name,
      first: to(0),
      rowZero: zero < 0 ? undefined : to(zero),
      cosine: superpose.rowCosines(plain, rest).data[0] as number,
    });
  }
  return found;
}

/** Over heads and over the queries between the first and the last. */
function meanAttention(
  { summary }: Measures,
  weights: ArrayLike<number>,
  heads: number,
  n: number,
  column: number,
): number {
  const queries = Array.from({ length: heads * n }, (_, query) => query).filter(
    (query) => query % n > 0 && query % n < n - 1,
  );
  return summary(Float64Array.from(queries, (query) => weights[query * n + column] as number)).mean;
}

/** [1, d], over all rows but the first. */
function meanAfterFirst({ meanDecomposition }: Measures, { data, rows, columns }: Table): Table {
  const one = Array<number>(rows - 1).fill(0);
  const { global } = meanDecomposition({
    rows: table(data.subarray(columns), rows - 1, columns),
    positionOf: one,
    positions: 1,
    tokenOf: one,
    tokens: 1,
  });
  return table(global, 1, columns);
}
