// Tensors of an opened model: whole ones, and the maps of its layers by what the family calls them.
import * as check from '../check.js';
import type { Normalization } from '../scores/decompose.js';
import type { SmallSuperpose } from '../small.js';
import { type FloatsOf, type Linear, type Precision, type Table, table } from '../table.js';
import type { Checkpoint } from './checkpoint.js';
import type { LayerNames } from './families.js';
import { type Config, quoted, shapeOf } from './header.js';
import type { Layout } from './recognize.js';
import type { CountedWatch } from './slices.js';
import type { ReadMap, ReadTensor } from './steps.js';

/** An opened model, as the functions that read it need it. */
export interface Opened {
  /** Of the small module, or of the whole one. */
  superpose: SmallSuperpose;
  /** Its tensors. */
  checkpoint: Checkpoint;
  /** What they mean. */
  layout: Layout;
  /** The members of its config.json. */
  config: Config;
  /** Heads of queries. */
  heads: number;
  /** ε of its norms. */
  epsilon: number;
}

/** Refuses a file whose first W_Q or W_K lacks, is misshapen or cannot be decoded; nothing of them is read. */
export function refuseMisread({ checkpoint, layout }: Pick<Opened, 'checkpoint' | 'layout'>): void {
  const { facts, d_model: d } = layout;
  const joined = facts.layer.query === facts.layer.value;
  const rows = facts.tables.position ? (joined ? 3 * d : d) : 'rows';
  for (const part of ['query', 'key'] as const) {
    const name = `${nameIn(layout, 0, part)}.weight`;
    shapeOf(checkpoint.tensors, name, facts.transposed ? [d, rows] : [rows, d]);
  }
}

type MapName = 'query' | 'key' | 'value' | 'output' | 'up' | 'gate' | 'down';

/** The whole name of a layer's tensor, without `.weight`. */
export const nameIn = ({ prefix, facts }: Layout, layer: number, part: keyof LayerNames): string =>
  `${prefix}${facts.stack}.${layer}.${facts.layer[part]}`;

/** Heads of keys, which several heads of queries may share, and the width of a head. */
export function headsOf({ checkpoint, layout, heads }: Pick<Opened, 'checkpoint' | 'layout' | 'heads'>): {
  keyHeads: number;
  d_head: number;
} {
  const { facts, d_model } = layout;
  if (facts.tables.position) return { keyHeads: heads, d_head: d_model / heads };
  const rows = (part: 'query' | 'key') =>
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, part)}.weight`, ['rows', d_model])[0] as number;
  const [ofQueries, ofKeys] = [rows('query'), rows('key')];
  const normed =
    facts.layer.queryNorm &&
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, 'queryNorm')}.weight`, ['d_head'])[0];
  const d_head = normed || ofQueries / heads;
  const keyHeads = ofKeys / d_head;
  if (heads * d_head !== ofQueries || ![d_head, keyHeads, heads / keyHeads].every(Number.isInteger))
    throw new RangeError(
      `config.json gives ${heads} heads, which do not fit queries of ${ofQueries} and keys of ${ofKeys} channels.`,
    );
  return { keyHeads, d_head };
}

/** The MLP's width, which is that of its first layer. */
function innerOf({ checkpoint, layout }: Opened): number {
  const { facts, d_model } = layout;
  const name = `${nameIn(layout, 0, 'down')}.weight`;
  const wanted = facts.transposed ? (['inner', d_model] as const) : ([d_model, 'inner'] as const);
  return shapeOf(checkpoint.tensors, name, wanted)[facts.transposed ? 0 : 1] as number;
}

/** Where a map is in the file; checked. */
function placeOf(opened: Opened, layer: number, part: MapName) {
  const { checkpoint, layout, config, heads } = opened;
  const { facts, d_model: d } = layout;
  const { keyHeads, d_head } = headsOf(opened);
  const name = nameIn(layout, layer, part);
  const ofMlp = ['up', 'gate', 'down'].includes(part);
  const inner = ofMlp ? innerOf(opened) : 0;
  const [wide, narrow] = [heads * d_head, keyHeads * d_head];
  const sizes: Record<MapName, readonly [out: number, into: number]> = {
    query: [wide, d],
    key: [narrow, d],
    value: [narrow, d],
    output: [d, wide],
    up: [inner, d],
    gate: [inner, d],
    down: [d, inner],
  };
  const [out, into] = sizes[part];
  const joined = facts.layer.query === facts.layer.value && ['query', 'key', 'value'].includes(part);
  const [place, of] = joined ? [['query', 'key', 'value'].indexOf(part), 3] : [0, 1];
  const { transposed = false } = facts;
  shapeOf(checkpoint.tensors, `${name}.weight`, transposed ? [into, of * out] : [of * out, into]);
  const kind = part === 'output' ? 'output' : ofMlp ? 'mlp' : 'attention';
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

/** Whole tensors of a file, its norms and its maps, in one precision. */
export function tensorsOf<P extends Precision>(checkpoint: Checkpoint, precision: P, watch: CountedWatch) {
  type A = FloatsOf<P>;
  const make = (length: number) =>
    (precision === 'float32' ? new Float32Array(length) : new Float64Array(length)) as A;
  const reading = new Map<string, Promise<Table<A>>>();
  const blocks = new Map<string, ReadTensor<A>>();
  /** Reads a tensor once, however often it is asked for. */
  const whole = (name: string): Promise<Table<A>> => {
    const shape = checkpoint.tensors.get(name)?.shape ?? [];
    const rows = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    const found =
      reading.get(name) ??
      checkpoint.rows(
        name,
        Array.from({ length: rows }, (_, row) => row),
        precision,
        watch,
      );
    reading.set(name, found);
    return found;
  };
  const biasOf = async ({ name, out, place, biased }: ReturnType<typeof placeOf>): Promise<A | undefined> =>
    biased ? ((await whole(`${name}.bias`)).data.slice(place * out, (place + 1) * out) as A) : undefined;
  return {
    whole,
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
    async linear(opened: Opened, layer: number, part: MapName): Promise<Linear<A>> {
      const found = placeOf(opened, layer, part);
      const { name, out, into, place, of, transposed } = found;
      const [{ data }, bias] = await Promise.all([whole(`${name}.weight`), biasOf(found)]);
      const own = transposed
        ? make(out * into)
        : (data.slice(place * out * into, (place + 1) * out * into) as A);
      for (let row = 0; transposed && row < out; row++) {
        for (let column = 0; column < into; column++)
          own[row * into + column] = data[(column * of + place) * out + row] as number;
      }
      return { weight: table(own, out, into), ...(bias && { bias }) };
    },
    /** A map whose weight is read when its layer is added. Maps of one tensor are read together. */
    async map(opened: Opened, layer: number, part: MapName): Promise<ReadMap<A>> {
      const found = placeOf(opened, layer, part);
      const { name, out, into, place, of, transposed } = found;
      const read: ReadTensor<A> =
        blocks.get(name) ?? ((visit) => checkpoint.blocks(`${name}.weight`, precision, watch, visit));
      blocks.set(name, read);
      const bias = await biasOf(found);
      const weight = { rows: out, columns: into, read };
      return { weight, ...(bias && { bias }), place, of, transposed };
    },
  };
}
