// Thousands of dots as pixels. Filling them one by one on a canvas takes longer than the rest of the figure.

export interface Cloud {
  /** The top left corner, in pixels of the canvas. */
  left: number;
  top: number;
  width: number;
  height: number;
  /** The share of the background still visible in each pixel, row by row, from 0 to 1. */
  seen: Float32Array;
}

/** Squares of side 2·radius centred on the points, blended over one another; `scale` multiplies lengths. */
export function cloudOf(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  radius: number,
  opacity: number,
  scale = 1,
): Cloud | undefined {
  let [low, high, first, last] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < x.length; k++) {
    const [across, down] = [x[k] as number, y[k] as number];
    // One point that is not finite would spoil the bounds of all.
    if (!Number.isFinite(across + down)) continue;
    low = Math.min(low, across);
    high = Math.max(high, across);
    first = Math.min(first, down);
    last = Math.max(last, down);
  }
  const size = radius * scale;
  const [left, top] = [Math.floor(low * scale - size), Math.floor(first * scale - size)];
  const [width, height] = [Math.ceil(high * scale + size) - left, Math.ceil(last * scale + size) - top];
  if (!(width > 0 && height > 0 && width * height < 2 ** 24)) return undefined;
  const seen = new Float32Array(width * height).fill(1);
  for (let k = 0; k < x.length; k++) {
    const from = (x[k] as number) * scale - size - left;
    const above = (y[k] as number) * scale - size - top;
    const [to, below] = [from + 2 * size, above + 2 * size];
    for (let row = Math.floor(above); row < below; row++) {
      const down = opacity * (Math.min(row + 1, below) - Math.max(row, above));
      for (let column = Math.floor(from); column < to; column++) {
        const part = down * (Math.min(column + 1, to) - Math.max(column, from));
        seen[row * width + column] = (seen[row * width + column] as number) * (1 - part);
      }
    }
  }
  return { left, top, width, height, seen };
}
