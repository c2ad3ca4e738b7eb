// Figure "A position encoding": an image of it, which channels move over the positions, and how many
// directions they fill.
import type { Ranks } from 'add-or-concatenate';
import { about, counted, listed, readable } from '../plot/format.js';
import { bars, colourKey, largestMagnitude, lineAt, plane, steps, textAt, tickText } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { bases, encodingLabels, encodingOf } from './encodings.js';
import type { Compute, Figure } from './figure.js';
import { rawRows, rawTable } from './trainedModel.js';
import * as wavelengths from './wavelengths.js';

const controls = {
  of: {
    kind: 'choice',
    label: 'What is shown',
    options: { image: 'Channels and directions', base: 'What the base buys' },
    initial: 'image',
    radio: true,
  },
  encoding: {
    kind: 'choice',
    label: 'Encoding',
    options: encodingLabels,
    initial: 'tensor2tensor',
  },
  positions: {
    kind: 'steps',
    more: true,
    label: 'Positions L',
    values: [16, 32, 64, 128, 256, 512],
    initial: 128,
  },
  d: { kind: 'steps', more: true, label: 'Width d', values: [16, 32, 64, 128, 256, 384, 512], initial: 512 },
  base: bases,
  threshold: {
    kind: 'steps',
    more: true,
    label: 'Threshold',
    values: [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 1.5],
    initial: 0.1,
  },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Channels {
  /** [positions, d_model], row by row. */
  values: Float64Array;
  positions: number;
  d_model: number;
  /** max − min of each channel. */
  ranges: Float64Array;
  ranks: Pick<Ranks, 'numerical' | 'stable' | 'energy' | 'participationRatio'>;
}

type Data = Channels | wavelengths.WavelengthsView;

const showsWavelengths = (data: Data): data is wavelengths.WavelengthsView => 'lengths' in data;

/**
 * The number of entries above which a full-rank table's singular values take so long that progress is shown.
 */
const large = 2 ** 17;

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const { encoding, positions, d, seed, base } = state;
  const superpose = await library.superpose();
  const { sinusoid, rows } = encodingOf(encoding);
  if (sinusoid && state.of === 'base') {
    const options = { positions, d_model: d, base };
    return { ...options, ...superpose.wavelengths({ ...options, ...sinusoid }) };
  }
  return library.memoize('encoding', [encoding, positions, d, base, seed], async () => {
    const table = await rows({ library, superpose, positions, d_model: d, base, seed });
    job.signal.throwIfAborted();
    if (!sinusoid && table.data.length > large) {
      job.progress(0.1);
      await new Promise((resolve) => setTimeout(resolve));
      job.signal.throwIfAborted();
    }
    const { numerical, stable, energy, participationRatio } = superpose.ranks({ table });
    return {
      values: table.data,
      positions: table.rows,
      d_model: table.columns,
      ranges: superpose.channelRanges(table),
      ranks: { numerical, stable, energy, participationRatio },
    };
  });
};

const moving = ({ ranges }: Channels, { threshold }: State): number =>
  ranges.filter((range) => range > threshold).length;

/** Whether all sines come before all cosines. */
const inHalves = ({ encoding }: State): boolean => encodingOf(encoding).sinusoid?.layout === 'concatenated';

const isTrained = ({ encoding }: State): boolean => encodingOf(encoding).source === 'trained';

/** Heights in pixels: the image with its title, its key, the plot of ranges, and the list of measures. */
const imageHeight = 220;
const keyHeight = 40;
const rangesHeight = 190;
const listTitleHeight = 18;
const listHeight = listTitleHeight + 5 * 22;

