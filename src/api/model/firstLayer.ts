// The first layer's scores of a reader's model, by an encoder of one layer whose input is taken apart.
import { grouped, type Normalization } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import { type Floats, type FloatsOf, type Linear, type Precision, type Table, table } from '../table.js';
import type { Superpose } from '../whole.js';
import { type Checkpoint, type Held, present } from './checkpoint.js';
import type { EncoderDecomposeInput, EncoderInput } from './encoder.js';
import { type Layout, type LinearNames, type NormFacts, type NormNames, placeOfNorms } from './layout.js';
import type { EncoderParts, Resident } from './resident.js';
import { type CountedWatch, counted, type SlicesWatch } from './slices.js';
import { type ReadMap, type ReadTensor, stepsOf } from './steps.js';

/** An opened model, as these functions need it. */
export interface Opened {
  /** Both modules. */
  superpose: Superpose;
  /** Its tensors. */
  checkpoint: Checkpoint;
  /** What they mean. */
  layout: Layout;
  /** Heads of the first layer. */
  heads: number;
  /** ε of its norms. */
  epsilon: number;
}

/** Ids within the vocabulary, the patches of a picture, or frames of sound. */
export type FirstLayerInput = { ids: readonly number[] } | { patches: Table } | { frames: Table };

interface Asked extends GaugeOptions, SlicesWatch {
  /** Which heads. */
  only?: readonly number[];
  /** Parts to add up. */
  groups?: Record<string, readonly string[]>;
}

const offset = 'offset';

/** The names that summandsOf() returns, without the offset. */
export function summandNames({ kind, patch, position, relative, segment, token }: Layout): string[] {
  if (kind === 'patches') return ['patch', 'position', ...(patch?.labels.length ? ['class'] : [])];
  if (kind === 'frames') return ['frame', 'position'];
  if (relative) return ['token'];
  return token && position ? ['token', 'position', ...(segment ? ['token_type'] : [])] : [];
}

export async function decomposeFirstLayer<P extends Precision>(
  opened: Pick<Opened, 'superpose' | 'checkpoint' | 'layout'>,
  kept: Resident,
  input: FirstLayerInput,
  precision: P,
  { gauge = 'canonical', apart, only, groups, ...waiting }: Asked,
): Promise<Scores<FloatsOf<P>>> {
  type A = FloatsOf<P>;
  const { layout } = opened;
  const watch = counted(waiting);
  const named = [...summandNames(layout), 'constant'];
  // The other parts of a one-layer model are zero or constant, so they go into `constant`.
  const asked = besideConstant(layout, named, { groups, gauge } as OfParts<A>, ['attention', 'mlp']);
  // Begun now, so that the total to read is known before the first bytes arrive.
  const of = tensorsOf(opened.checkpoint, precision, watch);
  const reading = summandsOf(opened, input, precision, of, watch);
  // Whoever calls is told below.
  reading.catch(() => {});
  return kept.use(precision, 1, watch, async (encoder) => {
    const summands = await reading;
    const [first] = Object.values(summands) as [Table<A>];
    const found = await stepsOf(encoder).forward(summands, {}, watch.signal);
    return found.decompose({
      ...asked,
      layer: 0,
      apart: apart ?? (gauge === 'raw' ? [] : layout.apart.filter((row) => row < first.rows)),
      ...(only && { only }),
    });
  });
}

/** What a question about parts says of them. */
type OfParts<A extends Floats> = Pick<EncoderDecomposeInput<A>, 'groups' | 'gauge'>;

/** The question with `others` counted among the constant, and the bias of patches, which is no part of its own. */
export function besideConstant<A extends Floats, T extends OfParts<A>>(
  { patch, d_model }: Layout,
  parts: string[],
  asked: T,
  others: readonly string[] = [],
): T {
  const { names, of } = grouped(parts, asked.groups);
  const added = [...others, ...(patch?.projection.bias === undefined ? [] : [offset])];
  const groups = Object.fromEntries(
    names.map((name, place) => {
      const members = parts.filter((_, part) => of[part] === place);
      return [name, members.includes('constant') ? [...members, ...added] : members];
    }),
  );
  const { gauge } = asked;
  if (typeof gauge !== 'object' || gauge === null || !added.includes(offset)) return { ...asked, groups };
  const [like] = Object.values(gauge.means);
  const nothing = like instanceof Float32Array ? new Float32Array(d_model) : new Float64Array(d_model);
  return { ...asked, groups, gauge: { means: { ...gauge.means, [offset]: nothing } } };
}

