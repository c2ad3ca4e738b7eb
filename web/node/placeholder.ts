// Writes what stands in for a figure until it is live, or for good if it cannot be: space for its inputs,
// and the picture and the finding of its first view.

import { pictureWidths, toSvg } from '../element/exports.js';
import { type Control, initialState, inputClass } from '../figures/controls.js';
import { captionOf, openingText } from '../plot/format.js';
import { escaped } from '../plot/svg.js';
import type { Rendered } from './render.js';

/** The window width from which figures stand beside steps. */
const besideFrom = '75rem';
/** On an upright tablet, up to this window width, the first figure draws its two ways one below the other. */
const upright = { width: 728, to: '52.4rem' };
/** Between a phone and an upright tablet, from this window width on. */
const small = { width: 560, from: '37.5rem' };
/** The drawing in narrower windows of figures that stand beside something in wide windows. */
const besideMiddle = { width: 820, to: '74.99rem' };

export interface Placeholder {
  /** Goes between the tags of the element. */
  html: string;
  /** By file name. */
  pictures: Record<string, string>;
}

/** Markup that reserves the space of an input. Options that may need several lines wrap as in the input. */
function roomOf(control: Control): string {
  const kind = inputClass(control);
  const options = control.kind === 'choice' && control.radio ? Object.values(control.options) : [];
  const words = /\blines\b/.test(kind) ? options.map((option) => `<b>${escaped(option)}</b>`) : [];
  return `<i class="${kind}">${words.join('')}</i>`;
}

/**
 * The picture of an opening figure (`first`) is fetched at once. `column` is the width of a figure that
 * stands beside something in wide windows.
 */
export async function placeholder(
  rendered: Rendered,
  folder: string,
  { first = false, column }: { first?: boolean; column?: number | undefined } = {},
): Promise<Placeholder> {
  const { figure, data, state } = rendered;
  const unused = new Set(figure.unused?.(initialState(figure.controls)) ?? []);
  const controls = Object.entries(figure.controls as Record<string, Control>).filter(
    ([name]) => !unused.has(name),
  );
  // Inputs below the picture are reserved there, not in the slot above.
  const { below } = figure;
  // Playback comes before training.
  const aside = below && figure.plays;
  const room = (figure.plays ? ['<i></i>'] : [])
    .concat((figure.buttons?.(state) ?? []).map(() => '<i></i>'))
    .concat(controls.filter(([, { more }]) => !more).map(([, control]) => roomOf(control)))
    .concat(figure.live && !aside ? '<i class="wide"></i>' : [])
    .concat(aside || controls.some(([, control]) => control.more) ? '<i class="more"></i>' : [])
    .join('');
  const inputs = `<div class="controls${below ? ' below"' : '" slot="room"'} aria-hidden="true">${room}</div>`;
  const pictures: Record<string, string> = {};
  const middle = column && !first ? besideMiddle : upright;
  const sizes = {
    ...pictureWidths,
    small: small.width,
    middle: middle.width,
    ...(column && { column }),
  };
  for (const [size, width] of Object.entries(sizes)) {
    pictures[`${figure.name}-${size}.svg`] = await toSvg(rendered, width, 'auto');
  }
  const sizeOf = (width: number) =>
    `width="${width}" height="${Math.round(figure.scene(data, state, width).height)}"`;
  const address = (size: string) => `${folder}${figure.name}-${size}.svg`;
  const source = (media: string, size: keyof typeof sizes) =>
    `<source media="(${media})" srcset="${address(size)}" ${sizeOf(sizes[size] as number)}>`;
  const [head, rest] = captionOf(figure.describe(data, state)).map(escaped);
  const opened = figure.opens?.(data, state, figure.firstCursor?.(data, state) ?? { i: 0, j: 0 });
  const link = opened ? `<p class="opens" aria-hidden="true">${escaped(openingText(opened))}</p>` : '';
  return {
    pictures,
    html:
      `${below ? '' : inputs}` +
      `<picture>${column ? source(`min-width: ${besideFrom}`, 'column') : ''}` +
      source(`42.5rem <= width <= ${middle.to}`, 'middle') +
      source('min-width: 42.5rem', 'wide') +
      source(`min-width: ${small.from}`, 'small') +
      `<img src="${address('narrow')}" ${sizeOf(pictureWidths.narrow)} ${first ? 'fetchpriority="high"' : 'loading="lazy"'} alt="${escaped(figure.title)}"></picture>` +
      `${below ? inputs : ''}<p class="finding">${head && `<b>${head}</b>`}${rest}</p>${link}`,
  };
}
