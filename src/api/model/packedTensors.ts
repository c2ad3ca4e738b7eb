// The tensors of MiniLM’s packed files, read as those of any opened model are: rows from the shards that have them, a
// layer’s own file when the layer is run.
import type { SmallSuperpose } from '../small.js';
import { type Table, table } from '../table.js';
import type { Tensors } from './checkpoint.js';
import {
  type Manifest,
  type ReadParsed,
  type Shapes,
  type TensorReader,
  tensorReader,
} from './packedFiles.js';
import { corpusIds } from './sentence.js';
import type { CountedWatch } from './watch.js';

export const words = 'embeddings.word_embeddings.weight';
export const places = 'embeddings.position_embeddings.weight';
export const segments = 'embeddings.token_type_embeddings.weight';
export const norm = 'embeddings.LayerNorm';
export const attention = 'encoder.layer.0.attention.self';

export interface PackedTensors extends Tensors {
  /** Those that the first scores need. */
  readonly first: TensorReader;
}

export async function packedTensors(
  superpose: SmallSuperpose,
  read: ReadParsed,
  manifest: Manifest,
): Promise<PackedTensors> {
  const { d_model, vocabulary, positions, inner, layerBytes } = manifest;
  const ofFirst = firstShapes(d_model);
  const first = await read('layer-0.safetensors', (bytes) => tensorReader(superpose, bytes, ofFirst));
  const ofLayers = layerBytes.map((_, number) => layerShapes(number, d_model, inner));
  const shapes: Shapes = Object.assign(
    { [words]: [vocabulary, d_model], [places]: [positions, d_model], ...ofFirst },
    ...ofLayers,
  );
  const inShards: Readonly<Record<string, ReturnType<typeof rowReader>>> = {
    [words]: rowReader(superpose, read, 'words', vocabulary, manifest),
    [places]: rowReader(superpose, read, 'positions', positions, manifest),
  };
  /** The corpus’s words, which are in a file of their own. */
  let corpus: { rows: TensorReader; at: ReadonlyMap<number, number> } | undefined;
  /** The file of the layer that is read, until all of it has been taken. */
  let open:
    | { number: number; left: Set<string>; by: CountedWatch; tensors: Promise<TensorReader> }
    | undefined;

  const fileOf = (name: string, watch: CountedWatch): TensorReader | Promise<TensorReader> => {
    if (name in ofFirst) return first;
    const number = ofLayers.findIndex((shapes) => name in shapes);
    const shapes = ofLayers[number] as Shapes;
    if (open?.number === number) {
      // It came for a caller who then went away.
      if (open.by !== watch) watch.received(layerBytes[number] as number);
      open.by = watch;
    } else {
      const { signal, received } = watch;
      const parse = (bytes: Uint8Array) => tensorReader(superpose, bytes, shapes);
      const tensors = read(`encoder-${number}.safetensors`, parse, { signal, received });
      const reading = { number, left: new Set(Object.keys(shapes)), by: watch, tensors };
      open = reading;
      tensors.catch(() => {
        if (open === reading) open = undefined;
      });
    }
    const { left, tensors } = open;
    left.delete(name);
    if (left.size === 0) open = undefined;
    return tensors;
  };
  /** A tensor’s rows, those of a vector being one. */
  const rowsIn = async (name: string, watch: CountedWatch) => {
    const columns = shapes[name]?.at(-1) as number;
    const { data } = (await fileOf(name, watch))(name);
    return table(data, data.length / columns, columns);
  };
  return {
    first,
    layerBytes,
    // They lie in several files; of where, the number of bytes is told alone.
    tensors: new Map(
      Object.entries(shapes).map(([name, shape]) => [
        name,
        { name, dtype: 'F16', shape, begin: 0, end: 2 * shape.reduce((all, extent) => all * extent, 1) },
      ]),
    ),
    async corpusRows(ids, { signal }) {
      const all = corpusIds([ids]);
      const parse = (bytes: Uint8Array) => tensorReader(superpose, bytes, { rows: [all.length, d_model] });
      corpus ??= {
        rows: await read('corpus.safetensors', parse, { signal }),
        at: new Map(all.map((id, place) => [id, place])),
      };
    },
    async rows(name, wanted, watch) {
      const { rows, at } = (name === words && corpus) || {};
      if (rows && at && wanted.every((id) => at.has(id)))
        return picked(
          rows('rows'),
          wanted.map((id) => at.get(id) as number),
        );
      return inShards[name]?.(wanted) ?? picked(await rowsIn(name, watch), wanted);
    },
    // Of a layer’s maps alone: the tables are in shards.
    async blocks(name, watch, visit) {
      visit(await rowsIn(name, watch), 0);
    },
  };
}

const firstShapes = (d: number): Shapes => ({
  [segments]: [2, d],
  [`${norm}.weight`]: [d],
  [`${norm}.bias`]: [d],
  [`${attention}.query.weight`]: [d, d],
  [`${attention}.query.bias`]: [d],
  [`${attention}.key.weight`]: [d, d],
  [`${attention}.key.bias`]: [d],
});

/** The tensors in a layer’s own file, and their shapes. */
function layerShapes(layer: number, d: number, wide: number): Shapes {
  const name = (part: string) => `encoder.layer.${layer}.${part}`;
  const linear = (part: string, out: number, into: number) => ({
    [name(`${part}.weight`)]: [out, into],
    [name(`${part}.bias`)]: [out],
  });
  const norm = (part: string) => ({ [name(`${part}.weight`)]: [d], [name(`${part}.bias`)]: [d] });
  return {
    ...(layer > 0 && { ...linear('attention.self.query', d, d), ...linear('attention.self.key', d, d) }),
    ...linear('attention.self.value', d, d),
    ...linear('attention.output.dense', d, d),
    ...norm('attention.output.LayerNorm'),
    ...linear('intermediate.dense', wide, d),
    ...linear('output.dense', d, wide),
    ...norm('output.LayerNorm'),
  };
}

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
  return async (rows: readonly number[]) => {
    const needed = [...new Set(rows.map((row) => Math.floor(row / rowsPerShard)))];
    const found = await Promise.all(needed.map(async (at) => [at, (await shard(at))('rows').data] as const));
    const tables = new Map(found);
    return gather(
      rows.map((row) => {
        const start = (row % rowsPerShard) * d_model;
        return (tables.get(Math.floor(row / rowsPerShard)) as Float64Array).subarray(start, start + d_model);
      }),
      d_model,
    );
  };
}

/** Stacks rows. */
function gather(rows: readonly Float64Array[], columns: number): Table<Float64Array> {
  const data = new Float64Array(rows.length * columns);
  rows.forEach((row, place) => {
    data.set(row, place * columns);
  });
  return table(data, rows.length, columns);
}

/** Rows of a table, copied. */
const picked = ({ data, columns }: Table<Float64Array>, rows: readonly number[]): Table<Float64Array> =>
  gather(
    rows.map((row) => data.subarray(row * columns, (row + 1) * columns)),
    columns,
  );
