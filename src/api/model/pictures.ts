// Cuts pictures into the patches that a vision model maps to rows.
import * as check from '../check.js';
import { type Table, table } from '../table.js';
import type { Layout } from './layout.js';

/** A picture as a canvas gives it. */
export interface Picture {
  /** Red, green, blue and alpha, from 0 to 255, pixel by pixel, the first row first; [4 · width · height]. */
  readonly data: Uint8ClampedArray | Uint8Array;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

export interface PictureRules {
  /** Pixels of a picture’s side. */
  side: number;
  /** Pixels of a patch’s side. */
  patch: number;
  /** Patches along a side. */
  grid: number;
  /** By colour: subtracted from a pixel, which is from 0 to 1. */
  mean: readonly number[];
  /** By colour: the result is divided by this. */
  deviation: readonly number[];
}

/** From preprocessor_config.json if there is one, otherwise as the family’s models have it. */
export function pictureRules(patch: NonNullable<Layout['patch']>, config: unknown): PictureRules {
  const { image_mean, image_std, do_normalize } = (config ?? {}) as Record<string, unknown>;
  const three = (name: string, value: unknown, otherwise: readonly number[]) =>
    value === undefined
      ? otherwise
      : check.numbers(`${name} in preprocessor_config.json`, value, check.number, 3);
  const plain = do_normalize === false;
  const deviation = plain ? [1, 1, 1] : three('image_std', image_std, patch.deviation);
  for (const one of deviation) check.positive('image_std in preprocessor_config.json', one);
  return {
    side: patch.side * patch.grid,
    patch: patch.side,
    grid: patch.grid,
    mean: plain ? [0, 0, 0] : three('image_mean', image_mean, patch.mean),
    deviation,
  };
}

/** A picture, or its patches. */
export type PictureInput = { readonly picture: Picture } | { readonly patches: Table };

/** Throws unless the input is a picture of the size that the model takes, or its patches. */
export function checkedPicture(input: unknown, { grid, patch, side }: PictureRules): PictureInput {
  check.object('input', input);
  const { picture, patches } = input as { picture?: Picture; patches?: Table };
  const columns = 3 * patch ** 2;
  if (patches !== undefined)
    return { patches: check.table('patches', patches, { rows: grid ** 2, columns }) };
  if (picture === undefined) check.refuse('input', 'an object with a picture or patches', input, false);
  check.object('picture', picture);
  const { data, width, height } = picture;
  if (width !== side || height !== side)
    throw new RangeError(
      `This model takes pictures of ${side} by ${side} pixels; this one has ${String(width)} by ${String(height)}. Resize it, as a canvas does.`,
    );
  if (!(data instanceof Uint8ClampedArray || data instanceof Uint8Array))
    check.refuse('picture.data', 'a Uint8ClampedArray', data, false);
  if (data.length !== 4 * side ** 2) check.refuseCount('picture.data', `${4 * side ** 2} bytes`, data.length);
  return { picture };
}

/**
 * Normalized pixels [patches, 3 · p · p]: patches row by row, each colour by colour, as for a convolution.
 */
export function patchesOf(input: PictureInput, { grid, patch, side, mean, deviation }: PictureRules): Table {
  if ('patches' in input) return input.patches;
  const { data } = input.picture;
  const columns = 3 * patch ** 2;
  const rows = new Float64Array(grid ** 2 * columns);
  for (let at = 0; at < rows.length; at++) {
    const [place, pixel] = [Math.floor(at / columns), at % columns];
    const colour = Math.floor(pixel / patch ** 2);
    const [y, x] = [Math.floor((pixel % patch ** 2) / patch), pixel % patch];
    const line = Math.floor(place / grid) * patch + y;
    const value = data[4 * (line * side + (place % grid) * patch + x) + colour] as number;
    rows[at] = (value / 255 - (mean[colour] as number)) / (deviation[colour] as number);
  }
  return table(rows, grid ** 2, columns);
}
