// Marks as SVG, by classes and attributes only: a page's content security policy forbids inline styles. Maps are PNG in it,
// without filters.
import { inkClasses, inks, rasterPixels, type Theme, themeVariables } from './colour.js';
import { plainCopy } from './plainCopy.js';
import {
  type DotsMark,
  type Ink,
  type Mark,
  type RasterMark,
  roundDots,
  type Scene,
  type Span,
} from './scene.js';

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(body, 8);
  view.setUint32(8 + body.length, crc32(bytes.subarray(4, 8 + body.length)));
  return bytes;
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Pixels row by row as a PNG file, in a data: address. */
async function pngAddress(pixels: Uint32Array, width: number, height: number): Promise<string> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  // Eight bits a channel; colour type 6 is RGB and alpha.
  header.set([8, 6, 0, 0, 0], 8);
  const [bytes, row] = [new Uint8Array(pixels.buffer), 4 * width];
  const lines = new Uint8Array((row + 1) * height);
  for (let y = 0; y < height; y++) lines.set(bytes.subarray(row * y, row * (y + 1)), (row + 1) * y + 1);
  const parts = [
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk('IHDR', header),
    chunk('IDAT', await deflated(lines)),
    chunk('IEND', new Uint8Array(0)),
  ];
  let text = '';
  for (const part of parts) for (const byte of part) text += String.fromCharCode(byte);
  return `data:image/png;base64,${btoa(text)}`;
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Characters that XML forbids, and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to take out
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

