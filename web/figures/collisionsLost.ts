// The settings of the figure "collisions", and its first view: the share of tokens that are no longer their
// own nearest token, by width and for three sizes of positions.
import type { Superpose } from 'add-or-concatenate';
import { aboutPercent } from '../plot/format.js';
import { curve, dotsAt, evenlySpacedAxis, lineAt, plane, textAt } from '../plot/parts.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows } from './drawnRows.js';
import type { Job, UserRowsState } from './figure.js';

export const largestVocabulary = 5000;

export const controls = {
  of: {
    kind: 'choice',
    label: 'Show',
    options: { lost: 'Tokens that are lost', token: 'One token' },
    initial: 'lost',
    radio: true,
  },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { trained: 'MiniLM’s frequent tokens', seeded: 'Random (seeded)' },
    initial: 'trained',
    radio: true,
  },
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: { random: 'Random', sinusoidal: 'Sinusoidal' },
    initial: 'random',
  },
  vocabulary: {
    kind: 'steps',
    label: 'Vocabulary',
    values: [100, 500, 1000, 2000, largestVocabulary],
    initial: largestVocabulary,
  },
  d: { kind: 'steps', label: 'Width d', values: [4, 8, 16, 32, 64, 128, 256], initial: 64 },
  scale: { kind: 'range', label: 'Position scale ρ', min: 0, max: 10, step: 0.1, initial: 1 },
  index: { kind: 'range', label: 'Token number', min: 0, max: 4999, step: 1, initial: 0 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  word: { kind: 'text', label: 'A token', initial: 'king', longest: 40 },
} as const satisfies Controls;

export type State = UserRowsState<StateOf<typeof controls>, 'words' | 'positions'>;

export const positions = 64;

export const count = (number: number) => number.toLocaleString('en');

export interface Point {
  /** The share of the looked-up tokens that are lost, averaged over all positions. */
  share: number;
  /** That share at the best and at the worst position. */
  lowest: number;
  highest: number;
}

/** The shares of many tokens at seven widths. */
export interface LostShares {
  looked: number;
  widths: readonly number[];
  scales: readonly number[];
  /** [widths][scales] */
  points: Point[][];
}

export const widths = [4, 8, 16, 32, 64, 128, 256];

export const scales = [0.5, 1, 2];

export const scaleInks: Ink[] = ['third', 'accent', 'second'];

/** How many tokens are looked up. */
const sample = 100;

export async function lost(superpose: Superpose, { vocabulary, seed }: State, job: Job): Promise<LostShares> {
  const looked = Math.min(sample, vocabulary);
  const points: Point[][] = [];
  for (const [place, d] of widths.entries()) {
    job.signal.throwIfAborted();
    const tokens = drawnRows(superpose, 'token', { rows: vocabulary, columns: d, seed });
    const search = superpose.collisionSearch({ tokens, positions: scaled(superpose, d, seed) });
    try {
      const { lost } = await search.allWords({
        words: looked,
        slice: 25,
        signal: job.signal,
        onProgress: (done, total) => job.progress((place + done / total) / widths.length),
      });
      points.push(
        scales.map((_, row) => {
          const of = superpose.summary(lost.subarray(row * positions, (row + 1) * positions));
          return {
            share: of.mean / looked,
            lowest: of.least / looked,
            highest: of.largest / looked,
          };
        }),
      );
    } finally {
      search.delete();
    }
  }
  return { looked, widths, scales, points };
}

/** The same random positions at each scale, [scales · positions, d]. */
function scaled(superpose: Superpose, d: number, seed: number) {
  const data = new Float64Array(scales.length * positions * d);
  scales.forEach((standardDeviation, row) => {
    const drawn = drawnRows(superpose, 'position', {
      rows: positions,
      columns: d,
      standardDeviation,
      seed,
    });
    data.set(drawn.data, row * positions * d);
  });
  return { data, rows: scales.length * positions, columns: d };
}

/** A share in percent, with one digit if it is below a tenth of a percent. */
export const smallPercent = (share: number) =>
  share !== 0 && share < 0.001 ? `${(100 * share).toPrecision(1)}\u202f%` : aboutPercent(share);

export const pointOf = ({ points }: LostShares, place: number, row: number) =>
  (points[place] as Point[])[row] as Point;

const lostAt = (data: LostShares, width: number, scale: number) =>
  pointOf(data, widths.indexOf(width), scales.indexOf(scale));

export function lostFinding(data: LostShares, { vocabulary }: State): string {
  const shares = [8, 16, 32, 64].map(
    (d) => `${smallPercent(lostAt(data, d, 1).share)} at d\u00a0=\u00a0${d}`,
  );
  const tries = data.looked * positions;
  const wrong = Math.round(tries * lostAt(data, 64, 1).share);
  return `At width 8, ${smallPercent(lostAt(data, 8, 1).share)} of tokens are lost; at 64, ${smallPercent(lostAt(data, 64, 1).share)}. We looked up ${count(data.looked)} random tokens among ${count(vocabulary)}, at ${positions} random positions of the same norm (ρ\u00a0=\u00a01): on average ${shares.join(', ')} are lost, the last ${count(wrong)} of ${count(tries)}. With positions of twice the norm, ${smallPercent(lostAt(data, 64, 2).share)} are at d\u00a0=\u00a064.`;
}

export function lostScene(data: LostShares, width: number): Scene {
  const { points } = data;
  const narrow = width < 560;
  const area = { x: 0, y: 0, width, height: narrow ? 260 : 320 };
  const { x, y, inner, marks } = plane(area, evenlySpacedAxis(widths, 'width d'), {
    from: 0,
    to: 1,
    label: 'tokens lost, positions ρ times as long',
    print: (tick) => `${Math.round(100 * tick)} %`,
  });
  const list = widths.map((_, place) => place);
  const lines = scales.flatMap((_, row): Mark[] => {
    const ink = scaleInks[row] as Ink;
    const of = (value: (point: Point) => number) => points.map((scaleRow) => value(scaleRow[row] as Point));
    // The three ranges are drawn beside each other.
    const beside = (row - 1) * (narrow ? 3 : 6);
    return [
      ...list.map(
        (place): Mark =>
          lineAt(
            [x(place) + beside, y(pointOf(data, place, row).lowest)],
            [x(place) + beside, y(pointOf(data, place, row).highest)],
            { ink, wide: 1.5 },
          ),
      ),
      curve(
        { x, y },
        list,
        of(({ share }) => share),
        { stroke: ink, wide: 2.5 },
      ),
      dotsAt(
        list.map((place) => x(place)),
        of(({ share }) => share).map((share) => y(share)),
        3,
        ink,
      ),
    ];
  });
  // Each name stands where its curve first falls below a half.
  const names = scales.map((scale, row): Mark => {
    const share = (place: number) => pointOf(data, place, row).share;
    const below = list.find((place) => share(place) < 0.5) ?? 0;
    return textAt(x(below) + 7, y(share(below)) - 7, `ρ=${scale}`, { ink: 'ink' });
  });
  const thin = `thin: best to worst of ${positions} positions`;
  return {
    width,
    height: area.height + 25,
    marks: [...marks, ...lines, ...names, textAt(0, area.height + 16, thin)],
    regions: [{ ...inner, pick: 'across', rows: 1, columns: widths.length }],
  };
}
