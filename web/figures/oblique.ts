// Figure "Taking the two apart again": two subspaces, the angle between them, and how much noise grows in
// the projector that recovers one of the two summands.
import type { Superpose, Table } from 'add-or-concatenate';
import { about, counted, howExactly, readable } from '../plot/format.js';
import { type Area, boxAt, curve, dotsAt, horizontal, type Plane, plane, textAt } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { degrees, fixed, noGrowth, type Reading, shadow, slant, track } from './obliqueAngle.js';

const controls = {
  subspaces: {
    kind: 'choice',
    label: 'Tokens and positions',
    options: { random: 'Random subspaces', channels: 'Channels of their own' },
    initial: 'random',
    radio: true,
  },
  d: { kind: 'steps', more: true, label: 'Width d', values: [8, 16, 32, 64], initial: 32 },
  k1: { kind: 'range', more: true, label: 'Token dims', min: 1, max: 64, step: 1, initial: 12 },
  k2: { kind: 'range', label: 'Position dims', min: 1, max: 64, step: 1, initial: 12 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

export interface Data {
  /** For some sizes of the positions' subspace, including the one that is set, ascending. */
  sweep: Reading[];
  /** For the size that is set. */
  now: Reading;
  /** The largest |t̂ − t| over the vectors that span the two, without noise; NaN without a projector. */
  exactError: number;
}

const streams = { token: 0, position: 1, noise: 2 };

type Doubles = Table<Float64Array>;

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { d, k1, k2, seed } = state;
  const { u, w } = bases(superpose, state);
  const noise = superpose.randomNormal({ rows: d, columns: d, seed, stream: streams.noise });
  // Memoized for each width, so that going back to one computes a single point.
  const readings = library.memoize(`oblique ${d}`, [state.subspaces, k1, seed], () => {
    const sizes = Array.from({ length: d }, (_, place) => place + 1).filter(
      (size) => size % Math.ceil(d / 12) === 0,
    );
    // The gain climbs steeply at the last sizes for which both subspaces fit.
    const swept = [...new Set([1, ...sizes, d - k1 - 1, d - k1].filter((size) => size > 0))];
    return swept
      .sort((a, b) => a - b)
      .map((size) => readingOf(superpose, u, firstColumns(w, size), noise).reading);
  });
  const { reading, recoveryError } = readingOf(superpose, u, firstColumns(w, k2), noise);
  const sweep = [...readings.filter((other) => other.k2 !== k2), reading].sort((a, b) => a.k2 - b.k2);
  return { sweep, now: reading, exactError: recoveryError };
};

/** Columns that span U, and columns of which the first k2 span W. */
function bases(superpose: Superpose, { subspaces, d, k1, seed }: State): { u: Doubles; w: Doubles } {
  if (subspaces === 'random') {
    return {
      u: superpose.randomNormal({ rows: d, columns: k1, seed, stream: streams.token }),
      w: superpose.randomNormal({ rows: d, columns: d, seed, stream: streams.position }),
    };
  }
  // Tokens have channels 0, 1, …, and positions have channels from the last one backwards.
  const channel = (columns: number, of: (column: number) => number): Doubles => {
    const data = new Float64Array(d * columns);
    for (let column = 0; column < columns; column++) data[of(column) * columns + column] = 1;
    return { data, rows: d, columns };
  };
  return { u: channel(k1, (column) => column), w: channel(d, (column) => d - 1 - column) };
}

function firstColumns({ data, rows, columns }: Doubles, count: number): Doubles {
  const first = new Float64Array(rows * count);
  for (let row = 0; row < rows; row++) {
    first.set(data.subarray(row * columns, row * columns + count), row * count);
  }
  return { data: first, rows, columns: count };
}

function readingOf(superpose: Superpose, u: Doubles, w: Doubles, noise: Doubles) {
  const projection = superpose.obliqueProjection({ u, w, noise });
  const { largest, median } = superpose.summary(projection.noiseGains);
  const angle = projection.exact ? projection.smallestAngle : Number.NaN;
  const reading = { k2: w.columns, angle, gain: projection.gain, largest, median };
  return { reading, recoveryError: projection.recoveryError };
}

/** The ends of the axis of gains. Values beyond are drawn at its ends. */
const axis = { low: 0.1, high: 1000 };
const clipped = (value: number) =>
  Number.isNaN(value) ? value : Math.max(axis.low, Math.min(axis.high, value));

const times = (gain: number) => (Number.isFinite(gain) ? `${readable(gain)}-fold` : 'without bound');

export const figure: Figure<typeof controls, Data> = {
  name: 'oblique',
  title: 'Taking the two apart again, and what it does to noise',
  controls,
  source: () => 'seeded',
  settle: (state) => ({ ...state, k1: Math.min(state.k1, state.d), k2: Math.min(state.k2, state.d) }),

  scene({ sweep, now }, state, width) {
    const { plot, drawing, height } = arrange(width);
    const drawn = plane(
      plot,
      { from: 0, to: state.d, label: 'dimensions of positions', nice: false },
      {
        from: axis.low,
        to: axis.high,
        logarithmic: true,
        label: 'error of what is read back ÷ noise',
        nice: false,
      },
    );
    const { x, y, inner, marks } = drawn;
    const most = state.d - state.k1;
    const beyond = x(most + 0.5);
    const sizes = sweep.map(({ k2 }) => k2);
    const dots = sweep.filter(({ largest }) => Number.isFinite(largest));
    const of = (value: (reading: Reading) => number) => Float64Array.from(dots, value);
    const all: Mark[] = [
      boxAt(
        [
          Math.min(beyond, inner.x + inner.width),
          inner.y,
          Math.max(0, inner.x + inner.width - beyond),
          inner.height,
        ],
        { fill: 'quiet', opacity: 0.1 },
      ),
      ...marks,
      horizontal({ inner }, y(1), { ink: 'concatenated', dashed: true, wide: 1.5 }),
      curve(
        { x, y },
        sizes,
        sweep.map(({ gain }) => clipped(Number.isFinite(gain) ? gain : Number.NaN)),
        { stroke: 'accent', wide: 2.5 },
      ),
      dotsAt(
        of(({ k2 }) => x(k2)),
        of(({ largest }) => y(clipped(largest))),
        3,
        'second',
      ),
      {
        mark: 'path',
        d: dots.map(({ k2, median }) => `M${fixed(x(k2) - 4)},${fixed(y(clipped(median)))}h8`).join(''),
        stroke: 'second',
        wide: 2,
      },
      ...endLabels(drawn, sweep, state.d),
      textAt(inner.x + inner.width - 6, y(1) + 16, 'concatenated: 1', { anchor: 'end', ink: 'concatenated' }),
    ];
    if (Number.isFinite(now.gain)) {
      const at = y(clipped(now.gain));
      all.push({
        mark: 'path',
        d: `M${(x(state.k2) - 6).toFixed(1)},${at.toFixed(1)}a6,6 0 1,0 12,0a6,6 0 1,0 -12,0`,
        stroke: 'accent',
        wide: 2.5,
      });
    }
    if (inner.x + inner.width - beyond > 92) {
      // Below the knob, which stands at the upper edge there.
      all.push(textAt(beyond + 8, inner.y + 36, 'cannot be told'));
      all.push(textAt(beyond + 8, inner.y + 52, 'apart'));
    }
    const xs = Float64Array.from(sweep, ({ k2 }) => x(k2));
    const ys = Float64Array.from(sweep, ({ gain }) => y(clipped(Number.isFinite(gain) ? gain : axis.high)));
    const cursors = sweep.map((_, j) => ({ i: 0, j }));
    const slanted = slant(drawing, sweep, now);
    return {
      width,
      height,
      marks: [
        ...all,
        ...(slanted.length > 0 ? track(drawing, sweep) : []),
        ...shadow(drawing, now, slanted.length > 0),
      ],
      regions: [{ ...inner, pick: { points: { x: xs, y: ys, cursors } }, rows: 1, columns: sweep.length }],
      handles: [
        {
          x: x(state.k2),
          y: y(clipped(Number.isFinite(now.gain) ? now.gain : axis.high)),
          setting: 'k2',
          at: (to) => ((to - inner.x) / inner.width) * state.d,
        },
        ...slanted,
      ],
    };
  },

  describe({ now, exactError }, { subspaces, d, k1, k2 }) {
    const sizes = `With ${counted(k1, 'dimension')} for tokens and ${k2} for positions, of ${d}`;
    if (!Number.isFinite(now.gain)) {
      return `They share a direction, so no matrix takes every sum apart. ${sizes}, the two have a direction in common${k1 + k2 > d ? `, as they must when ${k1} + ${k2} is more than ${d}` : ''}: what lies along it could be either, and no matrix can recover the token. Sums of the rows of two tables may still all differ.`;
    }
    const how =
      subspaces === 'channels'
        ? 'in channels of their own, which is concatenation'
        : `the smallest angle between the two is ${degrees(now.angle)}`;
    const head =
      now.gain < noGrowth
        ? 'Noise never grows, and both come back.'
        : `Noise can grow ${times(now.gain)}, but both come back.`;
    return `${head} ${sizes}, ${how}: without noise the token part comes back ${howExactly(exactError)}; ${d} random noises of length 1 came out at most ${about(now.largest)} long, half of them under ${about(now.median)}.`;
  },

  cells: ({ sweep }) => ({ rows: 1, columns: sweep.length }),
  follows: ['d', 'k1', 'k2'],
  firstCursor: ({ sweep, now }) => ({
    i: 0,
    j: Math.max(
      0,
      sweep.findIndex(({ k2 }) => k2 >= now.k2),
    ),
  }),

  readout({ sweep }, { d, k1 }, { j }) {
    const { k2, angle, gain, largest, median } = sweep[j] as Reading;
    if (!Number.isFinite(gain)) {
      return [
        { text: `${k1} and ${k2} dimensions`, strong: true },
        ' have a direction in common: not readable.',
      ];
    }
    return [
      { text: `${k1} and ${k2} dimensions`, strong: true },
      `: smallest angle ${degrees(angle)}; error ÷ noise `,
      { text: `at most ${readable(gain)}`, ink: 'accent' },
      ', ',
      { text: `largest of ${d} noises ${readable(largest)}`, ink: 'second' },
      `, median ${readable(median)}`,
    ];
  },

  table: ({ sweep }, { k1 }) => ({
    columns: [
      'dimensions of tokens',
      'dimensions of positions',
      'smallest angle, degrees',
      'gain, 1 / sin θ',
      'largest error / noise',
      'median error / noise',
    ],
    rows: sweep.map(({ k2, angle, gain, largest, median }) => [
      k1,
      k2,
      Number.isNaN(angle) ? 0 : (angle * 180) / Math.PI,
      Number.isFinite(gain) ? gain : 'not readable',
      Number.isFinite(largest) ? largest : '',
      Number.isFinite(median) ? median : '',
    ]),
  }),
};

/** The names of the curve and the dots at their ends, from the lowest up, each above the one before. */
function endLabels({ x, y, inner }: Plane, sweep: readonly Reading[], d: number): Mark[] {
  const end = sweep.findLast(({ gain }) => Number.isFinite(gain));
  if (!end) return [];
  const labels: [text: string, value: number, ink: Ink][] = [
    ['– median', end.median, 'second'],
    [`• largest of ${d} noises`, end.largest, 'second'],
    ['at most 1 / sin θ', end.gain, 'accent'],
  ];
  // Off the numbers of the axis.
  const at = Math.max(x(end.k2) - 15, inner.x + 128);
  // Where all are nearly equal, the names are above their line, off its dots.
  const [low, high] = [y(clipped(end.median)), y(clipped(end.gain))];
  let below = low - high < 14 * labels.length ? high : Infinity;
  return labels.map(([text, value, ink]): Mark => {
    below = Math.min(y(clipped(value)) + 4, below - 14);
    return textAt(at, below, text, { anchor: 'end', ink });
  });
}

function arrange(width: number): {
  plot: Area;
  drawing: Area;
  height: number;
} {
  if (width >= 640) {
    const wide = Math.min(560, 0.46 * width);
    return {
      plot: { x: 0, y: 0, width: wide, height: 340 },
      drawing: { x: wide + 40, y: 0, width: width - wide - 40, height: 340 },
      height: 344,
    };
  }
  // On a phone both are in sight above the steps of a scene.
  const drawing = 200;
  return {
    drawing: { x: 0, y: 0, width, height: drawing },
    plot: { x: 0, y: drawing + 16, width, height: 230 },
    height: drawing + 250,
  };
}