export const figure: Figure<typeof controls, Data> = {
  name: 'encoding',
  title: 'A position encoding',
  controls,
  source: ({ encoding }) => encodingOf(encoding).source,
  unused({ encoding, of }) {
    const { sinusoid, source } = encodingOf(encoding);
    const unused: (keyof State)[] = [];
    if (!sinusoid) unused.push('of', 'base');
    else if (of === 'base') unused.push('threshold');
    if (source === 'trained') unused.push('d');
    if (source !== 'seeded') unused.push('seed');
    return unused;
  },

  scene(data, state, width) {
    if (showsWavelengths(data)) return wavelengths.scene(data, width);
    const { values, positions, d_model, ranges, ranks } = data;
    const { threshold } = state;
    const highest = Math.max(threshold, ...ranges);
    const rangesTop = imageHeight + keyHeight;
    const drawn = plane(
      { x: 0, y: rangesTop, width, height: rangesHeight },
      { from: -0.5, to: d_model - 0.5, label: 'channel', nice: false },
      { from: 0, to: highest, label: 'max − min of the channel', ticks: 4 },
    );
    const { x, width: wide } = drawn.inner;
    const picture = { x, y: 22, width: wide, height: imageHeight - 22 };
    // MiniLM's first row is five times as long as the others, which would all be pale beside it.
    const limit = largestMagnitude([isTrained(state) ? values.subarray(d_model) : values]);
    const path = (includes: (range: number) => boolean) =>
      steps(
        drawn,
        Array.from(ranges, (range) => (includes(range) ? range : 0)),
        -0.5,
        d_model - 0.5,
      );
    const middle = x + wide / 2;
    const y = drawn.y(threshold);
    const listTop = rangesTop + rangesHeight + 12;
    const count = moving(data, state);
    const marks: Mark[] = [
      textAt(
        0,
        13,
        inHalves(state) ? 'Positions down, sines | cosines across' : 'Positions down, channels across',
        { ink: 'ink' },
      ),
      {
        mark: 'raster',
        ...picture,
        values,
        rows: positions,
        columns: d_model,
        low: -limit,
        high: limit,
        scale: 'diverging',
      },
      textAt(x - 6, picture.y + 10, '0', { anchor: 'end' }),
      textAt(x - 6, picture.y + picture.height, String(positions - 1), { anchor: 'end' }),
      ...(inHalves(state)
        ? [lineAt([middle, picture.y], [middle, picture.y + picture.height], { ink: 'ink', wide: 2 })]
        : []),
      ...colourKey(x, imageHeight + 6, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: 'value',
        print: (value) => tickText(Number(value.toPrecision(3))),
      }),
      ...drawn.marks,
      { mark: 'path', d: path((range) => range > threshold), fill: 'position-position', opacity: 0.8 },
      { mark: 'path', d: path((range) => range <= threshold), fill: 'quiet', opacity: 0.7 },
      { mark: 'line', x1: x, x2: x + wide, y1: y, y2: y, ink: 'quiet', wide: 2, dashed: true },
      textAt(0, listTop + 12, `How many of ${d_model}, by five measures`, { ink: 'ink' }),
      ...bars(
        {
          x: 0,
          y: listTop + listTitleHeight,
          width: Math.min(width, 640),
          height: listHeight - listTitleHeight,
        },
        [
          {
            label: `channels above ${threshold}`,
            value: count,
            text: String(count),
            ink: 'position-position',
          },
          ...measures(ranks).map(([label, value]) => ({
            label,
            value,
            text: Number.isInteger(value) ? String(value) : value.toFixed(1),
            ink: 'second' as const,
          })),
        ],
        0,
        d_model,
      ),
    ];
    return {
      width,
      height: listTop + listHeight + 4,
      marks,
      regions: [
        { ...picture, pick: 'cells', rows: positions, columns: d_model },
        { ...drawn.inner, pick: 'across', rows: 1, columns: d_model },
      ],
    };
  },

  describe(data, state) {
    if (showsWavelengths(data)) return wavelengths.describe(data);
    const { positions, d_model, ranks } = data;
    const [half, range] = [d_model / 2, (channel: number) => about(data.ranges[channel] as number)];
    // The ends of both halves are the fastest and slowest channels of each layout.
    const ends = [0, half - 1, half, d_model - 1];
    return `Over ${positions} positions, ${moving(data, state)} of ${d_model} channels ${moving(data, state) === 1 ? 'moves' : 'move'} by more than ${state.threshold}. How many count depends on that threshold. Channels ${listed(ends.map(String))} move by ${listed(ends.map(range))}.${quotedIn(data)} ${counted(ranks.energy, 'direction holds', 'directions hold')} 99\u202f% of the energy; the numerical rank is ${ranks.numerical}, the stable rank ${about(ranks.stable)}, the participation ratio ${about(ranks.participationRatio)}.${isTrained(state) ? rawRows : ''}`;
  },

  cells: (data) =>
    showsWavelengths(data)
      ? { rows: 1, columns: data.lengths.length }
      : { rows: data.positions, columns: data.d_model },
  firstCursor: (data) =>
    showsWavelengths(data)
      ? { i: 0, j: data.lengths.length - 1 }
      : { i: data.positions - 1, j: Math.max(0, data.d_model - 16) },

  readout(data, { threshold }, { i, j }) {
    if (showsWavelengths(data)) return wavelengths.readout(data, j);
    const { values, d_model, ranges } = data;
    const range = ranges[j] ?? Number.NaN;
    return [
      `Position ${i}, channel ${j}: `,
      { text: readable(values[i * d_model + j] ?? Number.NaN), strong: true },
      `. Over the positions this channel moves by ${readable(range)}, ${range > threshold ? 'more' : 'not more'} than ${threshold}.`,
    ];
  },

  remark: (_, state) =>
    isTrained(state) ? 'Colours are scaled to positions from 1 on; position 0 goes far beyond.' : '',

  table(data, state) {
    if (showsWavelengths(data)) return wavelengths.table(data);
    const { values, positions, d_model, ranges } = data;
    const rows: number[][] = [];
    for (let p = 0; p < positions; p++) {
      for (let c = 0; c < d_model; c++) {
        rows.push([p, c, values[p * d_model + c] as number, ranges[c] as number]);
      }
    }
    const columns = ['position', 'channel', 'value', 'max − min of the channel'];
    return rawTable(isTrained(state), { columns, rows });
  },
};

/**
 * A public discussion of the sum argues from the values of one channel at these positions, in a table that
 * it calls 512 wide.
 */
const quotedCells = { fromLast: 16, positions: [63, 127] } as const;

function quotedIn({ values, positions, d_model }: Channels): string {
  const channel = d_model - quotedCells.fromLast;
  if (quotedCells.positions.some((position) => position >= positions)) return '';
  const [first, second] = quotedCells.positions.map((position) =>
    (values[position * d_model + channel] as number).toFixed(7).replace('-', '−'),
  );
  return ` Channel ${channel}, the ${quotedCells.fromLast}th from the end, has ${first} at position ${quotedCells.positions[0]} and ${second} at ${quotedCells.positions[1]}.`;
}

const measures = ({
  energy,
  numerical,
  participationRatio,
  stable,
}: Channels['ranks']): [string, number][] => [
  ['directions, 99 % energy', energy],
  ['numerical rank', numerical],
  ['participation ratio', participationRatio],
  ['stable rank', stable],
];
