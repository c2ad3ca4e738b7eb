// What a sinusoid's base buys and costs: its wavelengths against the length in use, and how the dot product of
// two positions falls with their distance. A view of the figure of the encoding.
import type { Wavelengths } from 'superpose';
import { about, readable } from '../plot/format.js';
import { horizontal, lineKey, lineThrough, plane, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';

export interface Bought extends Wavelengths {
  positions: number;
  d_model: number;
  base: number;
}

/** Axes do not move with the base: these are the ends for every base that can be set. */
const longest = 1e7;
const farthest = 20_000;
const upper = 210;
const lower = 230;

const whole = (value: number) => value.toLocaleString('en');
const power = (value: number) => (value >= 1000 ? `10${raised[Math.log10(value)] ?? ''}` : String(value));
const raised: Record<number, string> = { 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷' };

export function scene({ lengths, belowOneTurn, similarity, ...found }: Bought, width: number): Scene {
  const { positions, fallsTo, firstNegative } = found;
  const pairs = lengths.length;
  const waves = plane(
    { x: 0, y: 18, width, height: upper },
    { from: -0.5, to: pairs - 0.5, label: 'pair of channels', nice: false },
    { from: 1, to: longest, label: 'wavelength, in positions', logarithmic: true, print: power },
  );
  const places = Array.from(lengths, (_, pair) => pair);
  const turning = pairs - belowOneTurn;
  const top = upper + 42;
  const fall = plane(
    { x: 0, y: top + 18, width, height: lower },
    {
      from: 1,
      to: farthest,
      label: 'distance of the two positions',
      logarithmic: true,
      nice: false,
      print: power,
    },
    { from: -1, to: 1, label: 'p · p′ / |p|²', ticks: 5 },
  );
  const shown = distances(similarity.length - 1);
  const length = waves.y(positions);
  const marks: Mark[] = [
    { mark: 'text', x: 0, y: 13, text: `${turning} of ${pairs} pairs complete a turn`, ink: 'ink', size: 13 },
    ...waves.marks,
    horizontal(waves, length, { ink: 'warning', wide: 2, dashed: true }),
    {
      mark: 'text',
      x: waves.inner.x + 6,
      y: length - 6,
      text: `${positions} positions in use`,
      ink: 'warning',
    },
    {
      mark: 'path',
      d: lineThrough(waves, places, lengths),
      stroke: 'position-position',
      wide: 2.5,
    },
    { mark: 'text', x: 0, y: top + 13, text: 'How alike two positions are', ink: 'ink', size: 13 },
    ...fall.marks,
    horizontal(fall, fall.y(0), { ink: 'quiet', wide: 1.5 }),
    vertical(fall, fall.x(positions), { ink: 'warning', wide: 2, dashed: true }),
    ...(firstNegative
      ? [vertical(fall, fall.x(firstNegative), { ink: 'second', wide: 1.5, dashed: true })]
      : []),
    ...(fallsTo > 0 ? [vertical(fall, fall.x(fallsTo), { ink: 'third', wide: 1.5, dashed: true })] : []),
    {
      mark: 'path',
      d: lineThrough(
        fall,
        shown,
        shown.map((distance) => similarity[distance] as number),
      ),
      stroke: 'position-position',
      wide: 2,
    },
    ...lineKey(0, top + 18 + lower + 4, [
      { label: `falls without rising up to distance ${whole(fallsTo)}`, ink: 'third', dashed: true },
      {
        label: firstNegative ? `first below 0 at distance ${whole(firstNegative)}` : 'nowhere below 0 here',
        ink: 'second',
        dashed: true,
      },
      { label: `${positions} positions in use`, ink: 'warning', dashed: true },
    ]),
  ];
  return {
    width,
    height: top + 18 + lower + 64,
    marks,
    regions: [{ ...waves.inner, pick: 'across', rows: 1, columns: pairs }],
  };
}

/** Distances that stand apart on a logarithmic axis. */
function distances(last: number): number[] {
  const found = Array.from({ length: 420 }, (_, step) => Math.round(last ** (step / 419)));
  return [...new Set(found)];
}

export function describe({ positions, d_model, base, ...found }: Bought): string {
  const { lengths, belowOneTurn, nearest, nearestApart, fallsTo, firstNegative, similarity } = found;
  const reach =
    firstNegative === 0
      ? `stays positive up to distance ${whole(similarity.length - 1)} at least`
      : firstNegative < positions
        ? `is below 0 at distance ${whole(firstNegative)} already`
        : `stays positive up to distance ${whole(firstNegative - 1)}, beyond the length in use`;
  const nearer =
    nearestApart === 1
      ? `neighbours, the nearest two positions, are ${about(nearest)} of a row’s norm apart`
      : `the nearest two positions, ${nearestApart} apart, are ${about(nearest)} of a row’s norm from each other`;
  return `What base ${base} buys at ${positions} positions of ${d_model} channels: the dot product of two positions falls up to distance ${whole(fallsTo)} and ${reach}. What it costs: ${belowOneTurn} of ${lengths.length} pairs do not complete a turn, and ${nearer}.`;
}

export const readout = ({ lengths, positions }: Bought, pair: number) => {
  const length = lengths[pair] ?? Number.NaN;
  return [
    `Pair ${pair}: a turn takes `,
    { text: readable(length), strong: true as const },
    ` positions, ${length > positions ? 'more than' : 'not more than'} the ${positions} in use.`,
  ];
};

export const table = ({ lengths, similarity }: Bought) => ({
  columns: ['pair', 'wavelength, in positions', 'distance', 'p · p′ / |p|²'],
  rows: [
    ...Array.from(lengths, (length, pair): (string | number)[] => [pair, length, '', '']),
    ...distances(similarity.length - 1).map((distance): (string | number)[] => [
      '',
      '',
      distance,
      similarity[distance] as number,
    ]),
  ],
});
