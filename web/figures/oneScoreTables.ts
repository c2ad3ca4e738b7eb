// The tables that a score comes from, and a bar for each head: parts of the picture of the figure "one-score".
import type { Floats } from 'superpose';
import { about, readable } from '../plot/format.js';
import { type Area, boxAt, colourKey, largestMagnitude, map, sizeWithin, textAt } from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import type { DataTable } from './figure.js';
import { type Data, kindsOf, type Panel, type State, type Tables, values } from './oneScoreData.js';
import { terms } from './terms.js';

/** The share of all maps' values that lies within the ends of their scale. */
export const part = 0.99;

/** A bar for each head, of what its scores vary by; a click chooses the head. */
export function stripOf(heads: number[][], chosen: number, width: number): Scene {
  if (heads.length === 0) return { width, height: 0, marks: [], regions: [] };
  const [top, high, gap] = [20, 40, 6];
  const wide = Math.min(64, (width - gap * (heads.length - 1)) / heads.length);
  const marks: Mark[] = [
    textAt(0, 13, width < 400 ? 'Heads' : 'Heads, and what the scores of each vary by', {
      ink: 'ink',
      size: 13,
    }),
    textAt(width, 13, 'click one', { anchor: 'end', live: true }),
  ];
  const regions = heads.map((shares, head): Region => {
    const x = head * (wide + gap);
    let y = top + high;
    shares.forEach((share, kind) => {
      // What is below zero, or above one because of it, has no room.
      const part = Math.min(y - top, high * Math.max(0, Number.isFinite(share) ? share : 0));
      y -= part;
      const term = terms[kind] as Term;
      marks.push({ mark: 'box', x, y, width: wide, height: part, fill: term, term });
    });
    marks.push(
      textAt(x + wide / 2, top + high + 15, String(head), {
        anchor: 'middle',
        ink: head === chosen ? 'ink' : 'quiet',
      }),
    );
    return {
      x,
      y: top,
      width: wide,
      height: high + 18,
      pick: 'nothing',
      rows: 1,
      columns: 1,
      sets: { head },
    };
  });
  const { x } = regions[chosen] as Region;
  marks.push(boxAt([x - 1, top - 2, wide + 2, high + 4], { stroke: 'ink', wide: 2 }));
  return { width, height: top + high + 28, marks, regions };
}

export const correlated = ({ correlation }: Tables): string =>
  Number.isNaN(correlation)
    ? 'There are too few tokens, or their dot products are too much alike, for a correlation.'
    : `Added and concatenated dot products correlate at ${about(correlation)}.`;

export const rowKinds = [
  { name: 'token', label: 'tokens x' },
  { name: 'position', label: 'positions ρp' },
  { name: 'sum', label: 'x + ρp' },
] as const;

export const productKinds = [
  { name: 'concatenated', subtitle: 'x·x′ + ρ²p·p′' },
  { name: 'added', subtitle: '(x+ρp)·(x′+ρp′)' },
] as const;

/** A scale that maps share. A few values, such as an outlier, may lie beyond its ends. */
function endsOf(all: readonly ArrayLike<number>[]) {
  const limit = sizeWithin(all, part) || largestMagnitude(all) || 1;
  return { low: -limit, high: limit, scale: 'diverging' } as const;
}

export function drawTables(
  { d, rows, products }: Tables,
  n: number,
  at: TablesAt,
): { marks: Mark[]; regions: Region[] } {
  const entries = endsOf(Object.values(rows));
  const dots = endsOf(Object.values(products));
  const drawn = [
    ...rowKinds.map(({ name, label }, place) =>
      map(at.cell(place), {
        values: rows[name],
        rows: n,
        columns: d,
        ...entries,
        title: label,
        subtitle: `${d} channels`,
      }),
    ),
    ...productKinds.map(({ name, subtitle }, place) =>
      map(at.cell(rowKinds.length + place), {
        values: products[name],
        rows: n,
        columns: n,
        ...dots,
        title: name,
        subtitle,
      }),
    ),
  ];
  const key = (ends: ReturnType<typeof endsOf>, label: string, { x, y }: Corner) =>
    colourKey(x, y, { ...ends, label, print: readable });
  return {
    marks: [
      ...drawn.flatMap(({ marks }) => marks),
      ...key(entries, 'entry', at.keys[0]),
      ...key(dots, 'product', at.keys[1]),
    ],
    regions: drawn.map(({ region }, place) => ({
      ...region,
      pick: place < rowKinds.length ? 'rows' : 'cells',
    })),
  };
}

/** A row for each value, of tables that have channels and of maps that have keys. */
export function longTable(data: Data, { d, rows, products }: Tables, state: State): DataTable {
  const all: [label: string, values: Floats, columns: number][] = [
    ...rowKinds.map(({ name, label }) => [label, rows[name], d] as [string, Floats, number]),
    ...productKinds.map(({ name }) => [name, products[name], data.n] as [string, Floats, number]),
    ...kindsOf(state).map(
      ({ label }, place) =>
        [label, values(data.panels[place] as Panel, state), data.n] as [string, Floats, number],
    ),
    ['score', values(data.logits, state), data.n],
    ['attention from ticked terms', data.kept.softmax, data.n],
  ];
  return {
    columns: ['map', 'query, or token', 'key, or channel', 'value'],
    rows: [
      ...all.flatMap(([label, of, columns]) =>
        Array.from(of, (value, cell) => [label, Math.floor(cell / columns), cell % columns, value]),
      ),
      ['largest |sum of the terms − score|', '', '', data.residual],
    ],
  };
}

export const keyHeight = 28;

export interface TablesAt {
  cell(place: number): Area;
  /** Of entries, and of products. */
  keys: readonly [Corner, Corner];
}

interface Corner {
  x: number;
  y: number;
}

/** “position → position” with words of so many letters. */
export const shortened = (label: string, letters: number) =>
  label
    .replaceAll('position', letters > 3 ? 'pos.' : 'pos')
    .replace(/[a-z]+/g, (word) => word.slice(0, letters));

export const signAt = (x: number, y: number, text: string): Mark =>
  textAt(x, y, text, { anchor: 'middle', ink: 'ink', size: 16 });
