// A sentence's rows after a change of its positions or word order, and what a model does without positions.
import * as check from '../check.js';
import { type Table, table } from '../table.js';
import { type Model, rowsOf, type SummandRows } from './model.js';
import type { PositionChange, PositionsRemoved } from './openedModel.js';
import type { Sentence } from './sentences.js';
import type { ForwardInput, ForwardPass, TransformerStack } from './transformerStack.js';
import { counted } from './watch.js';

type Rows = Table<Float64Array>;

/** A sentence's rows after a change. Throws RangeError, TypeError. */
export async function changedRows(
  model: Model,
  { ids }: Sentence,
  change: PositionChange,
): Promise<SummandRows> {
  check.knownOptions('change', change, { mean: true, shift: true, order: true });
  const { checkpoint, layout } = model;
  const table = layout.tables.position;
  if (!table) {
    throw new RangeError(
      `${layout.descriptor.name} adds no positions to its tokens, so there are none to change.`,
    );
  }
  const rows = await rowsOf(model, ids, counted({}));
  const { token, position } = rows as { token: Rows; position: Rows };
  if ('order' in change) {
    const n = position.rows;
    const order = check.integers('order', change.order, n - 1, n);
    check.distinct('order', order);
    return { ...rows, token: pickedRows(token, order) };
  }
  const readPositions = (positions: readonly number[]) =>
    checkpoint.rows(
      table,
      positions.map((at) => layout.firstRow + at),
      counted({}),
    );
  const fixed = layout.excludedRows.length;
  const changed =
    'shift' in change
      ? await shiftedPositions(position, change.shift, fixed, layout.positions, readPositions)
      : await meanPositions(position, change.mean, fixed, layout.positions, readPositions);
  return { ...rows, position: changed };
}

type ReadPositions = (positions: readonly number[]) => Promise<Rows>;

/** The rows that are `shift` further down the table, except for the first `fixed` rows, which stay. */
async function shiftedPositions(
  { rows: n }: Rows,
  shift: unknown,
  fixed: number,
  positions: number,
  readPositions: ReadPositions,
): Promise<Rows> {
  const by = check.integer('shift', shift, 0, positions - n);
  return readPositions(Array.from({ length: n }, (_, row) => (row < fixed ? row : row + by)));
}

/**
 * The mean row of the sentence, without the first `fixed` rows, which stay; or the mean row of the table,
 * everywhere.
 */
async function meanPositions(
  position: Rows,
  mean: unknown,
  fixed: number,
  positions: number,
  readPositions: ReadPositions,
): Promise<Rows> {
  const { rows: n, columns: d } = position;
  const kind = check.oneOf('mean', mean, ['sentence', 'table']);
  const averaged =
    kind === 'sentence'
      ? table(position.data.subarray(fixed * d), n - fixed, d)
      : await readPositions(Array.from({ length: positions }, (_, row) => row));
  const row = meanRow(averaged);
  const data = position.data.slice();
  for (let at = kind === 'table' ? 0 : fixed; at < n; at++) data.set(row, at * d);
  return table(data, n, d);
}

function pickedRows({ data, rows, columns }: Rows, order: readonly number[]): Rows {
  const picked = data.slice();
  for (const [to, from] of order.entries()) {
    picked.set(data.subarray(from * columns, (from + 1) * columns), to * columns);
  }
  return table(picked, rows, columns);
}

function meanRow({ data, rows, columns }: Rows): Float64Array {
  const sums = new Float64Array(columns);
  for (let at = 0; at < rows * columns; at++) {
    sums[at % columns] = (sums[at % columns] as number) + (data[at] as number);
  }
  return sums.map((sum) => sum / rows);
}

/**
 * The embeddings of a sentence when positions are removed from nothing, from attention, from all else, and
 * from everything. `rows` are the sentence's, and `bare` those without positions.
 */
export async function positionsRemoved(
  stack: TransformerStack,
  { rows, bare }: { rows: SummandRows; bare: SummandRows },
  signal: AbortSignal | undefined,
): Promise<PositionsRemoved> {
  const attentionOf = (forward: ForwardPass): Record<number, Float64Array> =>
    Object.fromEntries(
      Array.from({ length: forward.layers }, (_, layer) => [layer, forward.attention(layer)]),
    );
  const embeddings = async (summands: SummandRows, input: ForwardInput) =>
    (await stack.forward(summands, { scores: false, signal, ...input })).embeddings;
  // A pass is valid until the next one, so its embeddings and attention are read immediately.
  const unchanged = await stack.forward(rows, { signal });
  const [nothing, attentionWith] = [unchanged.embeddings, attentionOf(unchanged)];
  const without = await stack.forward(bare, { signal });
  const [everything, attentionWithout] = [without.embeddings, attentionOf(without)];
  return {
    nothing,
    allButAttention: await embeddings(bare, { attention: attentionWith }),
    attention: await embeddings(rows, { attention: attentionWithout }),
    everything,
  };
}
