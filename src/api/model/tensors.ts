// Tensors of an opened model: whole ones, and the maps of its layers by what the family calls them.
import * as check from '../check.js';
import type { Normalization } from '../scores/decompose.js';
import { type Linear, type Table, table } from '../table.js';
import type { Layout } from './families.js';
import type { LayerNames } from './family.js';
import type { FirstLayer, Opened } from './firstLayer.js';
import { quoted, shapeOf } from './header.js';
import type { Tensors } from './tensorRows.js';
import type { CountedWatch } from './watch.js';

export type MapName = 'query' | 'key' | 'value' | 'output' | 'up' | 'gate' | 'down';

/** The whole name of a layer's tensor, without `.weight`. */
export const nameIn = ({ prefix, facts }: Layout, layer: number, part: keyof LayerNames): string =>
  `${prefix}${facts.stack}.${layer}.${facts.layer[part]}`;

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
  type A = Float64Array;
  const reading = new Map<string, Promise<Table<A>>>();
  /** Reads a tensor once, however often it is asked for. */
  const whole = (name: string): Promise<Table<A>> => {
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
  const biasOf = async ({ name, out, place, biased }: ReturnType<typeof placeOf>): Promise<A | undefined> =>
    biased ? (await whole(`${name}.bias`)).data.slice(place * out, (place + 1) * out) : undefined;
  return {
    whole,
    biasOf,
    /** The norm of so many channels with this name. */
    async norm(
      { layout, epsilon }: Pick<Opened, 'layout' | 'epsilon'>,
      name: string,
      width = layout.d_model,
    ): Promise<Normalization<A>> {
      const kind = layout.facts.norms;
      // Older files of BERT have these names.
      const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
      const parts = [gamma, ...(kind === 'rms_norm' ? [] : [beta])].map((part) => `${name}.${part}`);
      for (const part of parts) shapeOf(checkpoint.tensors, part, [width]);
      const [gain, bias] = await Promise.all(parts.map(whole));
      return { kind, gamma: (gain as Table<A>).data, ...(bias && { beta: bias.data }), epsilon };
    },
    /** A map that is read at once. */
    async linear(opened: Opened, layer: number, part: MapName, size: MapSize): Promise<Linear<A>> {
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
