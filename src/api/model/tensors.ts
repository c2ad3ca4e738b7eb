// Tensors of an opened model: names and shapes, checked as they are asked for; whole ones, and the maps of its layers by what the family calls them.
import * as check from '../check.js';
import type { Normalization } from '../scores/decompose.js';
import { type Linear, type Table, table } from '../table.js';
import type { Layout } from './families.js';
import type { Config, LayerNames } from './family.js';
import type { FirstLayer, Opened } from './firstLayer.js';
import type { SafetensorsEntry } from './safetensors.js';
import type { MapName } from './stackLayer.js';
import type { Tensors } from './tensorRows.js';
import type { CountedWatch } from './watch.js';

/** The tensors of a model, by name. */
export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

/** An extent that is known, or else what it is called. */
type Extent = number | string;

/** A tensor that must be there. */
export function present<T>(tensors: ReadonlyMap<string, T>, name: string): T {
  const found = tensors.get(name);
  if (!found) throw new RangeError(`The file lacks the tensor ${quoted(name)}.`);
  return found;
}

/** The shape of a tensor that must be there, can be decoded, and has these extents where they are known. */
export function shapeOf(tensors: Header, name: string, wanted: readonly Extent[]): readonly number[] {
  const { shape, dtype } = present(tensors, name);
  if (!['F64', 'F32', 'F16', 'BF16'].includes(dtype))
    throw new RangeError(
      `Tensor ${quoted(name)} has dtype ${quoted(dtype)}; F64, F32, F16 and BF16 can be read.`,
    );
  const fits = (extent: Extent, at: number) =>
    typeof extent === 'number' ? shape[at] === extent : (shape[at] ?? 0) > 0;
  if (shape.length !== wanted.length || !wanted.every(fits))
    throw new RangeError(
      `Tensor ${quoted(name)} must have shape [${wanted.join(', ')}] beside the others; it has [${shape.join(', ')}].`,
    );
  return shape;
}

/** Names come from the file; a hostile one must not fill the screen. */
export const quoted = (name: string) => `“${name.length > 80 ? `${name.slice(0, 80)}…` : name}”`;

/** The whole name of a layer's tensor, without `.weight`. */
export const nameIn = ({ prefix, facts }: Layout, layer: number, part: keyof LayerNames): string =>
  `${prefix}${facts.stack}.${layer}.${facts.layer[part]}`;

/** Throws where config.json gives another size than the tensors. */
export function refuseSizes(config: Config, sizes: Readonly<Record<string, number | undefined>>): void {
  for (const [member, size] of Object.entries(sizes)) {
    const said = config[member];
    if (said != null && size !== undefined && said !== size)
      throw new RangeError(
        `config.json says ${member} ${check.shown(said)}, but by its tensors the model has ${size}.`,
      );
  }
}

/** How many layers the file has. A file that was cut short may lack some. */
export function layersIn({ checkpoint, layout }: Pick<Opened, 'checkpoint' | 'layout'>): number {
  let count = 0;
  while (checkpoint.tensors.has(`${nameIn(layout, count, 'down')}.weight`)) count += 1;
  return count;
}

/** How many channels a map gives, and how many it takes. */
export type MapSize = readonly [out: number, into: number];

/** Where a map of this size is in the file; checked. */
export function placeOf(
  { checkpoint, layout, config }: Pick<Opened, 'checkpoint' | 'layout' | 'config'>,
  layer: number,
  part: MapName,
  [out, into]: MapSize,
) {
  const { facts } = layout;
  const name = nameIn(layout, layer, part);
  const joined = ['query', 'key', 'value'];
  const isJoined = facts.layer.query === facts.layer.value && joined.includes(part);
  const [place, of] = isJoined ? [joined.indexOf(part), 3] : [0, 1];
  const { transposed = false } = facts;
  shapeOf(checkpoint.tensors, `${name}.weight`, transposed ? [into, of * out] : [of * out, into]);
  const kind = part === 'output' ? 'output' : joined.includes(part) ? 'attention' : 'mlp';
  const flag = facts.biases[kind];
  const biased =
    typeof flag === 'boolean' ? flag : check.flag(`${flag} in config.json`, config[flag] ?? false);
  if (biased) shapeOf(checkpoint.tensors, `${name}.bias`, [of * out]);
  else if (checkpoint.tensors.has(`${name}.bias`))
    throw new RangeError(
      `The file has a tensor ${quoted(`${name}.bias`)}, but by its config.json ${facts.name} has no such bias.`,
    );
  return { name, out, into, place, of, transposed, biased };
}

/** Whole tensors of a file, its norms and its maps. */
export function tensorsOf(checkpoint: Tensors, watch: CountedWatch) {
  const reading = new Map<string, Promise<Table<Float64Array>>>();
  /** Reads a tensor once, however often it is asked for. */
  const whole = (name: string): Promise<Table<Float64Array>> => {
    const shape = checkpoint.tensors.get(name)?.shape ?? [];
    const rows = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    const found =
      reading.get(name) ??
      checkpoint.rows(
        name,
        Array.from({ length: rows }, (_, row) => row),
        watch,
      );
    reading.set(name, found);
    return found;
  };
  const biasOf = async ({
    name,
    out,
    place,
    biased,
  }: ReturnType<typeof placeOf>): Promise<Float64Array | undefined> =>
    biased ? (await whole(`${name}.bias`)).data.slice(place * out, (place + 1) * out) : undefined;
  return {
    whole,
    biasOf,
    /** The norm of so many channels with this name. */
    async norm(
      { layout, epsilon }: Pick<Opened, 'layout' | 'epsilon'>,
      name: string,
      width = layout.d_model,
    ): Promise<Normalization> {
      const kind = layout.facts.norms;
      // Older files of BERT have these names.
      const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
      const parts = [gamma, ...(kind === 'rms_norm' ? [] : [beta])].map((part) => `${name}.${part}`);
      for (const part of parts) shapeOf(checkpoint.tensors, part, [width]);
      const [gain, bias] = await Promise.all(parts.map(whole));
      return { kind, gamma: (gain as Table<Float64Array>).data, ...(bias && { beta: bias.data }), epsilon };
    },
    /** A map that is read at once. */
    async linear(opened: Opened, layer: number, part: MapName, size: MapSize): Promise<Linear<Float64Array>> {
      const found = placeOf(opened, layer, part, size);
      const { name, out, into, place, of, transposed } = found;
      const [{ data }, bias] = await Promise.all([whole(`${name}.weight`), biasOf(found)]);
      const own = transposed
        ? new Float64Array(out * into)
        : data.slice(place * out * into, (place + 1) * out * into);
      for (let row = 0; transposed && row < out; row++) {
        for (let column = 0; column < into; column++)
          own[row * into + column] = data[(column * of + place) * out + row] as number;
      }
      return { weight: table(own, out, into), ...(bias && { bias }) };
    },
  };
}

/** What is between those rows and the first layer's scores, as decompose() takes it. */
export async function firstLayerOf(opened: Opened, watch: CountedWatch): Promise<FirstLayer> {
  const { checkpoint, layout, heads } = opened;
  const { embeddingNorm, causal } = layout.facts;
  const size = [layout.d_model, layout.d_model] as const;
  const of = tensorsOf(checkpoint, watch);
  const norm = embeddingNorm ? layout.prefix + embeddingNorm : nameIn(layout, 0, 'attentionNorm');
  const [normalization, query, key] = await Promise.all([
    of.norm(opened, norm),
    of.linear(opened, 0, 'query', size),
    of.linear(opened, 0, 'key', size),
  ]);
  return { normalization, query, key, heads, causal };
}
