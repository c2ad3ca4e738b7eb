// The marks that are too many for SVG elements: maps and clouds of dots.
import { inks, type Theme } from './colour.js';
import type { RasterMark, Scene } from './scene.js';
import { rasterPixels } from './svg.js';

/** Draws the scene's maps and dots; the SVG on top has the rest. */
export function paintCanvas(canvas: HTMLCanvasElement, scene: Scene, theme: Theme): void {
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
    if (mark.mark === 'dots') {
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

const scratch = new Map<string, HTMLCanvasElement>();

function paintRaster(context: CanvasRenderingContext2D, raster: RasterMark, theme: Theme): void {
  const { rows, columns, x, y, width, height } = raster;
  if (rows === 0 || columns === 0) return;
  // One small canvas for each shape of map: resizing one clears and reallocates it.
  const shape = `${rows} ${columns}`;
  let small = scratch.get(shape);
  if (!small) {
    if (scratch.size > 40) scratch.clear();
    small = document.createElement('canvas');
    small.width = columns;
    small.height = rows;
    scratch.set(shape, small);
  }
  const inside = small.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  const image = inside.createImageData(columns, rows);
  const pixels = rasterPixels(raster, theme);
  for (let cell = 0; cell < rows * columns; cell++) {
    image.data[4 * cell] = pixels[3 * cell] as number;
    image.data[4 * cell + 1] = pixels[3 * cell + 1] as number;
    image.data[4 * cell + 2] = pixels[3 * cell + 2] as number;
    image.data[4 * cell + 3] = 255;
  }
  inside.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = columns > width || rows > height;
  context.globalAlpha = raster.faint ? 0.15 : 1;
  context.drawImage(small, x, y, width, height);
  context.globalAlpha = 1;
}
