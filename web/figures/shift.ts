// Figure "Shifting positions": one matrix moves every position by k, and does not move a token with one.
import type { Table } from 'superpose';
import { about, readable } from '../plot/format.js';
import { changeText, howExactly } from '../plot/gap.js';
import { type Area, lineKey, lineThrough, multiples, plane, tickText, vertical } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls } from './controls.js';
import type { Compute, Figure } from './figure.js';

const shifts = 64;
const tableRows = 64;

const controls = {
  k: { kind: 'range', label: 'Shift k', min: 1, max: shifts, step: 1, initial: 5 },
  p: { kind: 'range', label: 'Position p', min: 0, max: tableRows - 1, step: 1, initial: 3 },
  d: { kind: 'steps', label: 'Width d', values: [8, 16, 32, 64, 128, 256], initial: 64 },
  scale: { kind: 'range', label: 'Token scale', min: 0, max: 2, step: 0.05, initial: 0 },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

const circles = 4;

/** Sine and cosine channel of one frequency. */
type Point = [number, number];

interface Data {
  /** For each k from 1: the largest |PE(p + k) − M_k PE(p)| over all positions and channels. */
  encodingErrors: number[];
  /** For each k: ‖Mₖ (x + PE(p)) − (x + PE(p + k))‖ for this p. */
  sumErrors: number[];
  /** For each k: ‖PE(p + k) − PE(p)‖, what the shift moves. */
  moves: number[];
  tokenLength: number;
  /** For a few frequencies, fastest first. */
  pairs: {
    frequency: number;
    token: Point;
    before: Point;
    after: Point;
    turned: Point;
  }[];
}

// The errors of the encoding depend on nothing but the width.
let last: { d: number; errors: number[] } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, { k, p, d, scale, seed }) => {
  const superpose = await library.superpose();
  const ks = Array.from({ length: shifts }, (_, place) => place + 1);
  if (last?.d !== d) {
    const errors = ks.map((offset) => superpose.shiftError({ positions: tableRows, d_model: d, offset }));
    last = { d, errors };
  }
  const token = superpose.randomNormal({ rows: 1, columns: d, seed }).data.map((value) => scale * value);
  // Rows p and p + 1 to p + shifts.
  const positions = superpose.sinusoidal({ positions: shifts + 1, d_model: d, firstPosition: p });
  const row = (place: number) => positions.data.subarray(place * d, (place + 1) * d);
  const sums = tableOf([0, ...ks].map((place) => row(place).map((value, c) => value + (token[c] as number))));
  const start = sums.data.subarray(0, d);
  // M_k turns each pair by −kw where rotary positions turn it by +kw, so row r is at position r − shifts.
  const turned = superpose.rotate({ rows: tableOf(ks.map(() => start)), firstPosition: -shifts });
  const turnedBy = (offset: number) => turned.data.subarray((shifts - offset) * d, (shifts - offset + 1) * d);
  const sum = (offset: number) => sums.data.subarray(offset * d, (offset + 1) * d);
  const lengths = (rows: Float64Array[]) => [...superpose.rowLengths(tableOf(rows))];
  const frequencies = superpose.sinusoidalFrequencies({ d_model: d });
  const chosen = Array.from({ length: circles }, (_, place) => Math.round((place * (d / 2 - 1)) / 8));
  return {
    encodingErrors: last.errors,
    sumErrors: lengths(ks.map((offset) => difference(turnedBy(offset), sum(offset)))),
    moves: lengths(ks.map((offset) => difference(row(offset), row(0)))),
    tokenLength: lengths([token])[0] as number,
    pairs: chosen.map((i) => {
      const point = (values: Float64Array): Point => [values[2 * i] as number, values[2 * i + 1] as number];
      return {
        frequency: frequencies[i] as number,
        token: point(token),
        before: point(start),
        after: point(sum(k)),
        turned: point(turnedBy(k)),
      };
    }),
  };
};

function tableOf(rows: Float64Array[]): Table<Float64Array> {
  const columns = rows[0]?.length ?? 1;
  const data = new Float64Array(rows.length * columns);
  for (const [place, row] of rows.entries()) data.set(row, place * columns);
  return { data, rows: rows.length, columns };
}

const difference = (one: Float64Array, other: Float64Array) =>
  one.map((value, c) => value - (other[c] as number));

const lines: { name: 'sumErrors' | 'moves' | 'encodingErrors'; label: string; ink: Ink }[] = [
  { name: 'sumErrors', label: '‖Mₖ (x + PE(p)) − (x + PE(p + k))‖', ink: 'warning' },
  { name: 'moves', label: '‖PE(p + k) − PE(p)‖, the shift itself', ink: 'position-position' },
  { name: 'encodingErrors', label: 'largest |Mₖ PE(p) − PE(p + k)|, all p', ink: 'third' },
];

