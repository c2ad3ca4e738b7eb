// The view "What the base buys" of the figure "encoding": a sinusoid's wavelengths beside the number of
// positions in use, and how the dot product of two positions falls with their distance.
import type { Wavelengths } from 'add-or-concatenate';
import { about, readable } from '../plot/format.js';
import { curve, horizontal, plane, textAt, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { ReadoutPiece } from './figure.js';

export interface WavelengthsView extends Wavelengths {
  positions: number;
  d_model: number;
  base: number;
}

/**
 * The ends of the axes, in positions. They suffice for every base that can be set, so the axes never move.
 */
const longestWavelength = 1e7;
const farthestDistance = 20_000;
/** Heights of the two plots, in pixels. */
const upperHeight = 210;
const lowerHeight = 230;

/** The width of a letter of these labels, in pixels. */
const letterWidth = 6.6;

const grouped = (value: number) => value.toLocaleString('en');
const power = (value: number) => (value >= 1000 ? `10${raised[Math.log10(value)] ?? ''}` : String(value));
const raised: Record<number, string> = { 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷' };

export function scene(data: WavelengthsView, width: number): Scene {
  const { lengths, belowOneTurn, similarity, positions, fallsTo, firstNegative } = data;
  const pairs = lengths.length;
  const waves = plane(
    { x: 0, y: 18, width, height: upperHeight },
    { from: -0.5, to: pairs - 0.5, label: 'pair of channels', nice: false },
    { from: 1, to: longestWavelength, label: 'wavelength, in positions', logarithmic: true, print: power },
  );
  const places = Array.from(lengths, (_, pair) => pair);
  const turning = pairs - belowOneTurn;
  const top = upperHeight + 42;
  const fall = plane(
    { x: 0, y: top + 18, width, height: lowerHeight },
    {
      from: 1,
      to: farthestDistance,
      label: 'distance of the two positions',
      logarithmic: true,
      nice: false,
      print: power,
    },
    { from: -1, to: 1, label: 'p · p′ / |p|²', ticks: 5 },
  );
  const shown = distances(similarity.length - 1);
  const length = waves.y(positions);
  // The labels are below the curve, which hardly falls under 0.
  const { inner } = fall;
  const marksAt = [
    { at: fallsTo, ink: 'third', text: `falls up to ${grouped(fallsTo)}` } as const,
    { at: firstNegative, ink: 'second', text: `below 0 at ${grouped(firstNegative)}` } as const,
    { at: positions, ink: 'accent', text: `${positions} in use` } as const,
  ].flatMap(({ at, ink, text }, row): Mark[] => {
    if (at <= 0) return [];
    const x = fall.x(at);
    const textWidth = letterWidth * text.length;
    // The first label has room on the left of its line.
    const left = x + 6 + textWidth > inner.x + inner.width || (row === 0 && x - 6 - textWidth > inner.x);
    return [
      vertical(fall, x, { ink, wide: 2, dashed: true }),
      textAt(left ? x - 6 : x + 6, inner.y + inner.height - 8 - 17 * row, text, {
        anchor: left ? 'end' : 'start',
        ink: 'ink',
      }),
    ];
  });
  const marks: Mark[] = [
    textAt(0, 13, `${turning} of ${pairs} pairs complete a turn`, { ink: 'ink' }),
    ...waves.marks,
    horizontal(waves, length, { ink: 'accent', wide: 2, dashed: true }),
    textAt(waves.inner.x + 6, length - 6, `${positions} positions in use`, { ink: 'accent' }),
    curve(waves, places, lengths, { stroke: 'position-position', wide: 2.5 }),
    textAt(0, top + 13, 'How alike two positions are', { ink: 'ink' }),
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
    height: top + 18 + lowerHeight,
    marks,
    regions: [{ ...waves.inner, pick: 'across', rows: 1, columns: pairs }],
  };
}

/** Whole distances from 1 to `last`, evenly spaced on a logarithmic axis. */
function distances(last: number): number[] {
  const steps = Array.from({ length: 420 }, (_, step) => Math.round(last ** (step / 419)));
  return [...new Set(steps)];
}

export function describe(data: WavelengthsView): string {
  const { positions, d_model, base } = data;
  const { lengths, belowOneTurn, nearest, nearestOffset, fallsTo, firstNegative, similarity } = data;
  const reach =
    firstNegative === 0
      ? `stays positive up to distance ${grouped(similarity.length - 1)} at least`
      : firstNegative < positions
        ? `is below 0 at distance ${grouped(firstNegative)} already`
        : `stays positive up to distance ${grouped(firstNegative - 1)}, beyond the length in use`;
  const nearer =
    nearestOffset === 1
      ? `neighbours are ${about(nearest)} of a row’s norm apart`
      : `the nearest two positions, ${nearestOffset} apart, are ${about(nearest)} of a row’s norm from each other`;
  return `With base ${base} the dot product falls up to distance ${grouped(fallsTo)}. At ${positions} positions of ${d_model} channels it ${reach}. What it costs: ${belowOneTurn} of ${lengths.length} pairs do not complete a turn, and ${nearer}.`;
}

export function readout(data: WavelengthsView, pair: number): ReadoutPiece[] {
  const { lengths, positions } = data;
  const length = lengths[pair] ?? Number.NaN;
  const comparison = length > positions ? 'more than' : 'not more than';
  return [
    { text: `Pair ${pair}`, strong: true },
    ': ',
    `a turn takes ${readable(length)} positions, ${comparison} the ${positions} in use.`,
  ];
}

export const table = ({ lengths, similarity }: WavelengthsView) => ({
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
