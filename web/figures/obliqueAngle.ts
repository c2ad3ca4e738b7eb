// The plane of the smallest angle in the figure "oblique": a sum with a disc of noise, and what that noise
// becomes in the token that is read back.
import { counted, readable } from '../plot/format.js';
import { type Area, dotsAt, lineAt, linear, textAt, wrapped } from '../plot/parts.js';
import { latest } from '../plot/plainCopy.js';
import type { Handle, Mark } from '../plot/scene.js';
import { sizes } from '../plot/sizes.js';

export interface Reading {
  k2: number;
  /** Radians; NaN when the subspaces share a direction. */
  angle: number;
  /** Infinite then. */
  gain: number;
  /** ‖t̂ − t‖ / ‖noise‖ over d random noises: the largest and the median. */
  largest: number;
  median: number;
}

/** Below this gain, noise is said not to grow: it would print as 1.00. */
export const noGrowth = 1.0005;

export const fixed = (value: number): string => value.toFixed(1);
export const degrees = (angle: number): string => `${((angle * 180) / Math.PI).toFixed(1)}°`;

interface Point {
  x: number;
  y: number;
}

/**
 * A handle at the end of the slanted line. Dragged, it sets the size whose angle is nearest, as read between
 * the sizes of the sweep. In channels of their own all angles are right, and there is none.
 */
export function slant(area: Area, sweep: Reading[], now: Reading): Handle[] {
  const readings = sweep.filter(({ gain }) => Number.isFinite(gain));
  if (!Number.isFinite(now.gain) || readings.every(({ gain }) => gain < noGrowth)) return [];
  const { start, base } = placesOf(area, now.angle);
  const angleAt = (x: number, y: number) => Math.atan2(base - y, x - start);
  return [
    {
      ...endOf(area, now.angle),
      setting: 'k2',
      at(x, y) {
        const angle = angleAt(x, y);
        // More dimensions, smaller angle: the size is between the two whose angles are next to this one.
        const next = readings.findIndex((other) => other.angle <= angle);
        const [left, right] = [readings[next - 1], readings[next]];
        if (!left || !right) return (right ?? latest(readings)).k2;
        return linear([left.angle, right.angle], [left.k2, right.k2])(angle);
      },
    },
  ];
}

/** Where the end of the slanted line can be dragged, with a dot for each size of the sweep. */
export function track(area: Area, sweep: readonly Reading[]): Mark[] {
  const readings = sweep.filter(({ gain }) => Number.isFinite(gain));
  const ends = readings.map(({ angle }) => endOf(area, angle));
  const [first, last] = [ends[0], ends.at(-1)] as [Point, Point];
  const count = ({ k2 }: Reading) => counted(k2, 'position dim');
  return [
    {
      mark: 'path',
      d: `M${ends.map(({ x, y }) => `${fixed(x)},${fixed(y)}`).join('L')}`,
      stroke: 'line',
      wide: 1.5,
    },
    dotsAt(
      Float64Array.from(ends, ({ x }) => x),
      Float64Array.from(ends, ({ y }) => y),
      2.5,
      'quiet',
    ),
    textAt(first.x + 8, first.y - 6, count(readings[0] as Reading)),
    // On a phone it would lie on the disc's shadow.
    ...(area.width < 480 ? [] : [textAt(last.x + 8, last.y - 6, count(latest(readings)))]),
  ];
}

/** Along a shared direction one sum comes from many pairs: each row is another token and another position. */
function ambiguous({ x, width, height }: Area, start: number, base: number): Mark[] {
  const sum = start + 0.8 * width;
  const apart = Math.max(24, (height - room.above - room.below) / 4);
  const rows = [0.25, 0.5, 0.75].map((part, row) => ({
    y: base - apart * (row + 1),
    middle: start + part * (sum - start),
  }));
  return [
    lineAt([sum, base], [sum, base - 3.5 * apart], { ink: 'ink', dashed: true }),
    ...rows.flatMap(({ y, middle }) => [
      lineAt([start, y], [middle, y], { ink: 'token-token', wide: 7 }),
      lineAt([middle, y], [sum, y], { ink: 'position-position', wide: 7 }),
    ]),
    { mark: 'dots', x: [sum], y: [base], radius: 3.5, ink: 'ink' },
    textAt(sum + 8, base - 12, 'sum', { ink: 'ink' }),
    textAt(x, base + 17, 'token', { ink: 'token-token' }),
    textAt(x, base + 34, 'position', { ink: 'position-position' }),
  ];
}

/** Below what is said in words, and above the names of the lines. */
const room = { above: 94, below: 44 };