export const figure: Figure<typeof controls, Data> = {
  name: 'shift',
  title: 'Shifting positions, and why a token does not follow',
  controls,
  source: () => 'seeded',

  scene(data, { k, p }, width) {
    const { grid, circle, top, plot, height } = arrange(width);
    const marks: Mark[] = [
      {
        mark: 'text',
        x: 0,
        y: 13,
        text: 'Four frequencies w, radians/position',
        ink: 'ink',
        size: 13,
      },
    ];
    data.pairs.forEach((pair, place) => {
      const { row, x } = grid.at(place);
      const y = 20 + row * (circle + 24);
      marks.push(...turning(pair, { x, y: y + 20, width: grid.width, height: circle }), {
        mark: 'text',
        x,
        y: y + 13,
        text: `w = ${tickText(Number(pair.frequency.toPrecision(2)))}`,
      });
    });
    marks.push(
      ...dotKey(0, top, width, [
        { label: `x + PE(${p})`, ink: 'quiet' },
        { label: `x + PE(${p + k})`, ink: 'position-position' },
        { label: `Mₖ (x + PE(${p})), k = ${k}`, ink: 'warning' },
      ]),
    );
    const ks = data.moves.map((_, place) => place + 1);
    const drawn = plane(
      plot,
      { from: 0.5, to: shifts + 0.5, label: 'shift k', nice: false },
      { from: 0, to: Math.max(...data.sumErrors, ...data.moves), label: 'size', ticks: 5 },
    );
    return {
      width,
      height,
      marks: [
        ...marks,
        ...drawn.marks,
        ...lines.map(
          ({ name, ink }): Mark => ({
            mark: 'path',
            d: lineThrough(drawn, ks, data[name]),
            stroke: ink,
            wide: 2.25,
          }),
        ),
        vertical(drawn, drawn.x(k), { ink: 'quiet', dashed: true }),
        ...lineKey(0, plot.y + plot.height + 8, lines),
      ],
      regions: [{ ...drawn.inner, pick: 'across', rows: 1, columns: shifts }],
    };
  },

  describe({ encodingErrors, sumErrors, moves, tokenLength }, { k, p }) {
    const at = (values: number[]) => values[k - 1] as number;
    const alone = `Mₖ, k = ${k}, takes PE(p) to PE(p + ${k}) for each of ${tableRows} positions p ${howExactly(at(encodingErrors))}.`;
    if (tokenLength === 0) return `${alone} Without a token there is nothing else to move.`;
    return `${alone} A token x of length ${about(tokenLength)} at position ${p} does not follow: Mₖ (x + PE(p)) misses x + PE(p + ${k}) by ${about(at(sumErrors))}, while the shift itself moves the sum by ${about(at(moves))}.`;
  },

  cells: () => ({ rows: 1, columns: shifts }),
  firstCursor: (_, { k }) => ({ i: 0, j: k - 1 }),

  readout({ encodingErrors, sumErrors, moves }, { p }, { j }) {
    const at = (values: number[]) => values[j] ?? Number.NaN;
    return [
      'Shift ',
      { text: String(j + 1), strong: true },
      `: the encoding alone is missed by ${changeText(at(encodingErrors))}, the sum at position ${p} by ${changeText(at(sumErrors))}; the shift moves it by ${readable(at(moves))}.`,
    ];
  },

  table: (data) => ({
    columns: ['k', ...lines.map(({ label }) => label)],
    rows: data.moves.map((_, place) => [place + 1, ...lines.map(({ name }) => data[name][place] as number)]),
  }),
};

const ring = (x: number, y: number, radius: number): string =>
  `M${x - radius},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`;

/** One frequency: positions turn about the token, and Mₖ turns the sum about the origin. */
function turning({ token, before, after, turned }: Data['pairs'][0], area: Area): Mark[] {
  const [x, y] = [area.x + area.width / 2, area.y + area.height / 2];
  // The farthest that anything can be: the token, and a circle about it.
  const reach = Math.max(1.05, Math.hypot(...token) + 1.05);
  const unit = Math.min(area.width, area.height) / 2 / reach;
  const at = ([across, up]: Point): Point => [x + unit * across, y - unit * up];
  const [tokenX, tokenY] = at(token);
  const dot = (point: Point, ink: Ink, radius = 4): Mark => {
    const [px, py] = at(point);
    return { mark: 'dots', x: [px], y: [py], radius, ink };
  };
  const origin: Point = [0, 0];
  const spoke = (from: Point, to: Point, ink: Ink): Mark => {
    const [[x1, y1], [x2, y2]] = [at(from), at(to)];
    return { mark: 'line', x1, y1, x2, y2, ink, wide: 1.25 };
  };
  return [
    { mark: 'box', ...area, stroke: 'line' },
    { mark: 'line', x1: area.x, x2: area.x + area.width, y1: y, y2: y },
    { mark: 'line', x1: x, x2: x, y1: area.y, y2: area.y + area.height },
    { mark: 'path', d: ring(x, y, unit * Math.hypot(...before)), stroke: 'warning', wide: 1, dashed: true },
    { mark: 'path', d: ring(tokenX, tokenY, unit), stroke: 'position-position', wide: 1.25 },
    spoke(origin, token, 'quiet'),
    spoke(token, before, 'quiet'),
    spoke(token, after, 'position-position'),
    spoke(origin, turned, 'warning'),
    dot(before, 'quiet'),
    dot(after, 'position-position'),
    dot(turned, 'warning'),
  ];
}

function dotKey(x: number, y: number, width: number, entries: { label: string; ink: Ink }[]): Mark[] {
  const [down, across] = width < 560 ? [18, 0] : [0, 200];
  return entries.flatMap(({ label, ink }, place): Mark[] => [
    { mark: 'dots', x: [x + 6 + place * across], y: [y + place * down + 8], radius: 4, ink },
    { mark: 'text', x: x + 16 + place * across, y: y + place * down + 12, text: label, ink: 'ink' },
  ]);
}

function arrange(width: number) {
  const grid = multiples(width, 130, circles);
  const circle = Math.min(grid.width, 200);
  const top = Math.ceil(circles / grid.columns) * (circle + 24) + 24;
  const keyHeight = width < 560 ? 3 * 18 : 18;
  const plot: Area = { x: 0, y: top + keyHeight + 14, width, height: 240 };
  return { grid, circle, top, plot, height: plot.y + plot.height + 8 + lines.length * 18 };
}