/** The model’s encoder without layers; `more` are what its later layers need. */
export async function beforeLayers<P extends Precision>(
  { superpose, layout, heads, epsilon }: Opened,
  of: ReturnType<typeof tensorsOf<P>>,
  precision: P,
  more: Omit<EncoderInput<P>, 'd_model' | 'heads' | 'precision' | 'causal' | 'norm'> = {},
) {
  const { d_model, causal, embeddingNorm, norms, projection, relativeBias } = layout;
  const [normed, projected, biased] = await Promise.all([
    embeddingNorm && of.norm(embeddingNorm, epsilon, norms),
    projection && of.linear(projection),
    relativeBias && of.whole(relativeBias),
  ]);
  return superpose.encoder<P>({
    d_model,
    heads,
    precision,
    causal,
    norm: placeOfNorms(layout),
    ...(normed && { embeddingNorm: normed }),
    ...(projected && { projection: projected }),
    ...(biased && { relativeBias: biased }),
    ...more,
  });
}

/** The first layer's queries and keys; the rest of that layer is zero. */
export function firstLayer(opened: Opened): EncoderParts {
  const { checkpoint, layout, heads, epsilon } = opened;
  const { attentionNorm } = layout;
  const [query, key] = [layout.query, layout.key] as [LinearNames, LinearNames];
  return {
    begin: (precision, watch) => beforeLayers(opened, tensorsOf(checkpoint, precision, watch), precision),
    async layer(_, precision, watch) {
      const of = tensorsOf(checkpoint, precision, watch);
      const [normed, queries, keys] = await Promise.all([
        attentionNorm && of.norm(attentionNorm, epsilon),
        of.map(query, [queryFactor({ layout, heads }, 0)]),
        of.map(key),
      ]);
      const d = layout.d_model;
      const nothing = { weight: of.empty(d, d) };
      return {
        query: queries,
        key: keys,
        value: nothing,
        output: nothing,
        attentionNorm: normed ?? unread,
        up: { weight: of.empty(1, d) },
        down: { weight: of.empty(d, 1) },
        mlpNorm: unread,
      };
    },
    bytes() {
      const names = [
        query.weight,
        query.bias,
        key.weight,
        key.bias,
        attentionNorm?.gamma,
        attentionNorm?.beta,
      ];
      const tensors = [...new Set(names)].flatMap((name) => checkpoint.tensors.get(name ?? '') ?? []);
      return tensors.reduce((sum, { begin, end }) => sum + end - begin, 0);
    },
    alone: false,
  };
}

/** What a layer’s W_Q is multiplied by, so that its scores over √d_h are the model’s. */
export function queryFactor(
  { layout, heads }: Pick<Opened, 'layout' | 'heads'>,
  layer: number,
  d_head = layout.d_model / heads,
): number {
  const { unscaled, scaledByLayer } = layout;
  const { products = 1, under: other = d_head } = layout.layer ?? {};
  const under = unscaled ? 1 : products * other;
  return Math.sqrt(d_head / under) / (scaledByLayer ? layer + 1 : 1);
}

/** Heads of keys and the width of a head of a family that may have fewer of those, and wider or narrower ones. */
export function headsOf({ checkpoint, layout, heads }: Pick<Opened, 'checkpoint' | 'layout' | 'heads'>): {
  keyHeads: number;
  d_head: number;
} {
  const { query, keyChannels } = layout;
  const all = present(checkpoint, (query as LinearNames).weight).shape[0] as number;
  const rows = keyChannels === undefined ? all / 3 : all;
  const d_head = layout.d_head ?? rows / heads;
  const keyHeads = (keyChannels ?? rows) / d_head;
  if (heads * d_head !== rows || ![d_head, keyHeads, heads / keyHeads].every(Number.isInteger))
    throw new RangeError(
      `config.json gives ${heads} heads, which do not fit queries of ${rows} and keys of ${keyChannels ?? rows} channels.`,
    );
  return { keyHeads, d_head };
}

