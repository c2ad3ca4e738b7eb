import { colourTable, type Scale } from './colour.js';

/** Values [n, n] as n by n pixels; CSS enlarges them. `low` and `high` are the ends of the scale. */
export function drawHeatmap(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  n: number,
  low: number,
  high: number,
  scale: Scale,
): void {
  if (canvas.width !== n) canvas.width = n;
  if (canvas.height !== n) canvas.height = n;
  if (n === 0) return;
  const colours = colourTable(scale);
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const image = context.createImageData(n, n);
  const pixels = image.data;
  const perUnit = high > low ? 255 / (high - low) : 0;
  for (let cell = 0; cell < n * n; cell++) {
    const step = Math.round(((values[cell] as number) - low) * perUnit);
    const from = 4 * Math.max(0, Math.min(255, step));
    pixels[4 * cell] = colours[from] as number;
    pixels[4 * cell + 1] = colours[from + 1] as number;
    pixels[4 * cell + 2] = colours[from + 2] as number;
    pixels[4 * cell + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/** The largest magnitude in any of the arrays: the end of a scale that is symmetric about zero. */
export function largestMagnitude(arrays: Iterable<ArrayLike<number>>): number {
  let largest = 0;
  for (const array of arrays) {
    for (let k = 0; k < array.length; k++) {
      const magnitude = Math.abs(array[k] as number);
      if (magnitude > largest) largest = magnitude;
    }
  }
  return largest;
}
