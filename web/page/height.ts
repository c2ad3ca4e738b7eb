// Estimates a figure's height in a column, which a page reserves so that nothing moves when the figure
// becomes live. It follows web/element/element.css and controls.css; only the line breaks of texts are
// guessed.
import { type Control, type Controls, inputClass, type State } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { captionOf, openingText } from '../plot/format.js';

export interface Shown {
  figure: AnyFigure;
  data: unknown;
  state: State;
  finding: string;
  /** Names of the settings that the reader can change. */
  keep: readonly string[];
}

/** Sizes of the figure's parts in pixels, at the browser's default text size. */
const cell = 52.8;
const gap = 8.8;
const gapAcross = 19.2;
const leastCell = 185.6;
const moreLine = 27.2;
const captionLine = 21;
const smallLine = 17.5;
/** Windows up to this width, in pixels, have two columns of inputs and less room for the readout. */
const phone = 480;
/** The mean width of a letter divided by the font size. */
const letter = 0.52;

const linesOf = (text: string, size: number, width: number): number =>
  text === '' ? 0 : Math.ceil((text.length * letter * size) / width);

/** Counts the rows of pieces that are set side by side as long as there is room. */
function rowsOf(pieces: readonly number[], between: number, width: number): number {
  let [rows, end] = [1, -between];
  for (const piece of pieces) {
    if (end + between + piece > width && end > 0) [rows, end] = [rows + 1, -between];
    end += between + piece;
  }
  return rows;
}

function inputHeight(control: Control, width: number): number {
  const labels =
    control.kind === 'several' || control.kind === 'choice' ? Object.values(control.options) : [];
  const wide = (around: number) => labels.map((label) => label.length * letter * 14.7 + around);
  if (control.kind === 'several') return smallLine + Math.max(32, 27.2 * rowsOf(wide(48), 16, width) - 3.2);
  if (control.kind === 'choice' && control.radio)
    return Math.max(cell, smallLine + 36.8 * rowsOf(wide(21.2), 4.8, width) - 4.8);
  return cell;
}

interface Input {
  across: number;
  height(width: number): number;
}

/** Adds up the heights of the grid's rows, each of which is as high as its highest cell. */
function gridHeight(inputs: readonly Input[], columns: number, width: number): number {
  const column = (width - gapAcross * (columns - 1)) / columns;
  const rows: number[] = [];
  let place = columns;
  for (const { across, height } of inputs) {
    const span = Math.min(across, columns);
    if (place + span > columns) {
      rows.push(0);
      place = 0;
    }
    place += span;
    const room = span * column + (span - 1) * gapAcross;
    rows[rows.length - 1] = Math.max(rows.at(-1) ?? 0, height(room));
  }
  return rows.reduce((sum, row) => sum + row + gap, -gap);
}

function controlsHeight({ figure, state, keep }: Shown, width: number, isPhone: boolean): number {
  const unused = new Set(figure.unused?.(state) ?? []);
  const controls = Object.entries(figure.controls as Controls).filter(
    ([name]) => !unused.has(name) && keep.includes(name),
  );
  const all = Number.POSITIVE_INFINITY;
  const simple = (across: number, height = cell): Input => ({ across, height: () => height });
  const inputs: Input[] = figure.plays ? [simple(1)] : [];
  for (const _ of figure.buttons?.(state) ?? []) inputs.push(simple(1));
  for (const [, control] of controls) {
    const kind = inputClass(control);
    if (control.more || kind === 'by-hand') continue;
    const across = kind.includes('full') ? all : kind.includes('wide') ? (isPhone ? all : 2) : 1;
    inputs.push({ across, height: (room) => inputHeight(control, room) });
  }
  // Playback comes before training.
  const aside = figure.below && figure.plays;
  if (figure.live && !aside) inputs.push(simple(isPhone ? all : 2));
  if (aside || controls.some(([, { more }]) => more)) inputs.push(simple(1, moreLine));
  if (inputs.length === 0) return 0;
  const columns = isPhone ? 2 : Math.max(1, Math.floor((width + gapAcross) / (leastCell + gapAcross)));
  return gridHeight(inputs, columns, width) + 12.8 + (figure.below ? 14.4 : 0);
}

/** Returns the height in pixels in a column of this width, in a phone's window or a larger one. */
export function heightIn(shown: Shown, width: number, isPhone: boolean): number {
  const { figure, data, state, finding } = shown;
  const [head, rest] = captionOf(finding);
  // The menu is beside the first lines.
  const caption =
    linesOf(head, 15.6, width - 90) + Math.max(head ? 0 : 1, linesOf(rest, 15, Math.min(width, 864)));
  const tokens = figure.tokens?.(data, state)?.map((token) => token.length * letter * 14.4 + 13) ?? [];
  const remark = figure.remark?.(data, state) ?? '';
  const opened = figure.opens?.(data, state, figure.firstCursor?.(data, state) ?? { i: 0, j: 0 });
  const link = opened ? openingText(opened) : '';
  return Math.round(
    11.2 +
      22.5 * linesOf(figure.title, 18, width) +
      controlsHeight(shown, width, isPhone) +
      figure.scene(data, state, width).height +
      (remark ? 8 + 21.6 * linesOf(remark, 14.4, width) : 0) +
      9.6 +
      captionLine * caption +
      (tokens.length > 0 ? 6.4 + 27 * rowsOf(tokens, 2, width) : 0) +
      4.8 +
      captionLine * (isPhone ? 1 : 2) +
      (link ? 16 + 22.5 * linesOf(link, 15, width) + 16 : 0),
  );
}

