// The marks that are too many for SVG elements: maps and clouds of dots.
import { cloudOf } from './cloud.js';
import { channelsOf, colourPixels, colourStep, inks, type Theme } from './colour.js';
import type { DotsMark, RasterMark, Scene } from './scene.js';

/** Beyond so many dots, all of them are drawn as pixels. */
const manyDots = 1000;

/** Draws the scene's maps and dots; the SVG on top has the rest. */
export function paintCanvas(canvas: HTMLCanvasElement, scene: Scene, theme: Theme): void {
  if (!scene.marks.some(({ mark }) => mark === 'raster' || mark === 'dots')) {
    // An empty one is not to be filled, handed over and put together with the page at every step.
    if (canvas.width > 0) canvas.width = 0;
    return;
  }
  // Two pixels to a CSS pixel are enough; four million are what phones' canvases take.
  const density = Math.min(2, globalThis.devicePixelRatio || 1);
  const [width, height] = [Math.round(scene.width * density), Math.round(scene.height * density)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, scene.width, scene.height);
  for (const mark of scene.marks) {
    if (mark.mark === 'raster') paintRaster(context, mark, theme);
    if (mark.mark === 'dots' && mark.x.length > manyDots) paintCloud(context, mark, theme, density);
    else if (mark.mark === 'dots') {
      context.globalAlpha = mark.opacity ?? 1;
      context.fillStyle = inks[theme][mark.ink];
      const { x, y, radius } = mark;
      // Squares: discs of this size look the same and cost five times as much.
      for (let k = 0; k < x.length; k++) {
        context.fillRect((x[k] as number) - radius, (y[k] as number) - radius, 2 * radius, 2 * radius);
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
  const { left, top, width, height, seen } = cloud;
  const image = new ImageData(width, height);
  const [red = 0, green = 0, blue = 0] = channelsOf(inks[theme][ink]);
  const colour = (blue << 16) | (green << 8) | red;
  // Red first in memory, which is little-endian wherever there is WebAssembly.
  const pixels = new Uint32Array(image.data.buffer);
  for (let pixel = 0; pixel < pixels.length; pixel++) {
    pixels[pixel] = (Math.round(255 * (1 - (seen[pixel] as number))) << 24) | colour;
  }
  const small = smallCanvas(height, width);
  (small.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D).putImageData(
    image,
    0,
    0,
  );
  context.drawImage(small, left / density, top / density, width / density, height / density);
}

const scratch = new Map<string, HTMLCanvasElement>();

/** One small canvas for each shape of map: resizing one clears and reallocates it. */
function smallCanvas(rows: number, columns: number): HTMLCanvasElement {
  const shape = `${rows} ${columns}`;
  let small = scratch.get(shape);
  if (!small) {
    if (scratch.size > 40) scratch.clear();
    small = document.createElement('canvas');
    small.width = columns;
    small.height = rows;
    scratch.set(shape, small);
  }
  return small;
}

function paintRaster(context: CanvasRenderingContext2D, raster: RasterMark, theme: Theme): void {
  const { rows, columns, x, y, width, height } = raster;
  if (rows === 0 || columns === 0) return;
  const small = smallCanvas(rows, columns);
  const inside = small.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const { values, low, high, scale } = raster;
  const colours = colourPixels(scale, theme);
  for (let cell = 0; cell < pixels.length; cell++) {
    pixels[cell] = colours[colourStep(values[cell] as number, low, high)] as number;
  }
  inside.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = columns > width || rows > height;
  context.globalAlpha = raster.faint ? 0.15 : 1;
  context.drawImage(small, x, y, width, height);
  context.globalAlpha = 1;
}
