// Figure "Two dimensions": how similar the positions of an image's patches are, each to all others.
import { extent } from 'd3-array';
import type { BothModules, Table } from 'superpose';
import { about, readable } from '../plot/format.js';
import { type Area, colourKey, largestMagnitude, map, multiples, titleHeight } from '../plot/parts.js';
import type { Mark, Region, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { listed } from './lists.js';

const controls = {
  channels: {
    kind: 'choice',
    label: 'Channels',
    options: { all: 'All', first: 'First half', second: 'Second half' },
    initial: 'all',
    radio: true,
  },
  grid: { kind: 'range', label: 'Patches a side', min: 2, max: 14, step: 1, initial: 7 },
  d: { kind: 'steps', label: 'Width d', values: [8, 16, 32, 64, 128, 192, 384, 768], initial: 64 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const kinds = [
  { label: 'MAE', about: 'column, then row' },
  { label: 'tensor2tensor', about: 'row, then column' },
  { label: 'one number a patch', about: 'in reading order' },
  { label: 'learned, untrained', about: 'drawn, spread 0.02' },
];
type Kind = (typeof kinds)[number];

/** In the order of `kinds`. */
const tablesOf = (superpose: BothModules, { grid, d, seed }: State): Table<Float64Array>[] => [
  superpose.maeSinusoidal({ grid, d_model: d }),
  superpose.tensor2tensorSinusoidal({ extents: [grid, grid], d_model: d }),
  superpose.sinusoidal({ positions: grid * grid, d_model: d, layout: 'concatenated' }),
  superpose.learnedPositions({ positions: grid * grid, d_model: d, seed }),
];

interface Found {
  /** Dot products, patch by patch, [grid², grid²]. */
  products: Float64Array;
  /** Cosines, in the same order. */
  cosines: Float64Array;
  /** The products as a mosaic: for each patch, at its place, a map of all patches; [grid², grid²]. */
  mosaic: Float64Array;
  largest: number;
  /** The least and the largest product. */
  ends: [number, number];
  /** The largest difference between a product and the mean of those with the same offset. */
  apart: number;
  /** The share of the variation that the offset (Δrow, Δcolumn) explains. */
  share: number;
}

interface Data {
  grid: number;
  found: Found[];
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { grid } = state;
  const patches = grid * grid;
  const offsets = offsetsOf(grid);
  const found = tablesOf(superpose, state).map((table) => {
    const looked = half(table, state);
    const products = superpose.gram(looked).data;
    const { residual, positionShare } = superpose.meanDecomposition({
      rows: { data: products, rows: patches * patches, columns: 1 },
      positionOf: offsets,
      positions: (2 * grid - 1) ** 2,
      tokenOf: offsets.map(() => 0),
      tokens: 1,
    });
    return {
      products,
      cosines: superpose.rowCosines(looked, looked).data,
      mosaic: mosaicOf(products, grid),
      largest: largestMagnitude([products]),
      ends: extent(products) as [number, number],
      apart: largestMagnitude([residual]),
      share: positionShare,
    };
  });
  return { grid, found };
};

/** The table's channels that are compared. */
function half({ data, rows, columns }: Table<Float64Array>, { channels }: State): Table<Float64Array> {
  if (channels === 'all') return { data, rows, columns };
  const width = columns / 2;
  const from = channels === 'first' ? 0 : width;
  const part = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    part.set(data.subarray(row * columns + from, row * columns + from + width), row * width);
  }
  return { data: part, rows, columns: width };
}

/** The offset of each pair of patches, as a number. */
function offsetsOf(grid: number): number[] {
  const offsets: number[] = [];
  const patches = grid * grid;
  for (let p = 0; p < patches; p++) {
    for (let q = 0; q < patches; q++) {
      const down = Math.floor(q / grid) - Math.floor(p / grid) + grid - 1;
      const across = (q % grid) - (p % grid) + grid - 1;
      offsets.push(down * (2 * grid - 1) + across);
    }
  }
  return offsets;
}

function mosaicOf(products: Float64Array, grid: number): Float64Array {
  const patches = grid * grid;
  const mosaic = new Float64Array(patches * patches);
  for (let p = 0; p < patches; p++) {
    for (let q = 0; q < patches; q++) {
      const row = Math.floor(p / grid) * grid + Math.floor(q / grid);
      const column = (p % grid) * grid + (q % grid);
      mosaic[row * patches + column] = products[p * patches + q] as number;
    }
  }
  return mosaic;
}

/** Whether products with the same offset differ only by the rounding of sums of up to 768 terms. */
const isOffsetOnly = ({ apart, largest }: Found): boolean => apart <= 1e-10 * largest;

export const figure: Figure<typeof controls, Data> = {
  name: 'images',
  title: 'Positions of image patches, each compared with all others',
  controls,
  source: () => 'seeded',

  scene({ grid, found }, _, width) {
    const patches = grid * grid;
    const at = arrange(width);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    found.forEach(({ mosaic, ends }, place) => {
      const { label, about } = kinds[place] as Kind;
      const drawn = map(at.area(place), {
        values: mosaic,
        rows: patches,
        columns: patches,
        low: ends[0],
        high: ends[1],
        scale: 'sequential',
        title: label,
        subtitle: about,
      });
      const { x, y, width: side } = drawn.region;
      const gaps = Array.from({ length: grid - 1 }, (_, k) => ((k + 1) * side) / grid);
      marks.push(
        ...drawn.marks,
        ...gaps.flatMap((gap): Mark[] => [
          { mark: 'line', x1: x + gap, x2: x + gap, y1: y, y2: y + side, ink: 'paper', wide: 2 },
          { mark: 'line', x1: x, x2: x + side, y1: y + gap, y2: y + gap, ink: 'paper', wide: 2 },
        ]),
      );
      regions.push({ ...drawn.region, rows: grid, columns: grid });
    });
    marks.push(
      ...colourKey(0, at.key, {
        low: 0,
        high: 1,
        scale: 'sequential',
        label: width < 345 ? 'product, by picture' : 'dot product, each picture alone',
        print: (value) => (value === 0 ? 'least' : 'largest'),
      }),
    );
    return { width, height: at.key + 34, marks, regions } satisfies Scene;
  },

  describe({ found, grid }, { channels }) {
    const which = channels === 'all' ? '' : ` by the ${channels} half of the channels`;
    const named = found.map((one, place) => ({ ...one, label: (kinds[place] as Kind).label }));
    const alone = named.filter(isOffsetOnly).map(({ label }) => `“${label}”`);
    const others = named
      .filter((one) => !isOffsetOnly(one))
      .map(
        ({ label, apart, largest }) =>
          ` For “${label}” they do not: those of one offset differ from their mean by up to ${about(apart)}; a patch with itself has ${about(largest)}.`,
      );
    return `Each of the ${grid * grid} small squares compares one patch with all${which}. The products depend on the offset alone for ${listed(alone) || 'none'}.${others.join('')}`;
  },

  cells: ({ grid }) => ({ rows: grid, columns: grid }),
  firstCursor: ({ grid }) => ({ i: Math.floor(grid / 2), j: Math.floor(grid / 2) }),

  readout({ grid, found }, _, { i, j }) {
    const patches = grid * grid;
    const p = i * grid + j;
    // At an edge, the neighbour on the inside.
    const below = i + 1 < grid ? p + grid : p - grid;
    const right = j + 1 < grid ? p + 1 : p - 1;
    const of = (one: Found, q: number) => readable(one.cosines[p * patches + q] ?? Number.NaN);
    return [
      `Row ${i}, column ${j}: cosines with the next patch in its row and in its column. `,
      found
        .map((one, place) => `${(kinds[place] as Kind).label} ${of(one, right)} and ${of(one, below)}`)
        .join('; '),
      '.',
    ];
  },

  table({ grid, found }) {
    const rows: (string | number)[][] = [];
    const patches = grid * grid;
    for (let p = 0; p < patches; p++) {
      for (let q = 0; q < patches; q++) {
        rows.push([
          Math.floor(p / grid),
          p % grid,
          Math.floor(q / grid),
          q % grid,
          ...found.map(({ products }) => products[p * patches + q] as number),
        ]);
      }
    }
    rows.push(['largest difference at one offset', '', '', '', ...found.map(({ apart }) => apart)]);
    return {
      columns: ['row', 'column', 'other row', 'other column', ...kinds.map(({ label }) => label)],
      rows,
    };
  },
};

function arrange(width: number) {
  const grid = multiples(width, 130, 4, 18);
  const height = titleHeight(true) + grid.width;
  const rows = Math.ceil(kinds.length / grid.columns);
  return {
    area(place: number): Area {
      const { row, x } = grid.at(place);
      return { x, y: row * (height + 16), width: grid.width, height };
    },
    key: rows * (height + 16) + 4,
  };
}
