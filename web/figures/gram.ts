// Figure "Dot products of positions": when they depend on the distance alone, and what breaks it.
import { extent } from 'd3-array';
import { about, readable } from '../plot/format.js';
import { colourKey, largestMagnitude, map, multiples, plane, tickText, titleHeight } from '../plot/parts.js';
import type { Mark, Region } from '../plot/scene.js';
import type { Controls } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { sinusoidNames, sinusoids } from './sinusoids.js';

const controls = {
  encoding: { kind: 'choice', label: 'Sinusoidal encoding', options: sinusoidNames, initial: 'interleaved' },
  positions: { kind: 'steps', label: 'Positions L', values: [8, 16, 32, 64, 96], initial: 64 },
  d: { kind: 'steps', label: 'Width d', values: [8, 16, 32, 64, 128], initial: 32 },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

const forms = [
  { name: 'whole', title: 'As it is', said: 'as it is' },
  { name: 'centred', title: 'Rows centred', said: 'centred' },
  { name: 'sines', title: 'Sines only', said: 'sines only' },
  { name: 'randomForm', title: 'Random matrix', said: 'random matrix' },
  { name: 'rotationForm', title: 'Pairs turned', said: 'pairs turned' },
] as const;

interface Data {
  n: number;
  /** By form, [n, n]. */
  matrices: Float64Array[];
  /** By form: the largest max − min along a diagonal. */
  spreads: number[];
}

export const compute: Compute<typeof controls, Data> = async (library, { encoding, positions, d, seed }) => {
  const superpose = await library.superpose();
  const { matrices, ...spreads } = superpose.gramSpreads({
    positions,
    d_model: d,
    ...sinusoids[encoding],
    seed,
  });
  return {
    n: positions,
    matrices: forms.map(({ name }) => matrices[name]),
    spreads: forms.map(({ name }) => spreads[name]),
  };
};

const spreadText = (spread: number) => (spread < 1e-9 ? '0 (rounding)' : about(spread));

export const figure: Figure<typeof controls, Data> = {
  name: 'gram',
  title: 'Dot products of positions, and what breaks their pattern',
  controls,
  source: () => 'seeded',

  scene({ n, matrices, spreads }, _, width) {
    const grid = multiples(width, 118, 5);
    const top = titleHeight(true);
    const cloud = 150;
    const cell = top + grid.width + 10 + cloud + 14;
    const limit = largestMagnitude(matrices);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    forms.forEach(({ title }, place) => {
      const values = matrices[place] as Float64Array;
      const { row, x } = grid.at(place);
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
          subtitle: `spread ${spreadText(spreads[place] as number)}`,
        },
      );
      const [from = 0, to = 0] = extent(values);
      const below = plane(
        { x, y: y + top + grid.width + 10, width: grid.width, height: cloud },
        { from: 1 - n, to: n - 1, label: 'q − p', nice: false, ticks: 3 },
        { from, to, label: '', ticks: 4 },
      );
      // The axis is linear. Calling it 9,216 times would take longer than the rest of the picture.
      const [zero, unit] = [below.y(0), below.y(1) - below.y(0)];
      const places = { x: new Float64Array(n * n), y: new Float64Array(n * n) };
      for (let cell = 0; cell < n * n; cell++) places.y[cell] = zero + unit * (values[cell] as number);
      const across = Float64Array.from({ length: 2 * n - 1 }, (_, offset) => below.x(offset - n + 1));
      for (let p = 0; p < n; p++) places.x.set(across.subarray(n - 1 - p, 2 * n - 1 - p), p * n);
      marks.push(
        ...drawn.marks,
        ...below.marks.filter((mark) => !(mark.mark === 'text' && mark.text === '↑ ')),
        { mark: 'dots', ...places, radius: 0.9, ink: 'accent', opacity: 0.6 },
      );
      regions.push(drawn.region);
    });
    const y = Math.ceil(forms.length / grid.columns) * cell + 4;
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
  },

  describe({ n, spreads }, { d }) {
    const [whole, centred, sines, random, rotation] = spreads.map(spreadText) as [
      string,
      string,
      string,
      string,
      string,
    ];
    return `Along a diagonal of the ${n} × ${n} dot products, the values of this ${d}-wide encoding spread by ${whole}: they depend on the distance alone. Centring each row, as LayerNorm does, makes that ${centred}; leaving out the cosines, ${sines}; a random matrix A between the two, ${random}. One that turns and scales each frequency’s pair, aI + bJ, keeps it at ${rotation}.`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: n - 1, j: n - 4 }),

  readout({ n, matrices }, _, { i, j }) {
    const at = (place: number) => readable(matrices[place]?.[i * n + j] ?? Number.NaN);
    const list = forms.map(({ said }, place) => `${said} ${at(place)}`);
    return [
      'Positions ',
      { text: `${i} and ${j}`, strong: true },
      `, distance ${String(j - i).replace('-', '−')}: ${list.join(', ')}.`,
    ];
  },

  table({ n, matrices }) {
    const rows: number[][] = [];
    for (let p = 0; p < n; p++) {
      for (let q = 0; q < n; q++) {
        rows.push([p, q, q - p, ...matrices.map((values) => values[p * n + q] as number)]);
      }
    }
    return { columns: ['p', 'q', 'q − p', ...forms.map(({ title }) => title)], rows };
  },
};