/** The width of a phone's window, and of the margins beside its column. */
const phoneWindow = 390;
const margins = 32;
/** A difference in height that is too small for a reservation of its own. */
const slack = 28;
/**
 * Heights are compared at window widths this far apart. A difference above twice this is a change of layout.
 */
const step = 24;

/** A range of window widths in which the height is about a linear function. */
interface Piece {
  from: number;
  to: number;
  base: number;
  /** Pixels of height for each pixel of the window's width. */
  slope: number;
}

const at = ({ base, slope }: Piece, window: number): number => base + slope * window;

const lineOf = ({ base, slope }: Piece): string =>
  slope === 0
    ? `${Math.round(base)}px`
    : `${Math.round(base)}px ${slope > 0 ? '+' : '-'} ${Math.abs(100 * slope).toFixed(1)}vw`;

function pieceBetween(from: number, to: number, heights: ReadonlyMap<number, number>): Piece {
  const [first, last] = [heights.get(from) as number, heights.get(to) as number];
  const slope = from === to ? 0 : (last - first) / (to - from);
  return { from, to, base: first - slope * from, slope };
}

/** Splits the heights, from the narrowest window on, into the longest pieces whose lines stay near them. */
function piecesOf(heights: ReadonlyMap<number, number>): Piece[] {
  const pieces: Piece[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (const [window, height] of heights) {
    const longer = pieceBetween(pieces.at(-1)?.from ?? window, window, heights);
    const fits = [...heights].every(
      ([other, height]) =>
        other < longer.from || other > window || Math.abs(at(longer, other) - height) <= slack,
    );
    if (fits && Math.abs(height - before) <= 2 * step) pieces[pieces.length - 1] = longer;
    else pieces.push(pieceBetween(window, window, heights));
    before = height;
  }
  return pieces;
}

/** Finds where the layout changes: the narrowest window whose height is nearer to that at `wide`. */
function changeBetween(narrow: number, wide: number, heightAt: (window: number) => number): number {
  const [below, above] = [heightAt(narrow), heightAt(wide)];
  let [from, to] = [narrow, wide];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    const height = heightAt(middle);
    if (Math.abs(height - below) < Math.abs(height - above)) from = middle;
    else to = middle;
  }
  return to;
}

/** A CSS length that ends a piece: larger than any height on one side of the end, negative on the other. */
const switched = (difference: string): string => `(${difference}) * 10000`;

/**
 * Returns the height as a CSS length: that in a column of `width` and, in narrower windows, the heights down
 * to a phone's. Each layout has a linear piece, and the length is the maximum of the pieces. `heightAt` gets
 * the widths of a column and of its window.
 */
export function reserved(
  width: number,
  heightAt: (column: number, window: number) => number,
  full = heightAt(width, Number.POSITIVE_INFINITY),
): string {
  const fullWindow = width + margins;
  if (fullWindow <= phoneWindow) return `${full}px`;
  const inWindow = (window: number) => heightAt(window - margins, window);
  const heights = new Map<number, number>();
  for (let window = phoneWindow; window < fullWindow; window += step) heights.set(window, inWindow(window));
  // The narrowest window above which the height hardly changes.
  let from = fullWindow;
  for (const [window, height] of [...heights].reverse()) {
    if (Math.abs(height - full) > slack) break;
    from = window;
    heights.delete(window);
  }
  const pieces = [...piecesOf(heights), { from, to: fullWindow, base: full, slope: 0 }];
  // A piece needs an end only where its line exceeds the height of other windows.
  const above = (piece: Piece, isThere: (window: number) => boolean) =>
    [...heights, [from, full] as const].some(
      ([window, height]) => isThere(window) && at(piece, window) > height + slack,
    );
  const terms = pieces.map((piece, place) => {
    const [before, after] = [pieces[place - 1], pieces[place + 1]];
    const ends: string[] = [];
    if (before && above(piece, (window) => window < piece.from))
      ends.push(switched(`100vw - ${changeBetween(before.to, piece.from, inWindow) - 1}px`));
    if (after && (piece.slope > 0 || above(piece, (window) => window > piece.to)))
      ends.push(switched(`${changeBetween(piece.to, after.from, inWindow)}px - 100vw`));
    return ends.length > 0 ? `min(${[lineOf(piece), ...ends].join(', ')})` : lineOf(piece);
  });
  return terms.length > 1 ? `max(${terms.reverse().join(', ')})` : `${full}px`;
}

/** The height to reserve for the element. */
export const elementHeight = (shown: Shown, width: number): string =>
  reserved(width, (column, window) => heightIn(shown, column, window <= phone));

/** The padding around a figure in its frame, in pixels. */
const padding = 8;

export const frameHeight = (shown: Shown, width: number): number =>
  heightIn(shown, width - padding, width <= phone) + padding;
