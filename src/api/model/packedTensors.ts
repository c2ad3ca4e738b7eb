// All tensors of MiniLM's packed files, as the layers of any opened model are read: each layer's file when it is run.
import type { SmallSuperpose } from '../small.js';
import { type Precision, table } from '../table.js';
import type { Tensors } from './checkpoint.js';
import {
  type Manifest,
  type ReadParsed,
  type Shapes,
  type TensorReader,
  tensorReader,
} from './packedFiles.js';
import { firstShapes, type PackedRows, picked, places, words } from './packedRows.js';
import type { CountedWatch } from './watch.js';

export { bert } from './family.js';

export function packedTensors(
  superpose: SmallSuperpose,
  read: ReadParsed,
  { d_model, vocabulary, positions, inner, layerBytes }: Manifest,
  { first, rows, corpusRows }: PackedRows,
): Tensors {
  const ofFirst = firstShapes(d_model);
  const ofLayers = layerBytes.map((_, number) => layerShapes(number, d_model, inner));
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
  const shapes: Shapes = Object.assign(
    { [words]: [vocabulary, d_model], [places]: [positions, d_model], ...ofFirst },
    ...ofLayers,
  );
  /** A tensor’s rows, those of a vector being one. */
  const rowsIn = async <P extends Precision>(name: string, precision: P, watch: CountedWatch) => {
    const columns = shapes[name]?.at(-1) as number;
    const { data } = (await fileOf(name, watch))(name, precision);
    return table(data, data.length / columns, columns);
  };
  return {
    tensors: entriesOf(shapes),
    layerBytes,
    corpusRows,
    async rows(name, wanted, precision, watch) {
      return name === words || name === places
        ? rows(name, wanted, precision, watch)
        : picked(await rowsIn(name, precision, watch), wanted);
    },
    // Of a layer’s maps alone: the tables are in shards.
    async blocks(name, precision, watch, visit) {
      visit(await rowsIn(name, precision, watch), 0);
    },
  };
}

const countOf = (shape: readonly number[]) => shape.reduce((all, extent) => all * extent, 1);

/** They lie in several files; of where, the number of bytes is told alone. */
const entriesOf = (shapes: Shapes): Tensors['tensors'] =>
  new Map(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      { name, dtype: 'F16', shape, begin: 0, end: 2 * countOf(shape) },
    ]),
  );

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
