// Where everything is in the picture of "one-layer", and on which axes.
import type { Area } from '../plot/parts.js';
import type { FigureView } from './figure.js';
import type { controls, Data, State } from './oneLayerData.js';

export const inks = ['token-token', 'position-position', 'rest'] as const;
/** From this pull on, a dragged card falls into place by itself, and cards melt away. */
export const snapFrom = 0.96;
/** The width of a picture that has room for large numbers, in pixels. */
const wideFrom = 700;
/** The space around the bars and the matrix of a card, in pixels. */
export const padding = 6;
/**
 * How much of a column may be covered while the column still counts as whole, in columns; rounding is far
 * smaller.
 */
const leastPart = 1e-9;

/** Where everything is, in pixels. */
export interface Layout {
  wide: boolean;
  /**
   * The left edges of the cards' bars and matrices, how much of each is not covered by the next card, and how
   * many of its columns are not covered at all.
   */
  cards: { x: number; visible: number; wholeColumns: number }[];
  /** How far two cards are from each other before they are dragged. */
  pitch: number;
  cell: number;
  side: number;
  /** The top of the bars, their height, and the top of the matrices. */
  top: number;
  strip: number;
  matrixTop: number;
  output: Area;
  /** How far cards have melted away, from 0 to 1. */
  melted: number;
  height: number;
}

export function layoutOf({ parts, added }: Data, { pull }: State, width: number): Layout {
  const [count, d] = [parts.length, added.length];
  const wide = width >= wideFrom;
  const gap = wide ? 44 : 20;
  const sign = wide ? 88 : 26;
  const left = padding + 1;
  const outputRoom = Math.max(60, (wide ? 0.4 : width < 480 ? 0.18 : 0.3) * width);
  const room = width - left - (count - 1) * gap - sign - outputRoom - 6;
  const side = Math.min(208, room / count);
  const pitch = side + gap;
  const places = parts.map((_, k) => left + (1 - pull) * k * pitch);
  const cell = side / d;
  const cards = places.map((x, k) => {
    const visible = Math.max(0, Math.min(side, (places[k + 1] ?? Number.POSITIVE_INFINITY) - padding - x));
    return { x, visible, wholeColumns: Math.floor(visible / cell + leastPart) };
  });
  const [top, strip] = wide ? [30, 128] : [28, 92];
  const matrixTop = top + strip + 16;
  const end = left + count * side + (count - 1) * gap + sign;
  return {
    wide,
    cards,
    pitch,
    cell,
    side,
    top,
    strip,
    matrixTop,
    output: { x: end, y: matrixTop, width: width - end - 6, height: side },
    melted: Math.max(0, (pull - snapFrom) / (1 - snapFrom)),
    height: matrixTop + side + (wide ? 56 : 98),
  };
}

export type View = FigureView<typeof controls, Data>;

/** The ends of the axes, which stay while a setting is dragged. */
export interface Axes {
  bars: number;
  outputs: number;
}

/** The rows as the layer reads them: the position's times ρ. */
export const scaledRows = ({ data: { parts }, state: { scale } }: View) =>
  parts.map((part, k) => (k === 1 ? part.map((value) => scale * value) : part));

/** For each part and channel, where its bar begins and ends when bars stand on each other. */
export function stacked(
  rows: readonly ArrayLike<number>[],
  standing: number,
): [from: number, to: number][][] {
  const base = Array.from(rows[0] as ArrayLike<number>, () => 0);
  return rows.map((row) =>
    Array.from(row, (value, j): [number, number] => {
      const from = standing * (base[j] as number);
      base[j] = (base[j] as number) + value;
      return [from, from + value];
    }),
  );
}

export const within = (value: number, limit: number) => Math.max(-limit, Math.min(limit, value));

/** The y of a bar's end, in pixels. */
export function barHeight({ top, strip }: Layout, value: number, limit: number): number {
  return top + strip / 2 - (within(value, limit) / limit) * (strip / 2);
}

/** The visible width of a card, up to the edge of the next one. */
export const cardWidth = ({ cards, side }: Layout, k: number): number =>
  Math.min(side + 2 * padding, (cards[k + 1]?.x ?? Number.POSITIVE_INFINITY) - (cards[k]?.x ?? 0));
