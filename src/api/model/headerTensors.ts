// Names and shapes in a safetensors header after a prefix, checked as they are asked for.
import type { FamilyId, Layout, LinearNames, NormNames } from './layout.js';
import type { SafetensorsEntry } from './safetensors.js';

export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

/** How a family is recognised and read. */
export interface FamilyRow {
  /** Its name. */
  family: FamilyId;
  /** Names that must all exist after the same prefix. */
  sign: readonly string[];
  /** Where everything is; throws a sentence about what is missing or has the wrong shape. */
  read(tensors: Tensors): Layout;
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

/** The shortest prefix after which all of these names exist; undefined where there is none. */
export function matching(header: Header, sign: readonly string[]): string | undefined {
  const [first = '', ...others] = sign;
  const prefixes = [...header.keys()]
    .filter((name) => name === first || name.endsWith(`.${first}`))
    .map((name) => name.slice(0, name.length - first.length))
    .filter((prefix) => others.every((other) => header.has(prefix + other)));
  return prefixes.sort((a, b) => a.length - b.length)[0];
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

function misshapen(
  name: string,
  shape: readonly number[],
  extents: readonly (string | number)[],
  expected: (extent: string | number) => number | undefined,
): never {
  const wanted = extents.map((extent) => expected(extent) || extent).join(', ');
  throw new RangeError(
    `Tensor ${quoted(name)} must have shape [${wanted}] beside the others; it has [${shape.join(', ')}].`,
  );
}

/** Names come from the file; a hostile one must not fill the screen. */
export const quoted = (name: string) => `“${name.length > 80 ? `${name.slice(0, 80)}…` : name}”`;
