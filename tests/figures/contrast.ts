// Contrast with the background: text at 4.5 to 1, marks that carry meaning at 3 to 1.
import type { State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { channelsOf, inks, type Theme } from '../../web/plot/colour.ts';
import type { Ink, Mark, RasterMark, TextMark } from '../../web/plot/scene.ts';
import { rasterPixels } from '../../web/plot/svg.ts';

type Colour = number[];

/** Relative luminance and contrast, as WCAG 2.2 defines them. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
export function contrast(one: Colour, other: Colour): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const over = (top: Colour, opacity: number, under: Colour): Colour =>
  top.map((channel, place) => opacity * channel + (1 - opacity) * (under[place] as number));

/** The colour of a raster's cell at a point. */
function cellAt(raster: RasterMark, x: number, y: number, theme: Theme): Colour {
  const { rows, columns, width, height } = raster;
  const at = (part: number, whole: number, count: number) =>
    Math.min(count - 1, Math.floor((part / whole) * count));
  const cell = at(y - raster.y, height, rows) * columns + at(x - raster.x, width, columns);
  return [...rasterPixels(raster, theme).slice(3 * cell, 3 * cell + 3)];
}

/** The colour under a point: the paper, and the boxes and rasters drawn on it before. */
function under(marks: readonly Mark[], end: number, x: number, y: number, theme: Theme): Colour {
  let colour = channelsOf(inks[theme].paper);
  for (const mark of marks.slice(0, end)) {
    if (mark.mark !== 'raster' && (mark.mark !== 'box' || !mark.fill)) continue;
    const inside = x >= mark.x && x <= mark.x + mark.width && y >= mark.y && y <= mark.y + mark.height;
    if (!inside) continue;
    colour =
      mark.mark === 'raster'
        ? over(cellAt(mark, x, y, theme), mark.faint ? 0.15 : 1, colour)
        : over(channelsOf(inks[theme][mark.fill as Ink]), mark.opacity ?? 1, colour);
  }
  return colour;
}

const middleOf = ({ x, y, text, size = 12, anchor }: TextMark): [number, number] => {
  const half = 0.25 * size * text.length;
  return [anchor === 'middle' ? x : anchor === 'end' ? x - half : x + half, y - 0.35 * size];
};

/** Frames, grids and backgrounds carry no number. */
const grounds: Ink[] = ['line', 'field', 'paper'];
/** Paler marks are shading beside or below a mark that is not pale. */
const palest = 0.5;

/** The ink of a mark that carries meaning, and its opacity. */
function meaning(mark: Mark): { ink: Ink; opacity: number } | undefined {
  if (mark.mark === 'raster' || mark.mark === 'text') return undefined;
  const ink = mark.mark === 'line' || mark.mark === 'dots' ? mark.ink : (mark.stroke ?? mark.fill);
  const opacity = mark.mark === 'line' ? 1 : (mark.opacity ?? 1);
  return ink && !grounds.includes(ink) && opacity >= palest ? { ink, opacity } : undefined;
}

/** What has too little contrast in a view, on a phone and on the page. */
export function palePlaces(figure: AnyFigure, data: unknown, state: State, theme: Theme): string[] {
  const faults = [350, 965].flatMap((width) => {
    const { marks } = figure.scene(data, state, width);
    return marks.flatMap((mark, place) => {
      if (mark.mark === 'text') {
        const [x, y] = middleOf(mark);
        const found = contrast(
          channelsOf(inks[theme][mark.ink ?? 'quiet']),
          under(marks, place, x, y, theme),
        );
        return found < 4.5 ? [`“${mark.text}” ${mark.ink}: ${found.toFixed(2)}`] : [];
      }
      const means = meaning(mark);
      if (!means) return [];
      const paper = channelsOf(inks[theme].paper);
      const found = contrast(over(channelsOf(inks[theme][means.ink]), means.opacity, paper), paper);
      return found < 3 ? [`${mark.mark} ${means.ink} at ${means.opacity}: ${found.toFixed(2)}`] : [];
    });
  });
  return [...new Set(faults)];
}
