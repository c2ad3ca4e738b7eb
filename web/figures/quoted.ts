// Figure "Which width do the quoted numbers have?": two channels of a sinusoidal encoding, by its width.
import type { First } from 'superpose';
import { type Area, horizontal, lineKey, lineThrough, type Plane, plane, vertical } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';

const controls = {
  channel: {
    kind: 'choice',
    label: 'Channel, counted from the last',
    options: { '-16': '−16', '-1': '−1' },
    initial: '-16',
    radio: true,
  },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const positions = [63, 127] as const;
/** As the discussion prints them, for the positions above. */
const quotes: Record<State['channel'], readonly [string, string]> = {
  '-16': ['0.9984067', '0.9935305'],
  '-1': ['0.99998015', '0.99991935'],
};

const spacings = [
  { name: 'timescales', label: 'tensor2tensor’s spacing', dashed: false },
  { name: 'd_model', label: 'the 2017 paper’s spacing', dashed: true },
] as const;

interface Data {
  widths: number[];
  /** By spacing, then by position: the value at each width, in float32 as it was printed. */
  values: Float64Array[][];
  /** The widths at which tensor2tensor's values at both positions have all the quoted digits. */
  matching: number[];
}

const claimed = 512;
const [narrowest, widestWidth] = [64, 768];
const widths = () => Array.from({ length: (widestWidth - narrowest) / 2 + 1 }, (_, k) => narrowest + 2 * k);

type Values = Record<State['channel'], Float64Array[][]>;

// The channel is the only setting, so both are computed at once.
let known: Values | undefined;

function valuesOf(superpose: First): Values {
  const all = widths();
  const empty = () => spacings.map(() => positions.map(() => new Float64Array(all.length)));
  const values: Values = { '-16': empty(), '-1': empty() };
  for (const [spacing, { name }] of spacings.entries()) {
    for (const [place, position] of positions.entries()) {
      for (const [at, d_model] of all.entries()) {
        const { data } = superpose.sinusoidal({
          positions: 1,
          firstPosition: position,
          d_model,
          layout: 'concatenated',
          spacing: name,
          precision: 'float32',
        });
        for (const channel of ['-16', '-1'] as const) {
          const found = values[channel][spacing]?.[place] as Float64Array;
          found[at] = data.at(Number(channel)) as number;
        }
      }
    }
  }
  return values;
}

export const compute: Compute<typeof controls, Data> = async (library, { channel }) => {
  known ??= valuesOf(await library.first());
  const all = widths();
  const values = known[channel];
  const agrees = (place: number, quote: string, at: number) =>
    values[0]?.[place]?.[at]?.toFixed(quote.length - 2) === quote;
  return {
    widths: all,
    values,
    matching: all.filter((_, at) => quotes[channel].every((quote, place) => agrees(place, quote, at))),
  };
};

const inks: Ink[] = ['accent', 'second'];

export const figure: Figure<typeof controls, Data> = {
  name: 'quoted',
  title: 'The width that the quoted numbers have',
  controls,
  source: () => 'exact',

  scene(data, { channel }, width) {
    const { plot, height } = arrange(width);
    const drawn = planeOf(data, channel, plot);
    const { inner, x, y } = drawn;
    const upright = (at: number, anchor: 'start' | 'end'): Mark[] => [
      vertical({ inner }, x(at), { ink: 'quiet', dashed: true }),
      {
        mark: 'text',
        x: x(at) + (anchor === 'start' ? 5 : -5),
        y: inner.y + inner.height - 6,
        text: `d = ${at}`,
        ink: 'ink',
        anchor,
      },
    ];
    return {
      width,
      height,
      marks: [
        ...drawn.marks,
        ...upright(128, 'start'),
        ...upright(claimed, 'end'),
        ...quotes[channel].map((quote, place) =>
          horizontal({ inner }, y(1 - Number(quote)), { ink: place === 0 ? 'warning' : 'third', wide: 1.5 }),
        ),
        ...spacings.flatMap(({ dashed }, spacing) =>
          positions.map(
            (_, place): Mark => ({
              mark: 'path',
              d: lineThrough(
                drawn,
                data.widths,
                Array.from(data.values[spacing]?.[place] ?? [], (value) => 1 - value),
              ),
              stroke: inks[place],
              wide: 2,
              dashed,
            }),
          ),
        ),
        ...quotes[channel].map(
          (quote, place): Mark => ({
            mark: 'dots',
            x: data.matching.length === 1 ? data.matching.map((at) => x(at)) : [],
            y: data.matching.length === 1 ? [y(1 - Number(quote))] : [],
            radius: 5,
            ink: inks[place] as Ink,
          }),
        ),
        ...labels(data, channel, drawn),
        ...lineKey(
          0,
          plot.height + 10,
          spacings.map(({ label, dashed }) => ({ label, ink: 'ink' as const, dashed })),
        ),
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: data.widths.length }],
    };
  },

  describe(data, { channel }) {
    const at = (width: number, place: number) =>
      printed(data.values[0]?.[place]?.[data.widths.indexOf(width)] ?? Number.NaN);
    const [first, second] = quotes[channel];
    const name = channel.replace('-', '−');
    const found = `The discussion prints ${first} and ${second} for channel ${name} at positions ${positions.join(' and ')} of a table said to be ${claimed} wide.`;
    const { matching } = data;
    const range = `the even widths from ${narrowest} to ${widestWidth}`;
    const widthsFound =
      matching.length === data.widths.length
        ? `All ${range} print these numbers: they do not tell the width.`
        : matching.length === 1
          ? `Of ${range} only ${matching[0]} prints both. A table ${claimed} wide has ${at(claimed, 0)} and ${at(claimed, 1)}.`
          : `Of ${range}, ${matching.length} print both.`;
    return `${found} ${widthsFound}`;
  },

  cells: ({ widths: all }) => ({ rows: 1, columns: all.length }),
  firstCursor: ({ widths: all }) => ({ i: 0, j: all.indexOf(128) }),

  readout(data, { channel }, { j }) {
    const value = (spacing: number, place: number) =>
      printed(data.values[spacing]?.[place]?.[j] ?? Number.NaN);
    return [
      'Width ',
      { text: String(data.widths[j] ?? '–'), strong: true },
      `, channel ${channel.replace('-', '−')}: ${value(0, 0)} at position ${positions[0]} and ${value(0, 1)} at ${positions[1]} with tensor2tensor’s spacing of frequencies, ${value(1, 0)} and ${value(1, 1)} with the paper’s.`,
    ];
  },

  table: (data) => ({
    columns: ['width', ...spacings.flatMap(({ label }) => positions.map((p) => `position ${p}, ${label}`))],
    rows: data.widths.map((width, at) => [
      width,
      ...data.values.flatMap((places) => places.map((values) => values[at] as number)),
    ]),
  }),
};