/** A norm whose output nobody reads. */
const unread = { kind: 'layer_norm', epsilon: 1 } as const;

/** Whole tensors of a file, and linear maps. */
export function tensorsOf<P extends Precision>(checkpoint: Checkpoint, precision: P, watch: CountedWatch) {
  type A = FloatsOf<P>;
  const make = (length: number) =>
    (precision === 'float32' ? new Float32Array(length) : new Float64Array(length)) as A;
  const reading = new Map<string, Promise<Table<A>>>();
  const tensors = new Map<string, ReadTensor<A>>();
  /** The same for all maps of a tensor, which so are read together. */
  const tensor = (name: string): ReadTensor<A> => {
    const found = tensors.get(name) ?? ((visit) => checkpoint.blocks(name, precision, watch, visit));
    tensors.set(name, found);
    return found;
  };
  /** Reads a tensor once, however often it is asked for. */
  const whole = (name: string): Promise<Table<A>> => {
    const { shape } = checkpoint.tensors.get(name) as Held;
    const count = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    const rows = Array.from({ length: count }, (_, row) => row);
    const found = reading.get(name) ?? checkpoint.rows(name, rows, precision, watch);
    reading.set(name, found);
    return found;
  };
  return {
    whole,
    empty: (rows: number, columns: number): Table<A> => table(make(rows * columns), rows, columns),
    /** The norm, what it gives multiplied by a factor. */
    async norm(
      { gamma, beta }: NormNames,
      epsilon: number,
      norms?: NormFacts,
      factor = 1,
    ): Promise<Normalization<A>> {
      const [gain, bias] = await Promise.all([whole(gamma), beta === undefined ? undefined : whole(beta)]);
      const { kind = 'layer_norm', plus = 0 } = norms ?? {};
      return {
        kind,
        gamma: gain.data.map((one) => factor * (one + plus)) as A,
        ...(bias && { beta: bias.data.map((one) => factor * one) as A }),
        epsilon,
      };
    },
    /** A map that is no layer’s. */
    async linear({ weight, bias }: LinearNames): Promise<Linear<A>> {
      const { shape } = checkpoint.tensors.get(weight) as Held;
      const [{ data }, added] = await Promise.all([
        whole(weight),
        bias === undefined ? undefined : whole(bias),
      ]);
      const rows = shape[0] as number;
      return { weight: table(data, rows, data.length / rows), ...(added && { bias: added.data }) };
    },
    /** A layer’s map, whose weight is read when it is added; as many outputs each multiplied by the factors. */
    async map(
      { weight, bias, block: [place, of] = [0, 1], byHead: heads = 1, transposed = false }: LinearNames,
      factors?: Floats | readonly number[],
    ): Promise<ReadMap<A>> {
      const [first, second] = (checkpoint.tensors.get(weight) as Held).shape as [number, number];
      const [rows, columns] = transposed ? [second / of, first] : [first / of, second];
      const own = make(bias === undefined ? 0 : rows);
      if (bias !== undefined) {
        const { data } = await whole(bias);
        const size = rows / heads;
        for (let head = 0; head < heads; head++) {
          const from = (head * of + place) * size;
          own.set(data.subarray(from, from + size), head * size);
        }
      }
      return {
        weight: { rows, columns, read: tensor(weight) },
        ...(bias !== undefined && { bias: own }),
        place,
        of,
        heads,
        transposed,
        factors,
      };
    },
  };
}

/**
 * The summands of the input, [n, d] each, by name. `offset` is the bias of the patch projection, a constant.
 */
