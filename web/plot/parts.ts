// The parts that figures are built from: planes with axes, maps with keys, lines, histograms, bars.
import { nice, ticks } from 'd3-array';
import { plainCopy } from './plainCopy.js';
import type {
  BoxMark,
  DotsMark,
  Ink,
  LineMark,
  Mark,
  PathMark,
  RasterMark,
  Region,
  ScaleName,
  Term,
  TextMark,
} from './scene.js';

/**
 * Maps data to pixels, linearly or by a logarithm, with round ends and ticks by d3-array. d3-scale does the
 * same and costs 12 KB more, for dates, colours and formats that no figure has.
 */
export interface Scale {
  (value: number): number;
  domain(): [number, number];
  range(): [number, number];
  /** About `count` round values within the domain. */
  ticks(count: number): number[];
}

type Pair = [number, number];

export function linear(domain: Pair, range: Pair, rounded = false): Scale {
  const ends = rounded ? (nice(domain[0], domain[1], 10) as Pair) : domain;
  const slope = (range[1] - range[0]) / (ends[1] - ends[0]);
  return Object.assign((value: number) => range[0] + (value - ends[0]) * slope, {
    domain: () => ends,
    range: () => range,
    ticks: (count: number) => ticks(ends[0], ends[1], count),
  });
}

