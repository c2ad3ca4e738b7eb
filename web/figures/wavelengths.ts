// What a sinusoid's base buys and costs: its wavelengths against the length in use, and how the dot product of
// two positions falls with their distance. A view of the figure of the encoding.
import type { Wavelengths } from 'superpose';
import { about, readable } from '../plot/format.js';
import { curve, horizontal, plane, textAt, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { ReadoutPiece } from './figure.js';

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
  // Labels stand below the curve, which hardly falls under 0.
  const { inner } = fall;
  const marksAt = [
    { at: fallsTo, ink: 'third', text: `falls up to ${whole(fallsTo)}` } as const,
    { at: firstNegative, ink: 'second', text: `below 0 at ${whole(firstNegative)}` } as const,
    { at: positions, ink: 'warning', text: `${positions} in use` } as const,
  ].flatMap(({ at, ink, text }, row): Mark[] => {
    if (at <= 0) return [];
    const x = fall.x(at);
    const long = 6.6 * text.length;
    // The first has nothing on its left.
    const left = x + 6 + long > inner.x + inner.width || (row === 0 && x - 6 - long > inner.x);
    return [
      vertical(fall, x, { ink, wide: 2, dashed: true }),
      textAt(left ? x - 6 : x + 6, inner.y + inner.height - 8 - 17 * row, text, {
        anchor: left ? 'end' : 'start',
        ink: 'ink',
      }),
    ];
  });
  const marks: Mark[] = [
    textAt(0, 13, `${turning} of ${pairs} pairs complete a turn`, { ink: 'ink', size: 13 }),
    ...waves.marks,
    horizontal(waves, length, { ink: 'warning', wide: 2, dashed: true }),
    textAt(waves.inner.x + 6, length - 6, `${positions} positions in use`, { ink: 'warning' }),
    curve(waves, places, lengths, { stroke: 'position-position', wide: 2.5 }),
    textAt(0, top + 13, 'How alike two positions are', { ink: 'ink', size: 13 }),
    ...fall.marks,
    horizontal(fall, fall.y(0), { ink: 'quiet', wide: 1.5 }),
    ...marksAt,
    curve(
      fall,
      shown,
      shown.map((distance) => similarity[distance] as number),
      { stroke: 'position-position', wide: 2 },
    ),
  ];
  return {
    width,
    height: top + 18 + lower,
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
      ? `neighbours are ${about(nearest)} of a row’s norm apart`
      : `the nearest two positions, ${nearestApart} apart, are ${about(nearest)} of a row’s norm from each other`;
  return `With base ${base} the dot product falls up to distance ${whole(fallsTo)}. At ${positions} positions of ${d_model} channels it ${reach}. What it costs: ${belowOneTurn} of ${lengths.length} pairs do not complete a turn, and ${nearer}.`;
}

export function readout(data: Bought, pair: number): ReadoutPiece[] {
  const { lengths, positions } = data;
  const length = lengths[pair] ?? Number.NaN;
  const comparison = length > positions ? 'more than' : 'not more than';
  return [
    { text: `Pair ${pair}`, strong: true },
    ': ',
    `a turn takes ${readable(length)} positions, ${comparison} the ${positions} in use.`,
  ];
}

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