/** A small angle has a longer line than a right one, which would leave the picture. */
function placesOf(area: Area, angle: number) {
  const base = area.y + area.height - room.below;
  const high = area.height - room.above - room.below;
  const reach = Math.min(0.54 * area.width, high / Math.max(0.1, Math.sin(angle)));
  return { start: area.x + 10, base, reach };
}

/** The end of the slanted line. */
function endOf(area: Area, angle: number): Point {
  const { start, base, reach } = placesOf(area, angle);
  return { x: start + reach * Math.cos(angle), y: base - reach * Math.sin(angle) };
}

/** The two numbers of the drawing, in large type, and what is drawn. */
function headings({ x, y, width }: Area, { angle, gain }: Reading): Mark[] {
  if (!Number.isFinite(gain)) {
    return [
      textAt(x, y + 12, 'They share a direction', { ink: 'ink' }),
      ...wrapped(
        'Along it, many pairs of a token and a position have the same sum. No matrix tells them apart.',
        width,
      ).map((line, k) => textAt(x, y + 32 + 17 * k, line)),
    ];
  }
  const right = x + Math.min(190, 0.5 * width);
  const size = width < 480 ? sizes.heading : sizes.section;
  return [
    textAt(x, y + 12, 'Smallest angle', { ink: 'ink' }),
    textAt(x, y + 42, degrees(angle), { ink: 'ink', size, bold: true }),
    textAt(right, y + 12, gain < noGrowth ? 'Noise never grows' : 'Noise can grow', { ink: 'ink' }),
    textAt(right, y + 42, `× ${readable(gain)}`, { ink: 'second', size, bold: true }),
    textAt(
      x,
      y + 64,
      width < 300 ? 'dot: sum; green: noise' : 'dot: sum; green: noise, where the token may be',
    ),
  ];
}

/**
 * The plane of the smallest angle: a sum with a disc of noise, and the shadow that the disc casts on U along
 * W.
 */
export function shadow(area: Area, now: Reading, draggable: boolean): Mark[] {
  const shared = !Number.isFinite(now.gain);
  const angle = shared ? 0 : now.angle;
  const right = area.x + area.width;
  const { start, base, reach } = placesOf(area, angle);
  const radius = area.width < 480 ? 13 : 20;
  const along = { x: Math.cos(angle), y: -Math.sin(angle) };
  const token = start + 0.34 * area.width;
  const [x, y] = [token + reach * along.x, base + reach * along.y];
  const inside = (value: number) => Math.max(area.x, Math.min(right, value));
  const half = radius * (shared ? 1 : now.gain);
  const lines: Mark[] = [
    ...headings(area, now),
    lineAt([area.x, base], [right, base], { ink: shared ? 'quiet' : 'token-token', wide: 1.5 }),
    textAt(right, base + 34, shared ? 'flat: both' : 'flat: tokens', {
      anchor: 'end',
      ink: shared ? 'quiet' : 'token-token',
    }),
  ];
  if (shared) return [...lines, ...ambiguous(area, start, base)];
  const arc = Math.min(46, 0.5 * reach);
  // The two tangents of the disc along W, from where they touch it down to U.
  const tangents = [-1, 1].map((side): Mark => {
    const [fromX, fromY] = [x + side * radius * Math.sin(angle), y + side * radius * Math.cos(angle)];
    const toX = token + side * half;
    const cut = inside(toX);
    const part = toX === fromX ? 1 : (cut - fromX) / (toX - fromX);
    return lineAt([fromX, fromY], [cut, fromY + (base - fromY) * part], { ink: 'second', dashed: true });
  });
  return [
    ...lines,
    lineAt([start, base], [start + reach * along.x, base + reach * along.y], {
      ink: 'position-position',
      wide: 1.5,
    }),
    {
      mark: 'path',
      d: `M${fixed(start + arc)},${fixed(base)}A${fixed(arc)},${fixed(arc)} 0 0,0 ${fixed(start + arc * along.x)},${fixed(base + arc * along.y)}`,
      stroke: 'quiet',
      wide: 1.5,
    },
    textAt(area.x, base + 34, `${draggable ? 'slanted' : 'upright'}: positions`, {
      ink: 'position-position',
    }),
    ...(draggable ? [textAt(area.x, base + 17, 'drag the slanted line', { live: true })] : []),
    ...tangents,
    lineAt([inside(token - half), base], [inside(token + half), base], { ink: 'second', wide: 5 }),
    lineAt([start, base], [token, base], { ink: 'token-token', wide: 3 }),
    lineAt([token, base], [x, y], { ink: 'position-position', wide: 3 }),
    {
      mark: 'path',
      d: `M${fixed(x - radius)},${fixed(y)}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`,
      stroke: 'second',
      wide: 2,
    },
    { mark: 'dots', x: [x], y: [y], radius: 3.5, ink: 'ink' },
  ];
}
