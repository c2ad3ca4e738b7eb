// Names and shapes in a safetensors header, checked as they are asked for.
import type { SafetensorsEntry } from './safetensors.js';

/** The tensors of a model, by name. */
export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

/** The members of a config.json; none without one. */
export type Config = Readonly<Record<string, unknown>>;

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
