// Draws on a canvas the marks that are too many for SVG elements: maps and clouds of dots.
import { channelsOf, inks, pixelOf, rasterPixels, type Theme } from './colour.js';
import { type DotsMark, type Ink, type RasterMark, roundDots, type Scene } from './scene.js';

/**
 * Squares of side 2·radius centred on the points, blended over one another; `scale` multiplies lengths.
 * `hidden` is the share of the background that they cover in each pixel of the canvas, row by row, from 0 to
 * 1.
 */
export function cloudOf(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  radius: number,
  opacity: number,
  scale = 1,
) {
  let [low, high, first, last] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < x.length; k++) {
    const [across, down] = [x[k] as number, y[k] as number];
    // A single point that is not finite would spoil the bounds of all points.
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
  const hidden = new Float32Array(width * height);
  for (let k = 0; k < x.length; k++) {
    const from = (x[k] as number) * scale - size - left;
    const above = (y[k] as number) * scale - size - top;
    const [to, below] = [from + 2 * size, above + 2 * size];
    for (let row = Math.floor(above); row < below; row++) {
      const down = opacity * (Math.min(row + 1, below) - Math.max(row, above));
      for (let column = Math.floor(from); column < to; column++) {
        const part = down * (Math.min(column + 1, to) - Math.max(column, from));
        hidden[row * width + column] = part + (1 - part) * (hidden[row * width + column] as number);
      }
    }
  }
  return { left, top, width, height, hidden };
}

/** The colours of dots. Somebody else's page may set some of them: see embed/pageStyles.ts. */
export const canvasInks = {
  of: (_: CanvasRenderingContext2D, ink: Ink, theme: Theme): string => inks[theme][ink],
};

/** Draws the scene's maps and dots; the SVG on top has the rest. */
export function paintCanvas(canvas: HTMLCanvasElement, scene: Scene, theme: Theme, scale: number): void {
  if (!scene.marks.some(({ mark }) => mark === 'raster' || mark === 'dots')) {
    // An empty canvas need not be cleared and composited at every step.
    if (canvas.width > 0) canvas.width = 0;
    return;
  }
  // Two pixels per CSS pixel are enough, and keep the canvas within what phones allow.
  const density = Math.min(2, scale * (globalThis.devicePixelRatio || 1));
  const [width, height] = [Math.round(scene.width * density), Math.round(scene.height * density)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, scene.width, scene.height);
  const maps = mapsOf(scene, theme);
  let row = 0;
  for (const mark of scene.marks) {
    if (mark.mark === 'raster') {
      const { rows, columns, x, y, width, height } = mark;
      if (rows === 0 || columns === 0) continue;
      context.imageSmoothingEnabled = columns > width || rows > height;
      context.globalAlpha = mark.faint ? 0.15 : 1;
      context.drawImage(maps as HTMLCanvasElement, 0, row, columns, rows, x, y, width, height);
      context.globalAlpha = 1;
      row += rows;
    }
    if (mark.mark !== 'dots') continue;
    // Many dots take a fifth of the time if they are blended into one image.
    if (mark.x.length > roundDots) paintCloud(context, mark, theme, density);
    else {
      context.globalAlpha = mark.opacity ?? 1;
      context.fillStyle = canvasInks.of(context, mark.ink, theme);
      for (let k = 0; k < mark.x.length; k++) {
        context.beginPath();
        context.arc(mark.x[k] as number, mark.y[k] as number, mark.radius, 0, 2 * Math.PI);
        context.fill();
      }
      context.globalAlpha = 1;
    }
  }
}

function paintCloud(
  context: CanvasRenderingContext2D,
  { x, y, radius, ink, opacity = 1 }: DotsMark,
  theme: Theme,
  density: number,
): void {
  const cloud = cloudOf(x, y, radius, opacity, density);
  if (!cloud) return;
  const { left, top, width, height, hidden } = cloud;
  const image = new ImageData(width, height);
  const clear = pixelOf(channelsOf(canvasInks.of(context, ink, theme)), 0);
  const pixels = new Uint32Array(image.data.buffer);
  for (let pixel = 0; pixel < pixels.length; pixel++) {
    const share = hidden[pixel] as number;
    // Most pixels have no dot.
    if (share > 0) pixels[pixel] = clear | (Math.round(255 * share) << 24);
  }
  context.drawImage(
    canvasOf(image, 'cloud'),
    left / density,
    top / density,
    width / density,
    height / density,
  );
}

const scratch = new Map<string, HTMLCanvasElement>();

/** A canvas with these pixels, one for each use and size: resizing a canvas would reallocate it. */
function canvasOf(image: ImageData, use: 'maps' | 'cloud'): HTMLCanvasElement {
  const { width, height } = image;
  const key = `${use} ${width} ${height}`;
  let small = scratch.get(key);
  if (!small) {
    if (scratch.size > 40) scratch.clear();
    small = document.createElement('canvas');
    small.width = width;
    small.height = height;
    scratch.set(key, small);
  }
  (small.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D).putImageData(
    image,
    0,
    0,
  );
  return small;
}

/**
 * All of a scene's maps on one canvas, stacked, one pixel per cell. A canvas that is written between two
 * reads is copied each time, so all are written first.
 */
function mapsOf({ marks }: Scene, theme: Theme): HTMLCanvasElement | undefined {
  const maps = marks.filter(
    (mark): mark is RasterMark => mark.mark === 'raster' && mark.rows > 0 && mark.columns > 0,
  );
  if (maps.length === 0) return undefined;
  const wide = Math.max(...maps.map(({ columns }) => columns));
  const high = maps.reduce((sum, { rows }) => sum + rows, 0);
  const image = new ImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  let first = 0;
  for (const map of maps) {
    const [cells, { rows, columns }] = [rasterPixels(map, theme), map];
    for (let row = 0; row < rows; row++)
      pixels.set(cells.subarray(row * columns, (row + 1) * columns), first + row * wide);
    first += rows * wide;
  }
  return canvasOf(image, 'maps');
}
