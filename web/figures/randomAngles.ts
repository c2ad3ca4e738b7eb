// Two views of the figure "overlap": the cosines of random vectors, or of the principal angles of two random
// subspaces, beside those that theory expects.
import type { Superpose } from 'add-or-concatenate';
import { about, counted, readable } from '../plot/format.js';
import { counts, lineThrough, plane, steps, textAt, vertical } from '../plot/parts.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import type { DataTable, ReadoutPiece } from './figure.js';

/** The largest dimension of a subspace. With more, one step of a slider takes most of a second. */
const mostDimensions = 192;

export const randomAngleControls = {
  d: {
    kind: 'steps',
    label: 'Width d',
    values: [2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024],
    initial: 512,
  },
  k1: { kind: 'range', label: 'Dimension k₁', min: 1, max: mostDimensions, step: 1, initial: 64 },
  k2: { kind: 'range', label: 'Dimension k₂', min: 1, max: mostDimensions, step: 1, initial: 64 },
} as const;

export interface AngleState {
  of: string;
  d: number;
  k1: number;
  k2: number;
  seed: number;
}

export interface RandomAngles {
  /** The cosines of random pairs of vectors, or of the principal angles of one random pair of subspaces. */
  cosines: Float64Array;
  /** The mean and the largest magnitude of these cosines. */
  drawnMean: number;
  drawnLargest: number;
  /** The expected |cos| of two random vectors, and the standard deviation of cos. */
  mean: number;
  deviation: number;
  /** The ends of the axis, and the exact density of vectors' cosines at points of it. */
  ends: readonly [number, number];
  at: Float64Array;
  density: Float64Array;
  /** The largest cosine to expect: over all pairs, or of the principal angles for large d. */
  largest: number;
  /**
   * For subspaces: the smallest cosine to expect, Σcos², its mean over draws, and the number of shared
   * directions.
   */
  spaces: undefined | { lowest: number; sum: number; expectedSum: number; shared: number };
}

/** All pairs of BERT's 512 positions and 30,522 word pieces. */
const pairs = 512 * 30_522;
/** How many pairs of vectors are drawn. */
const randomPairs = 400;
/** Points of the curve of the density. Odd, so that one is in the middle. */
const densityPoints = 241;
/** The largest cosine at which the density is computed, because for d = 2 it is infinite at 1. */
const largestCosine = 1 - 1e-9;

export function randomAngles(superpose: Superpose, state: AngleState): RandomAngles {
  const { d } = state;
  const mean = superpose.cosineMeanSize({ d });
  const deviation = superpose.cosineDeviation({ d });
  return {
    mean,
    deviation,
    ...(state.of === 'vectors' ? vectors : subspaces)(superpose, state, deviation),
  };
}

function sizesOf(superpose: Superpose, cosines: Float64Array) {
  const { meanSize: drawnMean, largestSize: drawnLargest } = superpose.summary(cosines);
  return { cosines, drawnMean, drawnLargest };
}

function vectors(superpose: Superpose, { d, seed }: AngleState, deviation: number) {
  const drawn = sizesOf(superpose, superpose.sampleCosines({ d, count: randomPairs, seed }));
  const largest = superpose.largestCosineMedian({ pairs, d });
  const near = Math.min(1, 1.12 * Math.max(largest, 4 * deviation, drawn.drawnLargest));
  const at = Float64Array.from(
    { length: densityPoints },
    (_, k) => Math.min(near, largestCosine) * ((2 * k) / (densityPoints - 1) - 1),
  );
  const density = at.map((t) => superpose.cosineDensity({ t, d }));
  return { ...drawn, ends: [-near, near] as const, at, density, largest, spaces: undefined };
}

function subspaces(superpose: Superpose, { d, k1, k2, seed }: AngleState) {
  const angles = superpose.randomPrincipalAngles({ d, k1, k2, seed });
  const { cosines, squares: sum } = superpose.angleCosines(angles);
  const { lowestCosine, highestCosine, cosineSquares, zeroAngles } = superpose.chanceAngles({ d, k1, k2 });
  return {
    ...sizesOf(superpose, cosines),
    ends: [0, 1] as const,
    at: new Float64Array(),
    density: new Float64Array(),
    largest: highestCosine,
    spaces: { lowest: lowestCosine, sum, expectedSum: cosineSquares, shared: zeroAngles },
  };
}

export const angleBins = ({ spaces }: RandomAngles): number => (spaces ? 20 : 40);
const countsOf = (data: RandomAngles) => counts(data.cosines, ...data.ends, angleBins(data));
const binOf = (data: RandomAngles, j: number): [number, number] => {
  const [from, to] = data.ends;
  const wide = (to - from) / angleBins(data);
  return [from + j * wide, from + (j + 1) * wide];
};
/** The exact density in the middle of a bin. */
const densityOf = (data: RandomAngles, j: number) =>
  data.density[Math.round((j + 0.5) * ((densityPoints - 1) / angleBins(data)))] ?? Number.NaN;

export const firstAngle = (data: RandomAngles): number =>
  data.spaces ? countsOf(data).findLastIndex((count) => count > 0) : angleBins(data) / 2;

/** Lines through the picture at the values that theory expects. */
function expectedLines(data: RandomAngles, narrow: boolean): { label: string; value: number; ink: Ink }[] {
  const { mean, deviation, largest, spaces } = data;
  const line = (label: string, more: string, value: number, ink: Ink) => ({
    label: `${label}${narrow ? '' : more}: ${readable(value)}`,
    value,
    ink,
  });
  if (!spaces)
    return [
      line('largest', ` of ${pairs.toLocaleString('en')} pairs`, largest, 'accent'),
      line('deviation', ', 1/√d', deviation, 'second'),
      line('mean size', '', mean, 'third'),
    ];
  const large = ' expected, for large d';
  return [
    line('largest', large, largest, 'accent'),
    ...(spaces.lowest > 0 ? [line('smallest', large, spaces.lowest, 'accent')] : []),
    line('vectors', ', mean size', mean, 'third'),
  ];
}

