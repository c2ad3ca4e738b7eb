// Marks as SVG elements, with classes and attributes only, because a page's content security policy may
// forbid inline styles. What draws on a page needs no more than this; svg.ts writes files.
import { plainCopy } from './plainCopy.js';
import { type DotsMark, type Mark, type RasterMark, roundDots, type Span } from './scene.js';
import { sizes } from './sizes.js';

/** Characters that XML forbids, and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to take out
export const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** A length or place, rounded to a hundredth of a pixel. */
export const rounded = (value: number) => String(Math.round(100 * value) / 100);

/** An SVG element: its name, its attributes, its text. */
export interface Shape {
  name: string;
  attributes: [string, string][];
  text?: string | undefined;
  /** Elements within its text. */
  spans?: Shape[] | undefined;
}

/** Makes a shape: numbers are rounded, and attributes that are undefined are left out. */
const shape = (
  name: string,
  attributes: Record<string, string | number | undefined>,
  text?: string,
): Shape => {
  const set: [string, string][] = [];
  // A picture has hundreds of marks, and Object.entries with flatMap would take four times as long.
  for (const attribute of Object.keys(attributes)) {
    const value = attributes[attribute];
    if (value !== undefined) set.push([attribute, typeof value === 'number' ? rounded(value) : value]);
  }
  return { name, text, spans: undefined, attributes: set };
};

/** The spans of a formula one after the other; a span after an index is on the line again. */
function spanShapes(spans: readonly Span[], size: number): Shape[] {
  const heights = { sub: 0.22 * size, sup: -0.38 * size };
  let above = 0;
  return spans.map(plainCopy).map(({ text, shift, italic, ink }) => {
    const level = shift ? heights[shift] : 0;
    const dy = level - above;
    above = level;
    return shape(
      'tspan',
      {
        dy: dy === 0 ? undefined : dy,
        // An index is smaller than its letter, but not too small to read.
        'font-size': shift && Math.max(sizes.label, 0.82 * size),
        'font-style': italic && 'italic',
        class: ink && `f-${ink}`,
        'font-family': ink
          ? undefined
          : "'STIX Two Math', 'Latin Modern Math', 'Cambria Math', Georgia, 'DejaVu Serif', serif",
      },
      text,
    );
  });
}

/** An element for each mark except maps, and except dots where a canvas draws them. */
export const shapesOf = (marks: readonly Mark[], withDots: boolean): Shape[] =>
  marks.flatMap((mark) =>
    mark.mark === 'raster' || (mark.mark === 'dots' && !withDots) ? [] : shapeOf(mark),
  );

function shapeOf(mark: Exclude<Mark, RasterMark>): Shape {
  const term = { 'data-term': mark.term, 'data-live': mark.live && '' };
  switch (mark.mark) {
    case 'text': {
      const { x, y, text, spans, anchor = 'start', ink = 'quiet', size = sizes.label, bold, turn } = mark;
      const attributes = {
        x,
        y,
        'text-anchor': anchor,
        'font-size': size,
        'font-weight': bold ? 600 : undefined,
        class: `f-${ink}`,
        transform: turn ? `rotate(${turn} ${rounded(x)} ${rounded(y)})` : undefined,
      };
      const set = shape('text', { ...attributes, ...term }, text.replace(forbidden, '\ufffd'));
      return spans ? { ...set, spans: spanShapes(spans, size) } : set;
    }
    case 'line': {
      const { x1, y1, x2, y2, ink = 'line', wide = 1, dashed } = mark;
      const dashes = { 'stroke-dasharray': dashed ? '4 4' : undefined };
      return shape('line', { x1, y1, x2, y2, class: `s-${ink}`, 'stroke-width': wide, ...dashes, ...term });
    }
    case 'path': {
      const { d, stroke, fill, wide = 1.5, dashed, opacity } = mark;
      return shape('path', { d, ...paint(stroke, fill, wide, dashed && '5 4'), opacity, ...term });
    }
    case 'box': {
      const { x, y, width, height, fill, stroke, wide = 1, opacity } = mark;
      return shape('rect', { x, y, width, height, ...paint(stroke, fill, wide), opacity, ...term });
    }
    case 'dots':
      return dots(mark);
  }
}

const paint = (
  stroke: string | undefined,
  fill: string | undefined,
  wide: number,
  dashes?: string | false,
) => ({
  class: [stroke && `s-${stroke}`, fill && `f-${fill}`].filter(Boolean).join(' '),
  'stroke-width': stroke && wide,
  fill: fill ? undefined : 'none',
  'stroke-dasharray': dashes || undefined,
});

/**
 * One path of points with round or square ends, a tenth of the size of as many circles. The points have a
 * length, because printing loses squares of length 0.
 */
function dots({ x, y, radius, ink, opacity = 1, term }: DotsMark): Shape {
  let d = '';
  for (let k = 0; k < x.length; k++) {
    const [across, down] = [x[k] as number, y[k] as number];
    // Browsers stop drawing a path at the first coordinate that is not a number.
    if (Number.isFinite(across + down)) d += `M${rounded(across)},${rounded(down)}h.01`;
  }
  return shape('path', {
    d,
    class: `s-${ink}`,
    fill: 'none',
    'stroke-linecap': x.length <= roundDots ? 'round' : 'square',
    'stroke-width': 2 * radius,
    opacity,
    'data-term': term,
  });
}
