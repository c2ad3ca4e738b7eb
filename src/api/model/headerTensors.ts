// Names and shapes in a safetensors header after a prefix, checked as they are asked for.
import * as check from '../check.js';
import type { FamilyId, Layout, LinearNames, NormNames } from './layout.js';
import type { SafetensorsEntry } from './safetensors.js';

export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

/** The members of a config.json; none without one. */
export type Config = Readonly<Record<string, unknown>>;

/** What a family’s file holds, and how it is read. */
export interface FamilyRow {
  /** Its name. */
  family: FamilyId;
  /** Names that must all exist after the same prefix. They do not tell a family from its relatives. */
  sign: readonly string[];
  /**
   * All names that the family has beside those, where `#` is a number and `{a,b}` one of several. A name that is not
   * listed, and begins like one that is, belongs to another model: what it does to the scores is not known.
   */
  names: readonly string[];
  /** Beginnings of names that tell another model too. */
  never?: readonly string[];
  /** Where everything is; throws a sentence about what is missing or has the wrong shape. */
  read(tensors: Tensors, config: Config): Layout;
}

/** A name after the prefix that the family does not have; undefined where there is none. */
export function strangerIn(
  header: Header,
  prefix: string,
  { sign, names, never = [] }: FamilyRow,
): string | undefined {
  const all = [...sign, ...names];
  const known = new RegExp(
    `^(?:${all
      .map((name) =>
        name
          .replaceAll('.', '\\.')
          .replaceAll('#', '\\d+')
          .replace(/\{([^}]*)\}/g, (_, some: string) => `(?:${some.replaceAll(',', '|')})`),
      )
      .join('|')})$`,
  );
  const beginnings = new Set([...all, ...never].map((name) => name.split('.')[0]));
  for (const name of header.keys()) {
    if (!name.startsWith(prefix)) continue;
    const own = name.slice(prefix.length);
    if (beginnings.has(own.split('.', 1)[0]) && !known.test(own)) return name;
  }
  return undefined;
}

/** Names and shapes of one file after a prefix, checked as they are asked for. */
export interface Tensors {
  /** What every name begins with. */
  prefix: string;
  /** The sizes that shapes have bound so far, by letter. */
  size: Record<string, number>;
  /** Whether there is a tensor of this name. */
  has(name: string): boolean;
  /** The full name of a required tensor with these extents: letters bind or compare, numbers compare. */
  need(name: string, ...extents: (string | number)[]): string;
  /** The same for a tensor that may be missing. */
  perhaps(name: string, ...extents: (string | number)[]): string | undefined;
  /** The gain and bias of a norm, [width] each. */
  norm(name: string, width?: string): NormNames;
  /** [out, in] and [out]. `bias`: true if required, false if optional. */
  linear(name: string, out: string, into: string, bias?: boolean): LinearNames;
}

/** The members of config.json that BERT has and other families took over. */
export const bertConfig = { heads: ['num_attention_heads'], epsilon: ['layer_norm_eps'] };

export const sizes = ({ size }: Tensors, firstPosition = 0) => ({
  rowChannels: size.e ?? (size.d as number),
  d_model: size.d as number,
  vocabulary: size.V ?? 0,
  positions: (size.L ?? 0) - firstPosition,
  firstPosition,
});

/** What config.json says of one of its models. CLIP’s older files say some of it twice; the second saying counts. */
export function membersOf(config: Config, within: string | undefined): Config {
  const all = [within, `${within}_dict`].flatMap((name) => {
    const inner = within === undefined || name === undefined ? undefined : config[name];
    return typeof inner === 'object' && inner !== null ? [inner as Config] : [];
  });
  return all.length > 0 ? Object.assign({}, ...all) : config;
}

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

/** The shortest prefix after which all of these names exist; undefined where there is none. */
export function matching(header: Header, sign: readonly string[]): string | undefined {
  const [first = '', ...others] = sign;
  let shortest: string | undefined;
  for (const name of header.keys()) {
    if (!name.endsWith(first)) continue;
    const prefix = name.slice(0, name.length - first.length);
    if (prefix !== '' && !prefix.endsWith('.')) continue;
    if (shortest !== undefined && prefix.length >= shortest.length) continue;
    if (others.every((other) => header.has(prefix + other))) shortest = prefix;
  }
  return shortest;
}

export function tensorsBehind(header: Header, prefix: string): Tensors {
  const size: Record<string, number> = {};
  const expected = (extent: string | number) => (typeof extent === 'number' ? extent : sizeOf(extent));
  const sizeOf = (letter: string) => (letter === '3d' ? size.d && 3 * size.d : size[letter]);
  const of: Tensors = {
    prefix,
    size,
    has: (name) => header.has(prefix + name),
    need(name, ...extents) {
      const tensor = header.get(prefix + name);
      if (!tensor) throw new RangeError(`The file lacks the tensor ${quoted(prefix + name)}.`);
      const { shape, dtype } = tensor;
      if (!['F64', 'F32', 'F16', 'BF16'].includes(dtype))
        throw new RangeError(
          `Tensor ${quoted(prefix + name)} has dtype ${quoted(dtype)}; F64, F32, F16 and BF16 can be read.`,
        );
      for (const [place, extent] of extents.entries()) {
        const given = shape[place] ?? 0;
        const wanted = expected(extent);
        if (wanted === undefined && given > 0) size[extent] = given;
        else if (given !== wanted) misshapen(prefix + name, shape, extents, expected);
      }
      if (shape.length !== extents.length) misshapen(prefix + name, shape, extents, expected);
      return prefix + name;
    },
    perhaps: (name, ...extents) => (of.has(name) ? of.need(name, ...extents) : undefined),
    norm(name, width = 'd') {
      const [gamma, beta] = of.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
      return { gamma: of.need(`${name}.${gamma}`, width), beta: of.need(`${name}.${beta}`, width) };
    },
    linear(name, out, into, bias = false) {
      const weight = of.need(`${name}.weight`, out, into);
      return {
        weight,
        bias: bias ? of.need(`${name}.bias`, out) : of.perhaps(`${name}.bias`, out),
      };
    },
  };
  return of;
}

/** Refuses a tensor of another shape. */
export function misshapen(
  name: string,
  shape: readonly number[],
  extents: readonly (string | number)[],
  expected: (extent: string | number) => number | undefined = () => undefined,
): never {
  const wanted = extents.map((extent) => expected(extent) || extent).join(', ');
  throw new RangeError(
    `Tensor ${quoted(name)} must have shape [${wanted}] beside the others; it has [${shape.join(', ')}].`,
  );
}

/** Names come from the file; a hostile one must not fill the screen. */
export const quoted = (name: string) => `“${name.length > 80 ? `${name.slice(0, 80)}…` : name}”`;
