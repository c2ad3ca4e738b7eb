// A figure's picture as plain data, in CSS pixels. The same marks are drawn on a page, on a canvas below an
// SVG, and written as an SVG file.

import type { Size } from './sizes.js';

/**
 * Colours by meaning; web/plot/colour.ts has their values in each theme. `ink` is also the colour of what is
 * added; tokens and positions have the colours of their terms.
 */
export type Ink =
  | 'ink'
  | 'quiet'
  | 'line'
  | 'field'
  | 'paper'
  | 'accent'
  | 'concatenated'
  | 'second'
  | 'third'
  | Term;

/** The four terms of a score, and what is left of it; each has one colour everywhere. */
export type Term = 'token-token' | 'token-position' | 'position-token' | 'position-position' | 'rest';

export type ScaleName = 'diverging' | 'sequential';

interface Linked {
  /** The term that the mark belongs to, so that it lights up with the term's name. */
  term?: Term | undefined;
  /** Only on a page, not in a file: the mark says how to use the picture. */
  live?: true;
}

/** A piece of a formula. */
export interface Span {
  text: string;
  shift?: 'sub' | 'sup';
  italic?: true;
  /** Set if the piece has this colour and the text's own font. */
  ink?: Ink;
}

export interface TextMark extends Linked {
  mark: 'text';
  x: number;
  y: number;
  text: string;
  /** The same text, set as mathematics. */
  spans?: readonly Span[];
  anchor?: 'start' | 'middle' | 'end';
  ink?: Ink;
  /** In pixels; 13 unless given. */
  size?: Size;
  bold?: boolean;
  /** Degrees, about (x, y). */
  turn?: number;
}

export interface LineMark extends Linked {
  mark: 'line';
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  ink?: Ink;
  wide?: number;
  dashed?: boolean;
}

export interface PathMark extends Linked {
  mark: 'path';
  d: string;
  stroke?: Ink | undefined;
  fill?: Ink | undefined;
  wide?: number;
  dashed?: boolean;
  opacity?: number;
}

export interface BoxMark extends Linked {
  mark: 'box';
  x: number;
  y: number;
  width: number;
  height: number;
  fill?: Ink | undefined;
  stroke?: Ink | undefined;
  wide?: number;
  opacity?: number;
}

/** Many small dots; `x` and `y` in pixels. */
export interface DotsMark extends Linked {
  mark: 'dots';
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  radius: number;
  ink: Ink;
  opacity?: number;
}

/**
 * Up to so many dots are round; more are squares, which take a fifth of the time and look the same when
 * small.
 */
export const roundDots = 100;

/** Values [rows, columns] as coloured cells; `low` and `high` are the ends of the scale. */
export interface RasterMark extends Linked {
  mark: 'raster';
  x: number;
  y: number;
  width: number;
  height: number;
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  low: number;
  high: number;
  scale: ScaleName;
  /** Pale, for a term that is switched off. */
  faint?: boolean;
}

export type Mark = TextMark | LineMark | PathMark | BoxMark | DotsMark | RasterMark;

/** What the reader points at: a row and a column, a query and a key, or a place (`i` is 0 then). */
export interface Cursor {
  i: number;
  j: number;
}

/** Centres of the things that can be pointed at, and their sizes if they are not dots. */
interface Points {
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  cursors: Cursor[];
  boxes?: { width: number; height: number }[];
}

/** A part of the picture that can be pointed at. */
export interface Region extends Linked {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Cells of a map; columns of a plot; the nearest of points; or nothing, where it can only be clicked. */
  pick: 'cells' | 'across' | 'nothing' | { points: Points };
  rows: number;
  columns: number;
  /** The cursor's row at the top of its cells; 0 unless given. */
  firstRow?: number;
  /** Settings that a click or tap on it sets; without any, it holds the cursor. */
  sets?: Readonly<Record<string, string | number | readonly string[]>>;
}

/**
 * A knob in the picture, or a part of the picture, that is dragged to set a value. Its setting has an input,
 * too.
 */