/** Labels beside the curves and lines that they name. */
function labels({ widths: all, values }: Data, channel: State['channel'], { x, y, inner }: Plane): Mark[] {
  const right = inner.x + inner.width;
  const end = all.length - 1;
  return positions.flatMap((position, place): Mark[] => {
    const quoted = y(1 - Number(quotes[channel][place]));
    const curve = (at: number) => y(1 - (values[0]?.[place]?.[at] as number));
    // If a curve ends close to its quote's line, its label goes to the curve's beginning, on the other side.
    const apart = Math.abs(curve(end) - quoted) > 30;
    const at = apart ? end : 14;
    const beside = (level: number, above: boolean) => level + (above ? -7 : 16);
    return [
      {
        mark: 'text',
        x: x(all[at] as number),
        y: beside(curve(at), (place === 1) === apart),
        text: `position ${position}`,
        anchor: apart ? 'end' : 'start',
        ink: 'ink',
      },
      {
        mark: 'text',
        x: right,
        y: beside(quoted, place === 1),
        text: `quoted for ${position}: ${quotes[channel][place]}`,
        anchor: 'end',
        ink: 'ink',
      },
    ];
  });
}

const printed = (value: number): string => value.toFixed(8).replace('-', '−');

function planeOf(data: Data, channel: State['channel'], plot: Area): Plane {
  const off = data.values.flat().flatMap((values) => Array.from(values, (value) => 1 - value));
  return plane(
    plot,
    { from: narrowest, to: widestWidth, label: 'width d', nice: false },
    {
      from: Math.min(...off.filter((value) => value > 0)),
      to: Math.max(...off),
      label: `1 − value of channel ${channel.replace('-', '−')}`,
      logarithmic: true,
      print: (tick) => tick.toFixed(6).replace(/\.?0+$/, ''),
    },
  );
}

function arrange(width: number): { plot: Area; height: number } {
  const plot = { x: 0, y: 0, width, height: width < 560 ? 280 : 330 };
  return { plot, height: plot.height + 10 + 18 * spacings.length };
}
