// Figure "Dot products of positions": when dot products and shifts depend on the distance alone, and when
// they do not.

import type { Superpose, Table } from 'add-or-concatenate';
import { extent } from 'd3-array';
import { about, changeText, howExactly, readable } from '../plot/format.js';
import {
  colourKey,
  curve,
  edgeRoom,
  edges,
  largestMagnitude,
  map,
  multiples,
  namedLines,
  plane,
  tickText,
  titleHeight,
  vertical,
} from '../plot/parts.js';
import type { Ink, Mark, Region, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { bases, sinusoidLabels, sinusoidOf } from './encodings.js';
import type { Compute, Figure, Library } from './figure.js';

/** The shifts k that are shown, from 1. */
const shifts = 64;
/** The number of positions over which the largest error of M_k is taken. */
const errorPositions = 64;
/** Spreads below this are rounding: exact ones stay below 1e-12, and those of other forms are above 1. */
const spreadRounding = 1e-9;

const controls = {
  of: {
    kind: 'choice',
    label: 'What depends on the distance',
    options: { products: 'Dot products', shift: 'A shift' },
    initial: 'products',
    radio: true,
  },
  encoding: { kind: 'choice', label: 'Encoding', options: sinusoidLabels, initial: 'interleaved' },
  positions: { kind: 'steps', label: 'Positions L', values: [8, 16, 32, 64, 96], initial: 64 },
  base: { ...bases, more: true },
  k: { kind: 'range', label: 'Shift k', min: 1, max: shifts, step: 1, initial: 5 },
  scale: { kind: 'range', label: 'Token scale', min: 0, max: 2, step: 0.05, initial: 1 },
  d: { kind: 'steps', more: true, label: 'Width d', values: [8, 16, 32, 64, 128, 256], initial: 32 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const forms = ['original', 'centred', 'sines', 'randomForm', 'rotationForm'] as const;
/** Their names above a map and in a readout, in the same order. */
const formNames = [
  { title: 'As it is', phrase: 'as it is' },
  { title: 'Rows centred', phrase: 'centred' },
  { title: 'Sines only', phrase: 'sines only' },
  { title: 'Random matrix', phrase: 'random matrix' },
  { title: 'Pairs turned', phrase: 'pairs turned' },
];

/** The dot products of all pairs of positions, in each form. */
interface Products {
  n: number;
  /** A matrix [n, n] for each form. */
  matrices: Float64Array[];
  /** The largest max − min along a diagonal, for each form. */
  spreads: number[];
}

/** How well M_k moves a position by k, alone and with a token. */
interface Shifts {
  /** The largest |PE(p + k) − M_k PE(p)| over positions and channels, for each k from 1. */
  encodingErrors: number[];
  /** ‖Mₖ (x + PE(p)) − (x + PE(p + k))‖ for p = 0, for each k. */
  sumErrors: number[];
  /** ‖PE(p + k) − PE(p)‖ for p = 0, for each k. */
  moves: number[];
  tokenLength: number;
}

type Data = Products | Shifts;

const isShift = (data: Data): data is Shifts => 'moves' in data;

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  if (state.of === 'shift') return shifted(library, superpose, state);
  const { base, positions, d, seed, encoding } = state;
  const options = { positions, d_model: d, ...sinusoidOf(encoding), base, seed };
  const grams = superpose.formGrams(options);
  return {
    n: state.positions,
    matrices: forms.map((form) => grams[form].data),
    spreads: forms.map((form) => superpose.toeplitzSpread(grams[form])),
  };
};

function shifted({ memoize }: Library, superpose: Superpose, { d, scale, seed, base }: State): Shifts {
  const ks = Array.from({ length: shifts }, (_, place) => place + 1);
  const encodingErrors = memoize('gram: errors', [d, base], () =>
    ks.map((offset) => superpose.shiftError({ positions: errorPositions, d_model: d, base, offset })),
  );
  const token = superpose.randomNormal({ rows: 1, columns: d, seed }).data.map((value) => scale * value);
  // None of these sizes depends on the position that the shift begins at, which is 0 here: row k is position
  // k.
  const { data } = superpose.sinusoidal({ positions: shifts + 1, d_model: d, base });
  const row = (place: number) => data.subarray(place * d, (place + 1) * d);
  const sum = (place: number) => row(place).map((value, c) => value + (token[c] as number));
  // M_k rotates each pair of channels by −kw, and rotary positions by +kw, so row r is at position r −
  // shifts.
  const rows = tableOf(ks.map(() => sum(0)));
  const rotated = superpose.rotate({ rows, base, firstPosition: -shifts }).data;
  const rotatedBy = (offset: number) => rotated.subarray((shifts - offset) * d, (shifts - offset + 1) * d);
  const lengths = (rows: Float64Array[]) => [...superpose.rowLengths(tableOf(rows))];
  return {
    encodingErrors,
    sumErrors: lengths(ks.map((offset) => superpose.difference(rotatedBy(offset), sum(offset)))),
    moves: lengths(ks.map((offset) => superpose.difference(row(offset), row(0)))),
    tokenLength: lengths([token])[0] as number,
  };
}

function tableOf(rows: Float64Array[]): Table<Float64Array> {
  const columns = rows[0]?.length ?? 1;
  const data = new Float64Array(rows.length * columns);
  for (const [place, row] of rows.entries()) data.set(row, place * columns);
  return { data, rows: rows.length, columns };
}

const lines: { name: 'sumErrors' | 'moves' | 'encodingErrors'; label: string; ink: Ink }[] = [
  { name: 'sumErrors', label: 'Mₖ (x + PE(p)) misses by', ink: 'second' },
  { name: 'moves', label: 'the shift itself', ink: 'position-position' },
  { name: 'encodingErrors', label: 'Mₖ PE(p) misses by', ink: 'third' },
];

const spreadText = (spread: number) => (spread < spreadRounding ? '0 (rounding)' : about(spread));

export const figure: Figure<typeof controls, Data> = {
  name: 'gram',
  title: 'Dot products of positions',
  controls,
  source: () => 'seeded',
  unused: ({ of }) => (of === 'shift' ? ['encoding', 'positions'] : ['k', 'scale']),

  scene: (data, state, width, began) =>
    isShift(data) ? shiftScene(data, state, width) : productScene(data, width, began?.data ?? data),

  describe(data, { d, k }) {
    if (isShift(data)) {
      const { encodingErrors, sumErrors, moves, tokenLength } = data;
      const at = (values: number[]) => values[k - 1] as number;
      const head = `One matrix moves every position by ${k}${tokenLength === 0 ? '' : ', but no token with one'}.`;
      const alone = `${head} Mₖ, k = ${k}, takes PE(p) to PE(p + ${k}) for each of ${errorPositions} positions p ${howExactly(at(encodingErrors))}.`;
      if (tokenLength === 0) return `${alone} Without a token there is nothing else to move.`;
      return `${alone} A token x of length ${about(tokenLength)} does not follow: Mₖ (x + PE(p)) misses x + PE(p + ${k}) by ${about(at(sumErrors))}, while the shift itself moves the sum by ${about(at(moves))}.`;
    }
    const { n, spreads } = data;
    const [unchanged, centred, sines, random, rotation] = spreads.map(spreadText);
    return `Dot products depend on the distance alone; little breaks that. Along a diagonal of the ${n} × ${n} dot products, the values of this ${d}-wide encoding spread by ${unchanged}. Centring each row, as LayerNorm does, makes that ${centred}. Leaving out the cosines makes it ${sines}, and a random matrix A between the two makes it ${random}. A matrix that turns and scales each frequency’s pair, aI + bJ, keeps it at ${rotation}.`;
  },

  cells: (data) => (isShift(data) ? { rows: 1, columns: shifts } : { rows: data.n, columns: data.n }),
  firstCursor: (data, { k }) => (isShift(data) ? { i: 0, j: k - 1 } : { i: data.n - 1, j: data.n - 4 }),

  readout(data, _, { i, j }) {
    if (isShift(data)) {
      const at = (values: number[]) => values[j] ?? Number.NaN;
      return [
        'Shift ',
        { text: String(j + 1), strong: true },
        `: the encoding alone is missed by ${changeText(at(data.encodingErrors))}, the sum by ${changeText(at(data.sumErrors))}; the shift moves it by ${readable(at(data.moves))}.`,
      ];
    }
    const at = (place: number) => readable(data.matrices[place]?.[i * data.n + j] ?? Number.NaN);
    const list = formNames.map(({ phrase }, place) => `${phrase} ${at(place)}`);
    return [
      'Positions ',
      { text: `${i} and ${j}`, strong: true },
      `, distance ${String(j - i).replace('-', '−')}: ${list.join(', ')}.`,
    ];
  },

  table(data) {
    if (isShift(data)) {
      return {
        columns: ['k', ...lines.map(({ label }) => label)],
        rows: data.moves.map((_, place) => [
          place + 1,
          ...lines.map(({ name }) => data[name][place] as number),
        ]),
      };
    }
    const { n, matrices } = data;
    return {
      columns: ['p', 'q', 'q − p', ...formNames.map(({ title }) => title)],
      rows: Array.from({ length: n * n }, (_, cell) => {
        const [p, q] = [Math.floor(cell / n), cell % n];
        return [p, q, q - p, ...matrices.map((values) => values[cell] as number)];
      }),
    };
  },
};

/** The dot products, on axes that fit the data `axes`: those from before a drag, if there is one. */
function productScene({ n, matrices, spreads }: Products, width: number, axes: Data): Scene {
  const ends = (isShift(axes) ? matrices : axes.matrices).map((values) => extent(values) as [number, number]);
  // The names of a map's edges are left of it and below it.
  const grid = multiples(width - edgeRoom.left, 100, 5, 14 + edgeRoom.left);
  const top = titleHeight(true);
  const cloud = 150;
  const cell = top + grid.width + edgeRoom.below + 10 + cloud + 14;
  const limit = largestMagnitude(ends);
  const marks: Mark[] = [];
  const regions: Region[] = [];
  formNames.forEach(({ title }, place) => {
    const values = matrices[place] as Float64Array;
    const { row, x: left } = grid.at(place);
    const x = left + edgeRoom.left;
    const y = row * cell;
    const drawn = map(
      { x, y, width: grid.width, height: top + grid.width },
      {
        values,
        rows: n,
        columns: n,
        low: -limit,
        high: limit,
        scale: 'diverging',
        title,
        subtitle: `${grid.width < 118 ? '' : 'spread '}${spreadText(spreads[place] as number)}`,
      },
    );
    const [from, to] = ends[place] as [number, number];
    const below = plane(
      {
        x: left,
        y: y + top + grid.width + edgeRoom.below + 10,
        width: grid.width + edgeRoom.left,
        height: cloud,
      },
      { from: 1 - n, to: n - 1, label: 'q − p', nice: false, ticks: 3 },
      { from, to, label: 'dot product', ticks: 4 },
    );
    // The axis is linear, and calling it 9,216 times would take longer than the rest of the picture.
    const [zero, unit] = [below.y(0), below.y(1) - below.y(0)];
    const places = { x: new Float64Array(n * n), y: new Float64Array(n * n) };
    for (let cell = 0; cell < n * n; cell++) places.y[cell] = zero + unit * (values[cell] as number);
    const across = Float64Array.from({ length: 2 * n - 1 }, (_, offset) => below.x(offset - n + 1));
    for (let p = 0; p < n; p++) places.x.set(across.subarray(n - 1 - p, 2 * n - 1 - p), p * n);
    marks.push(...drawn.marks, ...edges(drawn.region, 'position p', 'position q'), ...below.marks, {
      mark: 'dots',
      ...places,
      radius: 0.9,
      ink: 'accent',
      opacity: 0.6,
    });
    regions.push(drawn.region);
  });
  const y = Math.ceil(formNames.length / grid.columns) * cell + 4;
  marks.push(
    ...colourKey(0, y, {
      low: -limit,
      high: limit,
      scale: 'diverging',
      label:
        width < 340
          ? 'PE(p)·A PE(q)'
          : width < 560
            ? 'PE(p)·A PE(q), also by q − p'
            : 'PE(p)·A PE(q): p down, q across; below, every entry by its distance q − p',
      print: (value) => tickText(Number(value.toPrecision(3))),
    }),
  );
  return { width, height: y + 30, marks, regions };
}

function shiftScene(data: Shifts, { k, d }: State, width: number): Scene {
  const ks = data.moves.map((_, place) => place + 1);
  const named = namedLines({ x: 0, y: 0, width, height: 260 }, lines);
  // A rotation moves a vector by at most twice its length, so these axes hold for every k and base.
  const drawn = plane(
    named.area,
    { from: 0.5, to: shifts + 0.5, label: 'shift k', nice: false },
    { from: 0, to: Math.max(2 * data.tokenLength, Math.sqrt(2 * d)), label: 'size', ticks: 5 },
  );
  return {
    width,
    height: named.area.height + named.below,
    marks: [
      ...drawn.marks,
      ...lines.map(({ name, ink }): Mark => curve(drawn, ks, data[name], { stroke: ink, wide: 2.25 })),
      vertical(drawn, drawn.x(k), { ink: 'quiet', dashed: true }),
      ...named.names(
        drawn,
        lines.map(({ name }) => drawn.y(data[name].at(-1) ?? Number.NaN)),
      ),
    ],
    regions: [{ ...drawn.inner, pick: 'across', rows: 1, columns: shifts }],
  };
}
