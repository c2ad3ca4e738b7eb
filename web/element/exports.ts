// A figure's result as files, also for the command: the picture, the numbers, and the numbers with their
// settings. They are made from the data, not from what is on screen.
import { type Control, type Controls, type State, type Value, written } from '../figures/controls.js';
import type { AnyFigure, DataTable, Source } from '../figures/figure.js';
import type { Theme } from '../plot/colour.js';
import { csvOf } from '../plot/csv.js';
import type { Scene } from '../plot/scene.js';
import { type PictureOptions, svgPicture } from '../plot/svg.js';
import { version } from './link.js';

/** Widths of every figure's pictures on the site: for a phone, and for the page's column. */
export const pictureWidths = { narrow: 350, wide: 1048 } as const;

/** The data that a figure has computed, and the settings that they belong to. */
export interface Answer {
  data: unknown;
  state: State;
}

export interface Result extends Answer {
  figure: AnyFigure;
}

/** A result as it is on screen. */
export interface View extends Result {
  rows: number;
  columns: number;
  source: Source;
  finding: string;
  tokens: readonly string[] | undefined;
  remark: string | undefined;
  named: Readonly<Record<string, readonly string[] | undefined>>;
  scene: Scene;
}

/** JSON.stringify, but without the toJSON that Prototype.js gives to arrays. */
const json = (value: unknown): string =>
  JSON.stringify(
    value,
    function (this: Record<string, unknown>, key) {
      return this[key];
    },
    1,
  );

/** The picture as a file, by default without text below it and with a background of its own. */
export const toSvg = (
  { figure, data, state }: Result,
  width: number,
  theme: Theme | 'auto',
  options: Pick<PictureOptions, 'below' | 'ground'> = {},
): Promise<string> =>
  svgPicture(figure.scene(data, state, width), {
    theme,
    title: figure.title,
    description: figure.describe(data, state),
    ...options,
  });

/**
 * The picture as a file that stands alone: with a margin, its title, its settings, the source of its numbers
 * and the page's address.
 */
export const toFramedSvg = (
  result: Result,
  width: number,
  theme: Theme | 'auto',
  address?: string,
): Promise<string> => {
  const { figure, state } = result;
  const unused = new Set(figure.unused?.(state) ?? []);
  const settings = Object.entries(figure.controls as Controls).flatMap(([name, control]) =>
    unused.has(name) ? [] : [`${control.label}: ${valueText(control, state[name] as Value)}`],
  );
  const below = [...settings, `numbers: ${figure.source(state)}`, 'Superpose', ...(address ? [address] : [])];
  return toSvg(result, width, theme, { below });
};

/** A value as the reader sees it. */
function valueText(control: Control, value: Value): string {
  if (control.kind === 'choice') return control.options[value as string] ?? '';
  if (control.kind === 'several')
    return (value as string[]).map((option) => control.options[option]).join(', ');
  return written(control, value);
}

export const toCsv = ({ figure, data, state }: Result): string => csvOf(figure.table(data, state));

/** The numbers with their settings. JSON has no NaN and no infinities, so they become null. */
export function toJson({ figure, data, state }: Result): string {
  const { columns, rows }: DataTable = figure.table(data, state);
  const finding = figure.describe(data, state);
  const source = figure.source(state);
  return `${json({ figure: figure.name, title: figure.title, version, source, state, finding, columns, rows })}\n`;
}

/** The framed picture at twice its size. */
export async function toPng(result: Result, width: number, theme: Theme, page?: string): Promise<Blob> {
  const svg = await toFramedSvg(result, width, theme, page);
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob) resolve(blob);
        else reject(new Error('This browser cannot make a PNG of the picture; save it as SVG.'));
      });
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