export async function summandsOf<P extends Precision>(
  { superpose, checkpoint, layout }: Pick<Opened, 'superpose' | 'checkpoint' | 'layout'>,
  input: FirstLayerInput,
  precision: P,
  of: ReturnType<typeof tensorsOf<P>>,
  watch: CountedWatch,
): Promise<Record<string, Table<FloatsOf<P>>>> {
  if ('patches' in input) {
    const { projection, before, labels, unplaced } = layout.patch as NonNullable<Layout['patch']>;
    const [{ weight, bias }, position, own] = await Promise.all([
      of.linear(projection),
      of.whole(layout.position as string),
      Promise.all(before.map(of.whole)),
    ]);
    const first = labels.length;
    const placed = first - unplaced;
    const count = input.patches.rows;
    const n = first + count;
    const d = layout.d_model;
    const pixels = of.empty(count, input.patches.columns);
    pixels.data.set(input.patches.data);
    const mapped = rowsThrough(superpose, pixels, { weight }, precision);
    const made: Record<string, Table<FloatsOf<P>>> = Object.fromEntries(
      [...summandNames(layout), ...(bias ? [offset] : [])].map((name) => [name, of.empty(n, d)]),
    );
    made.patch?.data.set(mapped.data, first * d);
    made.position?.data.set(position.data.subarray(placed * d), first * d);
    let at = 0;
    for (const { data } of own) {
      for (const value of data) {
        const added = at < placed * d ? (position.data[at] as number) : 0;
        (made.class as Table<FloatsOf<P>>).data[at++] = value + added;
      }
    }
    for (let row = first; bias && row < n; row++) made[offset]?.data.set(bias, row * d);
    return made;
  }
  if ('frames' in input) {
    const { convolutions } = layout.sound as NonNullable<Layout['sound']>;
    const [position, ...maps] = await Promise.all([
      of.whole(layout.position as string),
      ...convolutions.map((names) => of.linear(names)),
    ]);
    const { frames } = input;
    let frame = of.empty(frames.rows, frames.columns);
    frame.data.set(frames.data);
    for (const [place, map] of maps.entries()) {
      // The second takes every other frame.
      const unfolded = of.empty(frame.rows / (place + 1), 3 * frame.columns);
      unfold(frame, unfolded);
      frame = rowsThrough(superpose, unfolded, map, precision, true);
    }
    return { frame, position };
  }
  const { ids } = input;
  const read = (name: string, rows: readonly number[]) => checkpoint.rows(name, rows, precision, watch);
  const [token, position, token_type, through] = await Promise.all([
    read(layout.token as string, ids),
    layout.position === undefined
      ? undefined
      : read(
          layout.position,
          ids.map((_, place) => layout.firstPosition + place),
        ),
    layout.segment === undefined
      ? undefined
      : read(
          layout.segment,
          ids.map(() => 0),
        ),
    layout.tokenProjection && of.linear(layout.tokenProjection),
  ]);
  if (layout.rootTimes || layout.dropped) {
    const { data, columns } = token;
    const masked = ids.map((id) => id === layout.dropped?.mask);
    // In training 0.15 * 0.8 of the rows were zero.
    const left = layout.dropped && 0.88 / (masked.filter((one) => !one).length / ids.length);
    const factor = left ?? Math.sqrt(layout.d_model);
    for (let at = 0; at < data.length; at++)
      data[at] = masked[Math.floor(at / columns)] ? 0 : (data[at] as number) * factor;
  }
  return {
    token: through ? rowsThrough(superpose, token, through, precision) : token,
    ...(position && { position }),
    ...(token_type && { token_type }),
  };
}

/**
 * What a convolution of three neighbours reads at each place: channel by channel, the row before, the row and the one
 * after, zeros beyond the ends. With half as many places, every other row is the middle.
 */
function unfold({ data, rows, columns }: Table, into: Table): void {
  for (let at = 0; at < into.data.length; at++) {
    const middle = Math.floor(at / into.columns) * (rows / into.rows);
    const channel = Math.floor((at % into.columns) / 3);
    into.data[at] = data[(middle + (at % 3) - 1) * columns + channel] ?? 0;
  }
}

/** Rows through a linear map, and GELU if they are activated: an encoder without layers does just that. */
export function rowsThrough<P extends Precision>(
  superpose: Superpose,
  rows: Table<FloatsOf<P>>,
  projection: Linear<FloatsOf<P>>,
  precision: P,
  activated = false,
): Table<FloatsOf<P>> {
  const d_model = projection.weight.rows;
  const encoder = superpose.encoder<P>({ d_model, heads: 1, precision, projection, activated });
  try {
    return encoder.forward({ rows }, { scores: false }).state(0);
  } finally {
    encoder.delete();
  }
}