/** Base 10; the domain must be above 0. */
export function logarithmic(domain: Pair, range: Pair, rounded = false): Scale {
  const [low, high] = domain.map(Math.log10) as Pair;
  const powers: Pair = rounded ? [Math.floor(low), Math.ceil(high)] : [low, high];
  const ends: Pair = rounded ? [10 ** powers[0], 10 ** powers[1]] : domain;
  const along = linear(powers, range);
  return Object.assign((value: number) => along(Math.log10(value)), {
    domain: () => ends,
    range: () => range,
    ticks(count: number) {
      if (powers[1] - powers[0] >= count) return along.ticks(count).map((power) => 10 ** power);
      const digits: number[] = [];
      for (let power = Math.floor(powers[0]); power <= powers[1]; power++) {
        for (let digit = 1; digit < 10; digit++) {
          // 10 ** −3 is not 0.001: only parsing gives the double that is nearest to the decimal.
          const tick = Number(`${digit}e${power}`);
          if (tick >= ends[0] && tick <= ends[1]) digits.push(tick);
        }
      }
      return digits;
    },
  });
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface AxisOptions {
  /** The ends of the data. */
  from: number;
  to: number;
  /** An axis without a name has no numbers either. */
  label?: string;
  logarithmic?: boolean;
  /** Whether the ends are extended to round numbers; true unless given. */
  nice?: boolean;
  ticks?: number;
  /** How ticks are printed; a true minus sign unless given. */
  print?: (tick: number) => string;
}

export interface Plane {
  x: Scale;
  y: Scale;
  /** The area inside the axes. */
  inner: Area;
  marks: Mark[];
}

const lineHeight = 16;
export const tickText = (tick: number): string => String(Number(tick.toPrecision(6))).replace('-', '−');

const nothing = () => '';

/** A plane with grid lines, ticks and labels inside `area`, and its scales for marks on it. */
export function plane(area: Area, below: AxisOptions, beside: AxisOptions): Plane {
  const [across, up] = [plainCopy(below), plainCopy(beside)];
  const [print, printAcross] = [up, across].map(({ label, print = tickText }) =>
    label ? print : nothing,
  ) as [(tick: number) => string, (tick: number) => string];
  const y = axis(up, [area.y + area.height - 2.3 * lineHeight, area.y + lineHeight + 4]);
  const rows = ticksOf(y, up);
  const left = 10 + 7 * Math.max(...rows.map((tick) => print(tick).length), 1);
  const x = axis(across, [area.x + left, area.x + area.width - 8]);
  const columnTicks = ticksOf(x, across, area.width < 330 ? 4 : 6);
  const labels = columnTicks.map((tick) => tickLabel(printAcross(tick), x(tick), 0, area));
  const widest = 6.8 * Math.max(...labels.map(({ text }) => text.length));
  const [before, last] = labels.slice(-2);
  const distance = (last?.x ?? 0) - (before?.x ?? -Infinity);
  // Long numbers stand only at every second grid line, or at fewer.
  const step = Math.max(1, Math.ceil(widest / distance));
  const columns = columnTicks.filter((_, place) => place % step === 0);
  const [start, end] = x.range() as [number, number];
  const [bottom, top] = y.range() as [number, number];
  const marks: Mark[] = [
    ...columns.flatMap((tick): Mark[] => [
      { mark: 'line', x1: x(tick), x2: x(tick), y1: top, y2: bottom },
      tickLabel(printAcross(tick), x(tick), bottom + lineHeight, area),
    ]),
    ...rows.flatMap((tick): Mark[] => [
      { mark: 'line', y1: y(tick), y2: y(tick), x1: start, x2: end },
      textAt(start - 6, y(tick) + 4, print(tick), { anchor: 'end' }),
    ]),
    ...(across.label ? [textAt(end, bottom + 2.1 * lineHeight, `${across.label} →`, { anchor: 'end' })] : []),
    ...(up.label ? [textAt(area.x, area.y + 10, `↑ ${up.label}`)] : []),
  ];
  return { x, y, inner: { x: start, y: top, width: end - start, height: bottom - top }, marks };
}

/** An axis with the values at equal distances, whatever their differences, each with its label. */
export const evenlySpacedAxis = (values: readonly number[], label: string) => ({
  from: -0.5,
  to: values.length - 0.5,
  nice: false,
  ticks: values.length,
  label,
  print: (tick: number) => String(values[tick] ?? ''),
});

/** A label below its tick, but not beyond the area, where the picture would cut it off. */
function tickLabel(text: string, at: number, y: number, area: Area): TextMark {
  const half = 3.5 * text.length;
  return textAt(Math.min(at, area.x + area.width - half), y, text, { anchor: 'middle' });
}

function axis({ from, to, logarithmic: powers, nice = true }: AxisOptions, range: [number, number]): Scale {
  // A domain of one point has no scale. It is widened: by a factor if it is logarithmic, otherwise by a
  // distance that is not lost in rounding.
  const by = Math.max(1, Math.abs(from) / 1024);
  const around: [number, number] = powers ? [from / 10, from * 10] : [from - by, from + by];
  const domain: [number, number] = from < to ? [from, to] : around;
  return (powers ? logarithmic : linear)(domain, range, nice);
}

function ticksOf(scale: Scale, { ticks, logarithmic: powers }: AxisOptions, most = 5): number[] {
  const all = scale.ticks(ticks ?? most);
  if (!powers || all.length <= 7) return all;
  const powersOfTen = all.filter((tick) => Number.isInteger(Math.round(1e9 * Math.log10(tick)) / 1e9));
  return powersOfTen.length >= 2 ? powersOfTen : all.filter((_, place) => place % 2 === 0);
}

/** The path of a line through points; values that are not finite leave a gap. */
export function lineThrough(
  { x, y }: Pick<Plane, 'x' | 'y'>,
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
): string {
  let path = '';
  let broken = true;
  for (let k = 0; k < xs.length; k++) {
    const [across, down] = [x(xs[k] as number), y(ys[k] as number)];
    // On a logarithmic axis, 0 is not finite either.
    if (!Number.isFinite(across + down)) broken = true;
    else {
      path += `${broken ? 'M' : 'L'}${point(across, down)}`;
      broken = false;
    }
  }
  return path;
}

/** A text at a point. */
export const textAt = (
  x: number,
  y: number,
  text: string,
  look: Omit<TextMark, 'mark' | 'x' | 'y' | 'text'> = {},
): TextMark => ({ mark: 'text', x, y, text, ...look });

const rounded = (value: number) => Math.round(100 * value) / 100;
const point = (x: number, y: number) => `${rounded(x)},${rounded(y)}`;

type Look = Omit<LineMark, 'mark' | 'x1' | 'x2' | 'y1' | 'y2'>;
type Place = readonly [x: number, y: number];

export const lineAt = ([x1, y1]: Place, [x2, y2]: Place, look: Look): LineMark => ({
  mark: 'line',
  x1,
  y1,
  x2,
  y2,
  ...look,
});

/** A box at its left upper corner, of this width and height. */
export const boxAt = (
  [x, y, width, height]: readonly [x: number, y: number, width: number, height: number],
  look: Omit<BoxMark, 'mark' | keyof Area>,
): BoxMark => ({ mark: 'box', x, y, width, height, ...look });

export const dotsAt = (
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  radius: number,
  ink: Ink,
  opacity = 1,
): DotsMark => ({ mark: 'dots', x, y, radius, ink, opacity });

/** A line through points of a plane. */
export const curve = (
  drawn: Pick<Plane, 'x' | 'y'>,
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  look: Omit<PathMark, 'mark' | 'd'>,
): PathMark => ({ mark: 'path', d: lineThrough(drawn, xs, ys), ...look });

/** A line from one side of the axes to the other, at y in pixels. */
export const horizontal = ({ inner: { x, width } }: { inner: Area }, y: number, look: Look): Mark =>
  lineAt([x, y], [x + width, y], look);

/** A line from the top of the axes to the bottom, at x in pixels. */
export const vertical = ({ inner: { y, height } }: { inner: Area }, x: number, look: Look): Mark =>
  lineAt([x, y], [x, y + height], look);

/**
 * How often values fall into each of `count` equal bins from `low` up to `high`, which the last bin
 * includes.
 */
export function counts(values: Iterable<number>, low: number, high: number, count: number): number[] {
  const bins = new Array<number>(count).fill(0);
  for (const value of values) {
    if (!(value >= low && value <= high)) continue;
    const place = Math.min(count - 1, Math.floor((count * (value - low)) / (high - low)));
    bins[place] = (bins[place] as number) + 1;
  }
  return bins;
}

/** Steps of a histogram up from 0, as a filled path; `heights` belong to equal bins from `low` to `high`. */
export function steps(
  { x, y }: { x(value: number): number; y(height: number): number },
  heights: readonly number[],
  low: number,
  high: number,
): string {
  const wide = (high - low) / heights.length;
  const base = y(0);
  const tops = heights.map((height, k) => {
    const top = y(height);
    return `L${point(x(low + k * wide), top)}L${point(x(low + (k + 1) * wide), top)}`;
  });
  return heights.length === 0 ? '' : `M${point(x(low), base)}${tops.join('')}L${point(x(high), base)}Z`;
}

export interface MapOptions {
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  low: number;
  high: number;
  scale: ScaleName;
  /** Printed above the map, over a bar in its term's colour. */
  title?: string;
  subtitle?: string;
  term?: Term | undefined;
  /** The bar's colour, if the map stands for no term. */
  ink?: Ink | undefined;
  faint?: boolean;
}

/** Pixels above a map for its title and subtitle. */
export const titleHeight = (subtitle = false): number => (subtitle ? 38 : 24);

/** A map that can be pointed at; `area` includes the title. */
export function map(area: Area, options: MapOptions): { marks: Mark[]; region: Region } {
  const { title, subtitle, term, ink, faint, ...raster } = plainCopy(options);
  const top = title === undefined ? 0 : titleHeight(subtitle !== undefined);
  const inside: Area = { x: area.x, y: area.y + top, width: area.width, height: area.height - top };
  const cells: RasterMark = { mark: 'raster', ...inside, ...raster, faint: faint ?? false, term };
  const marks: Mark[] = [cells];
  if (title !== undefined) {
    marks.push(textAt(area.x, area.y + 13, title, { ink: 'ink', term }));
  }
  if (subtitle !== undefined) marks.push(textAt(area.x, area.y + 29, subtitle));
  const fill = term ?? ink ?? 'quiet';
  marks.push(boxAt([inside.x, inside.y - 4, inside.width, 3], { fill, term }));
  return { marks, region: { ...inside, pick: 'cells', rows: raster.rows, columns: raster.columns, term } };
}

/** Room for the names of a map's edges: left of it and below it. */
export const edgeRoom = { left: 18, below: 16 };

/** What is along the edges of a map: rows go down and columns to the right. */
export const edges = ({ x, y, width, height }: Area, rows = 'query', columns = 'key'): Mark[] => [
  ...(rows ? [textAt(x - 5, y, `← ${rows}`, { anchor: 'end', turn: -90 })] : []),
  textAt(x + width, y + height + 13, `${columns} →`, { anchor: 'end' }),
];

/** The key of a map's colours: a ramp with its ends and the unit, 30 pixels high. */
export function colourKey(
  x: number,
  y: number,
  key: { low: number; high: number; scale: ScaleName; label: string; print?: (value: number) => string },
): Mark[] {
  const { low, high, scale, label, print = tickText } = plainCopy(key);
  const [least, most] = [print(low), print(high)];
  const width = Math.max(120, 7 * (least.length + most.length + 3));
  const ramp = Float64Array.from({ length: 64 }, (_, k) => k / 63);
  return [
    { mark: 'raster', x, y, width, height: 10, values: ramp, rows: 1, columns: 64, low: 0, high: 1, scale },
    textAt(x, y + 23, least),
    ...(low < 0 && high > 0 ? [textAt(x + width / 2, y + 23, '0', { anchor: 'middle' })] : []),
    textAt(x + width, y + 23, most, { anchor: 'end' }),
    ...(label ? [textAt(x + width + 10, y + 9, label)] : []),
  ];
}

export interface Bar {
  label: string;
  value: number;
  /** The value as it is printed. */
  text: string;
  ink: Ink;
  term?: Term | undefined;
}

/** Rows of a label, a bar and a number; bars go from zero to either side. */
export function bars(area: Area, list: readonly Bar[], low: number, high: number): Mark[] {
  const row = area.height / Math.max(1, list.length);
  const labels = Math.min(
    0.45 * area.width,
    16 + 6.6 * Math.max(0, ...list.map(({ label }) => label.length)),
  );
  const numbers = 12 + 7 * Math.max(0, ...list.map(({ text }) => text.length));
  const across = linear(
    [Math.min(0, low), Math.max(0, high) || (low < 0 ? 0 : 1)],
    [area.x + labels, area.x + area.width - numbers],
  );
  const zero = across(0);
  return [
    ...list.map(plainCopy).flatMap(({ label, value, text, ink, term }, place): Mark[] => {
      const y = area.y + place * row;
      const to = Number.isFinite(value) ? across(value) : zero;
      return [
        textAt(area.x, y + row / 2 + 4, label, { ink: 'ink', term }),
        boxAt([Math.min(zero, to), y + 0.18 * row, Math.abs(to - zero), 0.64 * row], { fill: ink, term }),
        textAt(area.x + area.width, y + row / 2 + 4, text, { anchor: 'end', ink: 'ink', term }),
      ];
    }),
    { mark: 'line', x1: zero, x2: zero, y1: area.y, y2: area.y + area.height, ink: 'quiet' },
  ];
}

/**
 * A row of numbers as bars up and down from the area's middle or, with `ends`, only the ends of those bars. A
 * bar beyond the limit ends at the edge.
 */
export function rowBars(
  { x, y, width, height }: Area,
  values: ArrayLike<number>,
  limit: number,
  ink: Ink,
  ends = false,
): PathMark {
  const pitch = width / values.length;
  const wide = pitch - (pitch > 5 ? 1.5 : 0);
  const d = Array.from(values, (value, k) => {
    const up = (Math.max(-limit, Math.min(limit, value)) / limit) * (height / 2);
    const from = point(x + k * pitch, y + height / 2 - (ends ? up : 0));
    return `M${from}${ends ? '' : `v${rounded(-up)}`}h${rounded(wide)}${ends ? '' : `v${rounded(up)}Z`}`;
  });
  return { mark: 'path', d: d.join(''), ...(ends ? { stroke: ink, wide: 2 } : { fill: ink }) };
}

/** A path of slanted lines across an area, which mark what is wrong or missing. */
export function hatching({ x, y, width, height }: Area): string {
  let d = '';
  for (let at = 6; at < width + height; at += 6) {
    const [from, to] = [Math.min(at, width), Math.max(0, at - height)];
    d += `M${point(x + from, y + at - from)}L${point(x + to, y + at - to)}`;
  }
  return d;
}

/** Names of lines with a stroke of their colour, one below the other, 18 pixels each. */
export function lineKey(
  x: number,
  y: number,
  entries: readonly { label: string; ink: Ink; dashed?: boolean; term?: Term }[],
): Mark[] {
  return entries.map(plainCopy).flatMap(({ label, ink, dashed = false, term }, place): Mark[] => {
    const at = y + 18 * place + 8;
    return [
      lineAt([x, at], [x + 22, at], { ink, wide: 3, dashed, term }),
      textAt(x + 28, at + 4, label, { ink: 'ink', term }),
    ];
  });
}

type Named = Parameters<typeof lineKey>[2][number];

/** Names of lines at their right ends; below the picture where it is narrower than `least`. */
export function namedLines(outer: Area, entries: readonly Named[], least = 560) {
  const room = outer.width < least ? 0 : 32 + 6.7 * Math.max(...entries.map(({ label }) => label.length));
  return {
    /** The area that is left for the lines. */
    area: { ...outer, width: outer.width - room },
    /** The height of the names below that area, in pixels; 0 if they stand beside the lines. */
    below: room ? 0 : 18 * entries.length + 8,
    /** Marks for the names; `ends` are the y of the lines at their right ends, in pixels. */
    names({ inner }: Plane, ends: readonly number[]): Mark[] {
      if (!room) return lineKey(outer.x, outer.y + outer.height + 4, entries);
      const bottom = inner.y + inner.height;
      const end = ends.map((y) => (y <= bottom ? Math.max(inner.y, y) : bottom));
      const order = [...end.keys()].sort((a, b) => (end[a] as number) - (end[b] as number));
      let y2 = -16;
      return order.flatMap((k, place): Mark[] => {
        const { label, ink, dashed = false, term } = plainCopy(entries[k] as Named);
        // Each name is below the last one, with room for those that follow.
        y2 = Math.max(y2 + 16, Math.min(end[k] as number, bottom - 16 * (order.length - 1 - place)));
        const x1 = inner.x + inner.width;
        const x2 = x1 + 20;
        return [
          { mark: 'line', x1, y1: end[k] as number, x2, y2, ink, wide: 1.5, dashed, term },
          textAt(x2 + 5, y2 + 4, label, { ink: 'ink', term }),
        ];
      });
    },
  };
}

export interface Multiples {
  columns: number;
  /** The width of one cell. */
  width: number;
  at(place: number): { column: number; row: number; x: number };
}

/** As many columns as fit, each at least `least` wide, at most `most` of them. */
export function multiples(width: number, least: number, most: number, gap = 14): Multiples {
  const columns = Math.max(1, Math.min(most, Math.floor((width + gap) / (least + gap))));
  const cell = (width - gap * (columns - 1)) / columns;
  return {
    columns,
    width: cell,
    at: (place) => ({
      column: place % columns,
      row: Math.floor(place / columns),
      x: (place % columns) * (cell + gap),
    }),
  };
}

/** The largest magnitude in any of the arrays: the end of a scale that is symmetric about zero. */
export function largestMagnitude(arrays: Iterable<ArrayLike<number>>): number {
  let largest = 0;
  for (const array of arrays) {
    for (let k = 0; k < array.length; k++) {
      const magnitude = Math.abs(array[k] as number);
      if (magnitude > largest) largest = magnitude;
    }
  }
  return largest;
}

/**
 * Breaks text into lines that fit a width, for letters of so many pixels; a word that is too long has its own
 * line.
 */
export function wrapped(text: string, width: number, letter = 6.8): string[] {
  const most = Math.floor(width / letter);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length === 0 || line.length > most) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
