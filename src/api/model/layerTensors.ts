// Finds the norms and maps of a model's layers in its files, by the family's descriptor, and reads their
// values.
import * as check from '../check.js';
import type { Normalization } from '../scores/decompose.js';
import { type Linear, type Table, table } from '../table.js';
import { quoted, shapeOf, type Tensors } from './checkpoint.js';
import { hasJointMap } from './descriptor.js';
import type { RunnableModel } from './model.js';
import { nameIn } from './recognize.js';
import type { MapName } from './stackLayer.js';
import type { CountedWatch } from './watch.js';

/** How many channels a map writes, and how many it reads. */
export type MapSize = readonly [out: number, into: number];

/** Where a map is in a file. */
export interface MapPlace {
  /** The tensor's full name, without `.weight` or `.bias`. */
  readonly name: string;
  /** The width of the map's output. */
  readonly out: number;
  /** The width of its input. */
  readonly into: number;
  /** Which of the tensor's `of` maps it is, from 0. */
  readonly place: number;
  /** How many maps the tensor holds. */
  readonly of: number;
  /** Whether the tensor is stored as [in, out]. */
  readonly transposed: boolean;
  /** Whether the map has a bias. */
  readonly hasBias: boolean;
}

const attentionMaps: readonly MapName[] = ['query', 'key', 'value'];

/**
 * Finds a map of this size. Throws RangeError if its tensor is missing or misshapen, or has a bias that it
 * should not have.
 */
export function mapPlace(
  { checkpoint, layout, config }: Pick<RunnableModel, 'checkpoint' | 'layout' | 'config'>,
  layer: number,
  part: MapName,
  [out, into]: MapSize,
): MapPlace {
  const { descriptor } = layout;
  const name = nameIn(layout, layer, part);
  const isOfAttention = attentionMaps.includes(part);
  const [place, of] =
    hasJointMap(descriptor) && isOfAttention ? [attentionMaps.indexOf(part), attentionMaps.length] : [0, 1];
  const { transposed = false } = descriptor.tensors;
  shapeOf(checkpoint.tensors, `${name}.weight`, transposed ? [into, of * out] : [of * out, into]);
  const kind = part === 'output' ? 'output' : isOfAttention ? 'attention' : 'mlp';
  const flag = descriptor.biases[kind];
  const hasBias =
    typeof flag === 'boolean' ? flag : check.flag(`${flag} in config.json`, config[flag] ?? false);
  if (hasBias) {
    shapeOf(checkpoint.tensors, `${name}.bias`, [of * out]);
  } else if (checkpoint.tensors.has(`${name}.bias`)) {
    throw new RangeError(
      `The file has a tensor ${quoted(`${name}.bias`)}, but by its config.json this ${descriptor.name} has no such bias.`,
    );
  }
  return { name, out, into, place, of, transposed, hasBias };
}

/** Reads norms, biases and maps of a checkpoint, each tensor once, however many maps it holds. */
export function layerTensors(checkpoint: Tensors, watch: CountedWatch) {
  const reading = new Map<string, Promise<Table<Float64Array>>>();
  const tensor = (name: string): Promise<Table<Float64Array>> => {
    const shape = checkpoint.tensors.get(name)?.shape ?? [];
    const count = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    const rows = Array.from({ length: count }, (_, row) => row);
    const read = reading.get(name) ?? checkpoint.rows(name, rows, watch);
    reading.set(name, read);
    return read;
  };
  const biasOf = async ({ name, out, place, hasBias }: MapPlace): Promise<Float64Array | undefined> =>
    hasBias ? (await tensor(`${name}.bias`)).data.slice(place * out, (place + 1) * out) : undefined;
  return {
    biasOf,
    /** Reads the norm that has this full name and `width` channels. */
    async norm(
      { layout, epsilon }: Pick<RunnableModel, 'layout' | 'epsilon'>,
      name: string,
      width = layout.d_model,
    ): Promise<Normalization> {
      const { kind } = layout.descriptor.norms;
      // Older files of BERT have these names.
      const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
      const parameters = (kind === 'rms_norm' ? [gamma] : [gamma, beta]).map((part) => `${name}.${part}`);
      for (const parameter of parameters) shapeOf(checkpoint.tensors, parameter, [width]);
      const [gain, bias] = await Promise.all(parameters.map(tensor));
      return { kind, gamma: (gain as Table<Float64Array>).data, ...(bias && { beta: bias.data }), epsilon };
    },
    /** Reads a map, [out, in], and its bias. */
    async linear(
      model: RunnableModel,
      layer: number,
      part: MapName,
      size: MapSize,
    ): Promise<Linear<Float64Array>> {
      const mapped = mapPlace(model, layer, part, size);
      const [{ data }, bias] = await Promise.all([tensor(`${mapped.name}.weight`), biasOf(mapped)]);
      return { weight: mapIn(data, mapped), ...(bias && { bias }) };
    },
  };
}

/** One of the maps that a tensor holds, as a table [out, in]. */
function mapIn(tensor: Float64Array, { out, into, place, of, transposed }: MapPlace): Table<Float64Array> {
  if (!transposed) return table(tensor.slice(place * out * into, (place + 1) * out * into), out, into);
  const data = new Float64Array(out * into);
  for (let row = 0; row < out; row++) {
    for (let column = 0; column < into; column++) {
      data[row * into + column] = tensor[(column * of + place) * out + row] as number;
    }
  }
  return table(data, out, into);
}