export interface Handle {
  x: number;
  y: number;
  setting: string;
  /**
   * Set if a part around (x, y), such as a card, is dragged. It moves sideways only, so that a finger still
   * scrolls the page up and down.
   */
  size?: { width: number; height: number };
  /** The value when (x, y) has been dragged to a pixel; a number is rounded to one that can be set. */
  at(x: number, y: number): number | string;
  /** Dragged to the first value or beyond, it goes on to the second by itself. */
  snap?: readonly [from: number, to: number];
}

export interface Scene {
  width: number;
  height: number;
  marks: Mark[];
  regions: Region[];
  handles?: Handle[];
}

/** The region at a pixel, and the cursor there. */
export function cursorAt(
  scene: Scene,
  x: number,
  y: number,
): { cursor?: Cursor; region: Region } | undefined {
  for (const region of scene.regions) {
    const across = (x - region.x) / region.width;
    const down = (y - region.y) / region.height;
    if (across < 0 || across > 1 || down < 0 || down > 1) continue;
    if (region.pick === 'nothing') return { region };
    if (typeof region.pick === 'object') {
      const cursor = nearest(region.pick.points, x, y);
      if (cursor) return { cursor, region };
      continue;
    }
    const j = Math.min(region.columns - 1, Math.floor(across * region.columns));
    const row = region.pick === 'across' ? 0 : Math.min(region.rows - 1, Math.floor(down * region.rows));
    return { cursor: { i: (region.firstRow ?? 0) + row, j }, region };
  }
  return undefined;
}

function nearest({ x, y, cursors }: Points, across: number, down: number): Cursor | undefined {
  let best: Cursor | undefined;
  let least = Infinity;
  for (let k = 0; k < cursors.length; k++) {
    const distance = ((x[k] as number) - across) ** 2 + ((y[k] as number) - down) ** 2;
    if (distance < least) {
      least = distance;
      best = cursors[k];
    }
  }
  return best;
}

/** Marks that show the cursor, in every region. */
export function cursorMarks(scene: Scene, { i: row, j }: Cursor): Mark[] {
  return scene.regions.flatMap((region): Mark[] => {
    const { x, y, width, height, rows, columns, pick, firstRow = 0 } = region;
    const i = row - firstRow;
    if (typeof pick === 'object') {
      const k = pick.points.cursors.findIndex((cursor) => cursor.i === row && cursor.j === j);
      if (k < 0) return [];
      const at = { x: pick.points.x[k] as number, y: pick.points.y[k] as number };
      const box = pick.points.boxes?.[k];
      if (!box) return [ring(at.x, at.y)];
      const corner = { x: at.x - box.width / 2, y: at.y - box.height / 2 };
      return [{ mark: 'box', ...corner, ...box, stroke: 'quiet', wide: 1.5 }];
    }
    if (pick === 'nothing' || j >= columns || (pick === 'cells' && (i < 0 || i >= rows))) return [];
    const wide = width / columns;
    if (pick === 'across') {
      const at = x + (j + 0.5) * wide;
      return [{ mark: 'line', x1: at, x2: at, y1: y, y2: y + height, ink: 'ink' }];
    }
    const high = height / rows;
    const band = { mark: 'box', fill: 'ink', opacity: 0.09 } as const;
    return [
      // In a single column the bands would shade everything.
      ...(columns > 1
        ? [
            { ...band, x, y: y + i * high, width, height: high },
            { ...band, x: x + j * wide, y, width: wide, height },
          ]
        : []),
      {
        mark: 'box',
        x: x + j * wide,
        y: y + i * high,
        width: Math.max(wide, 3),
        height: Math.max(high, 3),
        stroke: 'ink',
        wide: 1.5,
      },
    ];
  });
}

const ring = (x: number, y: number): Mark => ({
  mark: 'path',
  d: `M${x - 6},${y}a6,6 0 1,0 12,0a6,6 0 1,0 -12,0`,
  stroke: 'ink',
  wide: 2,
});
