import type { Superpose, Table } from 'superpose';
import { aboutPercent } from '../plot/format.js';
import { changeText } from '../plot/gap.js';
import { type Area, lineThrough, namedLines, plane, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { DataTable, Job } from './figure.js';
import { amounts, type HeadOfLayer, most, placeOf, type State } from './gaugeSettings.js';
import type { LayerSummands } from './seededLayer.js';
import { nothingToShare } from './sentence.js';
import { groups, kindOf, termKinds } from './terms.js';

/** A head's shares as the tables' means are moved. */
export interface Turned {
  tokens: readonly string[];
  dropped: number;
  /** How many mean rows each place of the slider moves. */
  amounts: number[];
  /** [amounts][kinds], in both gauges from the same tables. */
  raw: number[][];
  canonical: number[][];
  /** [amounts], the largest change of a score. */
  changes: number[];
}

export async function turn(superpose: Superpose, summands: LayerSummands, layer: HeadOfLayer, job: Job) {
  const { token, position, token_type } = summands;
  const mean = meanRows(superpose, position);
  const plus = (table: Table<Float64Array>, positionScale: number) =>
    superpose.bertEmbeddings({ token: table, position: mean, positionScale }).sum;
  const found: Pick<Turned, 'raw' | 'canonical' | 'changes'> = { raw: [], canonical: [], changes: [] };
  const held = superpose.layer(layer);
  try {
    const unmoved = held.decompose({ summands }).logits;
    for (const amount of amounts) {
      job.signal.throwIfAborted();
      const moved = { token: plus(token, amount), position: plus(position, -amount), token_type };
      for (const gauge of ['raw', 'canonical'] as const) {
        const apart = gauge === 'canonical' ? [0] : [];
        const scores = held.decompose({ summands: moved, groups, gauge, apart });
        found[gauge].push(Array.from(superpose.poolShares([scores], kindOf).heads));
        if (gauge === 'raw') found.changes.push(superpose.largestDifference(scores.logits, unmoved));
      }
      job.progress(found.raw.length / amounts.length);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return found;
  } finally {
    held.delete();
  }
}

/** The mean of the sentence's position rows, repeated for each of them. */
function meanRows(superpose: Superpose, position: Table<Float64Array>): Table<Float64Array> {
  const { rows, columns } = position;
  const alike = Array<number>(rows).fill(0);
  const { global } = superpose.meanDecomposition({
    rows: position,
    positionOf: alike,
    positions: 1,
    tokenOf: alike,
    tokens: 1,
  });
  const data = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) data.set(global, row * columns);
  return { data, rows, columns };
}

const panels = [
  { gauge: 'raw', title: 'raw shares, %' },
  { gauge: 'canonical', title: 'canonical shares, %' },
] as const;

export function turnedFinding(data: Turned, state: State): string {
  const { raw, canonical, changes, tokens } = data;
  if (!canonical.flat().every(Number.isFinite)) {
    return nothingToShare({ gauge: 'canonical' }, tokens.length);
  }
  const swings = termKinds.map((_, kind) => spread(raw, kind));
  const widest = swings.indexOf(Math.max(...swings));
  const shares = raw.map((found) => found[widest] as number);
  const still = Math.max(...termKinds.map((_, kind) => spread(canonical, kind)));
  return `Raw shares swing; scores and canonical shares stand still. Move up to ${most} times the mean position row from the positions to the tokens, or back: the scores of head ${state.head} change by ${changeText(Math.max(...changes))}. Its raw share of ${termKinds[widest]?.label} runs from ${aboutPercent(Math.min(...shares))} to ${aboutPercent(Math.max(...shares))}; the canonical shares change by ${changeText(still)}.`;
}

export function turnedTable(data: Turned): DataTable {
  return {
    columns: [
      '× mean position row moved',
      ...panels.flatMap(({ gauge }) => termKinds.map(({ label }) => `${label}, ${gauge}`)),
      'largest change of a score',
    ],
    rows: amounts.map((_, place) => [
      data.amounts[place] as number,
      ...(data.raw[place] as number[]),
      ...(data.canonical[place] as number[]),
      data.changes[place] as number,
    ]),
  };
}

export function turnedScene(data: Turned, state: State, width: number): Scene {
  const { areas, named, height } = arrangePanels(width);
  const at = placeOf(state);
  const shares = [...data.raw, ...data.canonical].flat().filter(Number.isFinite);
  const [from, to] = [Math.min(0, ...shares), Math.max(1, ...shares)];
  const drawn = panels.map(({ title }, place) =>
    plane(
      areas[place] as Area,
      { from: -most, to: most, label: '× mean position row moved', nice: false },
      { from, to, label: title, print: (tick) => `${Math.round(100 * tick)}`.replace('-', '−') },
    ),
  );
  const marks: Mark[] = panels.flatMap(({ gauge }, place): Mark[] => {
    const on = drawn[place] as (typeof drawn)[0];
    const { x, inner } = on;
    const now = x(data.amounts[at] as number);
    return [
      ...on.marks,
      vertical({ inner }, now, { ink: 'quiet', dashed: true }),
      ...termKinds.map(({ term }, kind): Mark => {
        const values = data[gauge].map((found) => found[kind] as number);
        return { mark: 'path', d: lineThrough(on, data.amounts, values), stroke: term, wide: 2, term };
      }),
      ...termKinds.flatMap(({ term }, kind): Mark[] => {
        const value = data[gauge][at]?.[kind] as number;
        if (!Number.isFinite(value)) return [];
        return [{ mark: 'dots', x: [now], y: [on.y(value)], radius: 4, ink: term, term }];
      }),
    ];
  });
  return {
    width,
    height,
    marks: [
      ...marks,
      ...named.names(
        drawn.at(-1) as (typeof drawn)[0],
        termKinds.map((_, kind) => drawn[0]?.y(data.canonical.at(-1)?.[kind] ?? Number.NaN) as number),
      ),
    ],
    // Each amount is in the middle of its column.
    regions: drawn.map(({ inner }) => {
      const half = inner.width / (2 * data.amounts.length - 2);
      return {
        ...inner,
        x: inner.x - half,
        width: inner.width + 2 * half,
        pick: 'across' as const,
        rows: 1,
        columns: data.amounts.length,
      };
    }),
  };
}

/** From the smallest to the largest of a kind's shares. */
function spread(shares: number[][], kind: number): number {
  const values = shares.map((found) => found[kind] as number);
  return Math.max(...values) - Math.min(...values);
}

/** In two columns, or one above the other. The names stand once, at the ends of the lines on the right. */
function arrangePanels(width: number) {
  const high = 280;
  const least = 640;
  const wide = width >= least;
  const named = namedLines(
    { x: 0, y: 0, width, height: wide ? high : 2 * high + 16 },
    termKinds.map(({ label, term }) => ({ label, ink: term, term })),
    least,
  );
  const { area } = named;
  const each = wide ? (area.width - 24) / 2 : width;
  const areas: Area[] = [0, 1].map((place) => ({
    x: wide ? place * (each + 24) : 0,
    y: wide ? 0 : place * (high + 16),
    width: each,
    height: high,
  }));
  return { areas, named, height: area.height + named.below };
}