/** Room above the plane for the key of its bars and the names of three lines, in pixels. */
const labelsHeight = 66;

export function anglesScene(data: RandomAngles, width: number): Scene {
  const narrow = width < 560;
  const { cosines, ends, at, density, spaces } = data;
  const [from, to] = ends;
  const bins = angleBins(data);
  const height = labelsHeight + 280;
  // A bar is as high as the density that it estimates.
  const heights = countsOf(data).map((count) => (count * bins) / ((to - from) * cosines.length));
  const drawn = plane(
    { x: 0, y: labelsHeight, width, height: height - labelsHeight },
    { from, to, label: 'cosine', nice: false, ticks: narrow ? 3 : 5 },
    {
      from: 0,
      to: Math.max(1.15 * (density[(densityPoints - 1) / 2] ?? 0), ...heights),
      label: 'density',
      ticks: 4,
    },
  );
  const { x, y, inner } = drawn;
  const [, highest] = y.domain() as [number, number];
  const lines = expectedLines(data, narrow).flatMap(({ label, value, ink }, place): Mark[] => {
    const top = 30 + 16 * place;
    const look = { ink, wide: 2, dashed: true };
    // The label is on the side of its line that has room for it.
    const right = x(value) + 6 + 6.9 * label.length < width;
    return [
      { mark: 'line', x1: x(value), x2: x(value), y1: top - 10, y2: inner.y + inner.height, ...look },
      ...(from < 0 ? [vertical(drawn, x(-value), look)] : []),
      textAt(x(value) + (right ? 6 : -6), top, label, { anchor: right ? 'start' : 'end', ink }),
    ];
  });
  const barsAre = spaces
    ? `bars: density of ${counted(cosines.length, 'principal angle')}${narrow ? '' : ' of one pair of subspaces'}`
    : `bars: ${randomPairs} drawn pairs; curve: ${narrow ? '' : 'exact '}density`;
  const curve = lineThrough(
    drawn,
    at,
    density.map((value) => (value <= highest ? value : Number.NaN)),
  );
  return {
    width,
    height,
    marks: [
      ...drawn.marks,
      { mark: 'path', d: steps(drawn, heights, from, to), fill: 'quiet', opacity: 0.35 },
      { mark: 'path', d: curve, stroke: 'accent', wide: 2 },
      ...lines,
      textAt(0, 12, barsAre),
    ],
    regions: [{ ...inner, x: x(from), width: x(to) - x(from), pick: 'across', rows: 1, columns: bins }],
  };
}

export function anglesFinding(
  { mean, deviation, drawnMean, drawnLargest, largest, spaces }: RandomAngles,
  { d, k1, k2 }: AngleState,
): string {
  const many = pairs.toLocaleString('en');
  if (!spaces)
    return `The largest of ${many} cosines is ${(largest / mean).toFixed(1)} times the average. In ${d} dimensions two random directions have a cosine of size ${about(mean)} on average, and one standard deviation is ${about(deviation)}. The ${randomPairs} drawn pairs average ${about(drawnMean)}; the largest of them is ${about(drawnLargest)}. The largest of ${many} pairs has its median at ${about(largest)}.`;
  const { sum, expectedSum, shared } = spaces;
  const forced =
    shared > 0
      ? ` Because k₁ + k₂ = ${k1 + k2} is more than ${d}, ${counted(shared, 'direction is', 'directions are')} shared whatever is drawn.`
      : '';
  return `The best pair of directions has ${about(drawnLargest / mean)} times the cosine of two vectors. Random subspaces of ${k1} and ${k2} dimensions in ${d} have directions with a cosine of ${about(drawnLargest)}; theory expects up to ${about(largest)} ${shared > 0 ? 'of the others ' : ''}for large d, and two single vectors have ${about(mean)} on average. The squared cosines add up to ${about(sum)}; the mean over draws is k₁k₂/d = ${about(expectedSum)}.${forced}`;
}

export function angleReadout(data: RandomAngles, j: number): ReadoutPiece[] {
  const [from, to] = binOf(data, j);
  const count = countsOf(data)[j] ?? 0;
  return [
    'Cosines from ',
    { text: readable(from), strong: true },
    ' to ',
    { text: readable(to), strong: true },
    data.spaces
      ? `: ${count} of ${counted(data.cosines.length, 'principal angle')}.`
      : `: ${count} of the ${data.cosines.length} pairs; the exact density in the middle is ${readable(densityOf(data, j))}.`,
  ];
}

export function anglesTable(data: RandomAngles): DataTable {
  const { cosines, spaces, largest, mean } = data;
  if (spaces)
    return {
      columns: ['principal angle', 'cosine', 'lower edge', 'upper edge', 'mean |cosine| of two vectors'],
      rows: Array.from(cosines, (value, k) => [k + 1, value, spaces.lowest, largest, mean]),
    };
  return {
    columns: ['from', 'to', 'drawn pairs', 'density of drawn pairs', 'exact density in the middle'],
    rows: countsOf(data).map((count, j) => {
      const [from, to] = binOf(data, j);
      return [from, to, count, count / (to - from) / cosines.length, densityOf(data, j)];
    }),
  };
}
