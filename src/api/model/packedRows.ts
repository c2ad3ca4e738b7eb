// The rows of MiniLM's packed tables, and its first layer: what the first scores of any sentence need.
import type { SmallSuperpose } from '../small.js';
import { type Floats, type FloatsOf, type Precision, type Table, table } from '../table.js';
import type { Tensors } from './checkpoint.js';
import {
  type Manifest,
  type ReadParsed,
  type Shapes,
  type TensorReader,
  tensorReader,
} from './packedFiles.js';
import { corpusIds } from './sentence.js';

export const words = 'embeddings.word_embeddings.weight';
export const places = 'embeddings.position_embeddings.weight';
export const segments = 'embeddings.token_type_embeddings.weight';
export const norm = 'embeddings.LayerNorm';

/** What is read of its tables and of its first layer. */
export interface PackedRows extends Required<Pick<Tensors, 'rows' | 'corpusRows'>> {
  /** The tensors that the first scores need. */
  readonly first: TensorReader;
}

export async function packedRows(
  superpose: SmallSuperpose,
  read: ReadParsed,
  manifest: Manifest,
): Promise<PackedRows> {
  const { d_model, vocabulary, positions } = manifest;
  const shapes = firstShapes(d_model);
  const first = await read('layer-0.safetensors', (bytes) => tensorReader(superpose, bytes, shapes));
  const tables: Readonly<Record<string, ReturnType<typeof rowReader>>> = {
    [words]: rowReader(superpose, read, 'words', vocabulary, manifest),
    [places]: rowReader(superpose, read, 'positions', positions, manifest),
  };
  /** The corpus’s words, which are in a file of their own. */
  let corpus: { rows: TensorReader; at: ReadonlyMap<number, number> } | undefined;
  return {
    first,
    async corpusRows(ids, { signal }) {
      const all = corpusIds([ids]);
      const parse = (bytes: Uint8Array) => tensorReader(superpose, bytes, { rows: [all.length, d_model] });
      corpus ??= {
        rows: await read('corpus.safetensors', parse, { signal }),
        at: new Map(all.map((id, place) => [id, place])),
      };
    },
    async rows(name, wanted, precision) {
      const at = name === words ? corpus?.at : undefined;
      if (at && wanted.every((id) => at.has(id)))
        return picked(
          (corpus as NonNullable<typeof corpus>).rows('rows', precision),
          wanted.map((id) => at.get(id) as number),
        );
      return tables[name]?.(wanted, precision) ?? picked(first(name, precision), wanted);
    },
  };
}

export const attention = 'encoder.layer.0.attention.self';

export const firstShapes = (d: number): Shapes => ({
  [segments]: [2, d],
  [`${norm}.weight`]: [d],
  [`${norm}.bias`]: [d],
  [`${attention}.query.weight`]: [d, d],
  [`${attention}.query.bias`]: [d],
  [`${attention}.key.weight`]: [d, d],
  [`${attention}.key.bias`]: [d],
});

/** Rows of a table that is stored in shards; each shard is read once, when one of its rows is needed. */
function rowReader(
  superpose: SmallSuperpose,
  read: ReadParsed,
  name: string,
  rowsInAll: number,
  { rowsPerShard, d_model }: Manifest,
) {
  const shards = new Map<number, Promise<TensorReader>>();
  const shard = (index: number) => {
    let reading = shards.get(index);
    if (!reading) {
      // The last shard has what is left.
      const shape = [Math.min(rowsPerShard, rowsInAll - index * rowsPerShard), d_model];
      reading = read(`${name}-${index}.safetensors`, (bytes) =>
        tensorReader(superpose, bytes, { rows: shape }),
      );
      shards.set(index, reading);
      // Forget a failure, so that the next sentence tries again.
      reading.catch(() => shards.delete(index));
    }
    return reading;
  };
  return async <P extends Precision = 'float64'>(rows: readonly number[], precision?: P) => {
    const needed = [...new Set(rows.map((row) => Math.floor(row / rowsPerShard)))];
    const tables = new Map(
      await Promise.all(
        needed.map(async (index) => [index, (await shard(index))('rows', precision)] as const),
      ),
    );
    const views = rows.map((row) => {
      const { data } = tables.get(Math.floor(row / rowsPerShard)) as Table<FloatsOf<P>>;
      const start = (row % rowsPerShard) * d_model;
      return data.subarray(start, start + d_model) as FloatsOf<P>;
    });
    return gather(views, d_model);
  };
}

/** Stacks rows, at least one. */
function gather<A extends Floats>(rows: readonly A[], columns: number): Table<A> {
  const data = new ((rows[0] as A).constructor as new (length: number) => A)(rows.length * columns);
  rows.forEach((row, place) => {
    data.set(row, place * columns);
  });
  return table(data, rows.length, columns);
}

/** Rows of a table, copied. */
export const picked = <A extends Floats>({ data, columns }: Table<A>, rows: readonly number[]): Table<A> =>
  gather(
    rows.map((row) => data.subarray(row * columns, (row + 1) * columns) as A),
    columns,
  );
