// A picture as an SVG file. Its maps are PNG images in data: addresses.
import { inkClasses, inks, rasterPixels, type Theme, themeVariables } from './colour.js';
import type { Ink, RasterMark, Scene } from './scene.js';
import { forbidden, rounded, type Shape, shapesOf } from './shapes.js';
import { type Size, sizes } from './sizes.js';

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

/** Pixels, row by row, as a data: address of a PNG file. */
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
export const escaped = (text: string): string =>
  text.replace(forbidden, '\ufffd').replace(/[&<>"']/g, (character) => escapes[character] as string);

export const markup = ({ name, attributes, text, spans }: Shape): string =>
  `<${name}${attributes.map(([attribute, value]) => ` ${attribute}="${value}"`).join('')}${text === undefined ? ' />' : `>${spans?.map(markup).join('') ?? escaped(text)}</${name}>`}`;

async function rasterImage(raster: RasterMark, theme: Theme, hidden: string): Promise<string> {
  const { x, y, width, height, rows, columns, faint } = raster;
  if (rows === 0 || columns === 0) return '';
  const address = await pngAddress(rasterPixels(raster, theme), columns, rows);
  return `<image x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" preserveAspectRatio="none" image-rendering="pixelated"${faint ? ' opacity="0.15"' : ''}${hidden} href="${address}" />`;
}

export interface PictureOptions {
  /** `auto` follows the reader's colour scheme, and has the maps in both. */
  theme: Theme | 'auto';
  title: string;
  description: string;
  /** Text below the picture. With it, the picture has a margin and its title above. */
  below?: readonly string[];
  /** False leaves out the ground, for a page whose own ground is known to suit the theme. */
  ground?: boolean | undefined;
}

const margin = 16;
const above = 30;
const lineHeight = 18;

/** Pieces of text joined and broken into lines of about this width. */
function linesOf(pieces: readonly string[], width: number): string[] {
  const most = Math.max(20, Math.floor(width / 7));
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

/** The text of an SVG file. */
export async function svgPicture(
  scene: Scene,
  { theme, title, description, below, ground = true }: PictureOptions,
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
    themes.flatMap(([name, hidden]) => rasters.map((raster) => rasterImage(raster, name, hidden))),
  );
  // `auto` shows the reader's theme, or the one that the picture's address ends in: #light or #dark. Such an
  // address was written to suit the page, so the picture then has no ground of its own.
  const auto = theme === 'auto';
  const style = auto
    ? `<style>svg{${themeVariables('light')}}.on-dark{display:none}@media (prefers-color-scheme: dark){${dark('svg:not(:target)')}}${dark('g:target')}${inkClasses}:target>.ground,svg:target>g>.ground{fill:none}</style>`
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
  const text = (y: number, size: Size, ink: Ink, text: string, bold = false) =>
    shapesOf([{ mark: 'text', x: margin, y, text, ink, size, bold }], true)
      .map(markup)
      .join('');
  const framed = below
    ? `${text(margin + 14, sizes.prose, 'ink', title, true)}<g transform="translate(${margin} ${margin + above})">${marks}</g>${lines
        .map((line, k) =>
          text(margin + above + scene.height + 22 + lineHeight * k, sizes.label, 'quiet', line),
        )
        .join('')}`
    : marks;
  const under = auto ? 'ground f-paper' : 'f-paper';
  const shapes = `${ground ? `<rect width="${width}" height="${height}" class="${under}" />` : ''}${framed}`;
  const painted = auto ? `<g id="dark">${shapes}</g>` : inAttributes(shapes, theme);
  return `<svg${auto ? ' id="light"' : ''} xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"><title>${escaped(title)}</title><desc>${escaped(description)}</desc>${style}${painted}</svg>\n`;
}

/** Ink classes become plain attributes, which every program reads and no policy forbids. */
const inAttributes = (shapes: string, theme: Theme): string =>
  shapes.replace(/ class="([^"]*)"/g, (_, classes: string) =>
    classes
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => ` ${name.startsWith('s-') ? 'stroke' : 'fill'}="${inks[theme][name.slice(2) as Ink]}"`)
      .join(''),
  );