export const escaped = (text: string): string =>
  text.replace(forbidden, '\ufffd').replace(/[&<>"']/g, (character) => escapes[character] as string);

const round = (value: number) => String(Math.round(100 * value) / 100);

/** An SVG element: its name, its attributes, its text. */
export interface Shape {
  name: string;
  attributes: [string, string][];
  text?: string | undefined;
  /** Within its text. */
  spans?: Shape[] | undefined;
}

/** Numbers are rounded; what is undefined is left out. */
const shape = (
  name: string,
  attributes: Record<string, string | number | undefined>,
  text?: string,
): Shape => {
  const set: [string, string][] = [];
  // A picture has hundreds of marks: entries flattened would take four times as long.
  for (const one of Object.keys(attributes)) {
    const value = attributes[one];
    if (value !== undefined) set.push([one, typeof value === 'number' ? round(value) : value]);
  }
  return { name, text, spans: undefined, attributes: set };
};

export const markup = ({ name, attributes, text, spans }: Shape): string =>
  `<${name}${attributes.map(([one, value]) => ` ${one}="${value}"`).join('')}${text === undefined ? ' />' : `>${spans?.map(markup).join('') ?? escaped(text)}</${name}>`}`;

/** Pieces of a formula one after the other; what follows an index is on the line again. */
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
        'font-size': shift && 0.82 * size,
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

/** An element for each mark except rasters, and except dots where a canvas draws them. */
export const shapesOf = (marks: readonly Mark[], withDots: boolean): Shape[] =>
  marks.flatMap((mark) =>
    mark.mark === 'raster' || (mark.mark === 'dots' && !withDots) ? [] : shapeOf(mark),
  );

function shapeOf(mark: Exclude<Mark, RasterMark>): Shape {
  const term = { 'data-term': mark.term, 'data-live': mark.live && '' };
  switch (mark.mark) {
    case 'text': {
      const { x, y, text, spans, anchor = 'start', ink = 'quiet', size = 13, bold, turn } = mark;
      const attributes = {
        x,
        y,
        'text-anchor': anchor,
        'font-size': size,
        'font-weight': bold ? 600 : undefined,
        class: `f-${ink}`,
        transform: turn ? `rotate(${turn} ${round(x)} ${round(y)})` : undefined,
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

/** One path of points with round or square ends: a tenth of the size of as many circles. Print loses squares of length 0. */
function dots({ x, y, radius, ink, opacity = 1, term }: DotsMark): Shape {
  let d = '';
  for (let k = 0; k < x.length; k++) {
    const [across, down] = [x[k] as number, y[k] as number];
    // Browsers stop drawing a path at the first coordinate that is not a number.
    if (Number.isFinite(across + down)) d += `M${round(across)},${round(down)}h.01`;
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

async function rasterImage(raster: RasterMark, theme: Theme, hidden: string): Promise<string> {
  const { x, y, width, height, rows, columns, faint } = raster;
  if (rows === 0 || columns === 0) return '';
  const address = await pngAddress(rasterPixels(raster, theme), columns, rows);
  return `<image x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" preserveAspectRatio="none" image-rendering="pixelated"${faint ? ' opacity="0.15"' : ''}${hidden} href="${address}" />`;
}

export interface PictureOptions {
  /** `auto` follows the reader's colour scheme and holds the maps in both. */
  theme: Theme | 'auto';
  title: string;
  description: string;
  /** Text below the picture. With it, the picture gets a margin and its title above. */
  below?: readonly string[];
}

const margin = 16;
const above = 30;
const lineHeight = 16;

/** Pieces of text joined and broken into lines of about this width. */
function linesOf(pieces: readonly string[], width: number): string[] {
  const most = Math.max(20, Math.floor(width / 6.2));
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + piece.length + 3 <= most)
      lines[lines.length - 1] = `${last} · ${piece}`;
    else lines.push(...(piece.match(new RegExp(`.{1,${most}}(?:\\s|$)|.{1,${most}}`, 'gu')) ?? []));
  }
  return lines;
}

const dark = (inside: string): string =>
  `${inside}{${themeVariables('dark')}}${inside} .on-dark{display:inline}${inside} .on-light{display:none}`;

/** A whole SVG file. */
export async function svgPicture(
  scene: Scene,
  { theme, title, description, below }: PictureOptions,
): Promise<string> {
  const rasters = scene.marks.filter((mark): mark is RasterMark => mark.mark === 'raster');
  const themes: [Theme, string][] =
    theme === 'auto'
      ? [
          ['light', ' class="on-light"'],
          ['dark', ' class="on-dark"'],
        ]
      : [[theme, '']];
  const images = await Promise.all(
    themes.flatMap(([one, hidden]) => rasters.map((raster) => rasterImage(raster, one, hidden))),
  );
  // `auto` shows the reader's theme, or the one that the picture's address ends in: #light or #dark.
  const auto = theme === 'auto';
  const style = auto
    ? `<style>svg{${themeVariables('light')}}.on-dark{display:none}@media (prefers-color-scheme: dark){${dark('svg:not(:target)')}}${dark('g:target')}${inkClasses}</style>`
    : '';
  const marks = `${images.join('')}${shapesOf(
    scene.marks.filter(({ live }) => !live),
    true,
  )
    .map(markup)
    .join('')}`;
  const lines = below ? linesOf(below, scene.width) : [];
  const width = scene.width + (below ? 2 * margin : 0);
  const height = scene.height + (below ? 2 * margin + above + 14 + lineHeight * lines.length : 0);
  const text = (y: number, size: number, ink: Ink, said: string, bold = false) =>
    markup(shapeOf({ mark: 'text', x: margin, y, text: said, ink, size, bold }));
  const framed = below
    ? `${text(margin + 14, 16, 'ink', title, true)}<g transform="translate(${margin} ${margin + above})">${marks}</g>${lines
        .map((line, k) => text(margin + above + scene.height + 22 + lineHeight * k, 11, 'quiet', line))
        .join('')}`
    : marks;
  const shapes = `<rect width="${width}" height="${height}" class="f-paper" />${framed}`;
  const painted = auto ? `<g id="dark">${shapes}</g>` : inAttributes(shapes, theme);
  return `<svg${auto ? ' id="light"' : ''} xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"><title>${escaped(title)}</title><desc>${escaped(description)}</desc>${style}${painted}</svg>\n`;
}

/** Ink classes as plain attributes, which every program reads and no policy forbids. */
const inAttributes = (shapes: string, theme: Theme): string =>
  shapes.replace(/ class="([^"]*)"/g, (_, classes: string) =>
    classes
      .split(' ')
      .filter((one) => one !== '')
      .map((one) => ` ${one.startsWith('s-') ? 'stroke' : 'fill'}="${inks[theme][one.slice(2) as Ink]}"`)
      .join(''),
  );
