// Figure "How much they overlap": two tables, weighted by energy and direction by direction, beside chance;
// and random vectors and subspaces.
import type { MiniLM, ModelReport, OverlapCurve, Superpose, Table } from 'add-or-concatenate';
import { about, aboutPercent, counted, percent, readable } from '../plot/format.js';
import { type Area, bars, curve, dotsAt, lineAt, lineKey, plane, textAt } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { userRows } from './drawnRows.js';
import type { Compute, DataTable, Figure, Library, ReadoutPiece } from './figure.js';
import {
  angleBins,
  angleReadout,
  anglesFinding,
  anglesScene,
  anglesTable,
  firstAngle,
  type RandomAngles,
  randomAngleControls,
  randomAngles,
} from './randomAngles.js';
import { watching } from './trainedModel.js';
import { hasPositionTable, unverified } from './userModelControls.js';
import { columnsOf, rowsControl, tablesRemark, tablesSource, unusedSeed } from './userTableControls.js';

const controls = {
  of: {
    kind: 'choice',
    label: 'Overlap of',
    options: { tables: 'Tables', subspaces: 'Random subspaces', vectors: 'Random vectors' },
    initial: 'tables',
    radio: true,
  },
  tables: {
    kind: 'choice',
    label: 'Tables',
    options: { trained: 'MiniLM’s, trained', seeded: 'Random tokens, sinusoids' },
    initial: 'trained',
    radio: true,
  },
  k: { kind: 'steps', label: 'Main directions k', values: [4, 12, 32, 64, 96], initial: 12 },
  ...randomAngleControls,
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

/** With a reader's own tables, where each kind of row comes from: the file, or drawn. */
interface Rows {
  tokens?: 'user' | 'seeded';
  positions?: 'user' | 'interleaved';
}

type State = StateOf<typeof controls> & Rows;

interface TableOverlap {
  d_model: number;
  tokenRows: number;
  positionRows: number;
  raw: number;
  centred: number;
  /**
   * The part of each token direction that lies in the positions' space, the direction of largest variance
   * first.
   */
  shares: Float64Array;
  /**
   * The running sum of shares over `dimensions`: the part of the positions' space in the first directions.
   */
  reached: Float64Array;
  dimensions: number;
  chance: number;
}

type Data = TableOverlap | RandomAngles;
const isAngles = (data: Data): data is RandomAngles => 'cosines' in data;

/**
 * First ids of blocks of neighbouring tokens, one from each quarter of the vocabulary: neighbours are in the
 * same few files of the model.
 */
const tokenBlocks = [2048, 8192, 14_336, 20_480];
const blockRows = 128;
const positionRows = 128;

interface Tables {
  tokens: Table;
  positions: Table;
}

async function trained(model: MiniLM): Promise<Tables> {
  const ids = tokenBlocks.flatMap((first) => Array.from({ length: blockRows }, (_, row) => first + row));
  // Each block is read by itself, so that only the first 128 positions are fetched.
  const blocks = await Promise.all(
    tokenBlocks.map((_, block) => model.rows({ ids: ids.slice(block * blockRows, (block + 1) * blockRows) })),
  );
  const data = new Float64Array(ids.length * model.d_model);
  for (const [block, { token }] of blocks.entries()) data.set(token.data, block * blockRows * model.d_model);
  return {
    tokens: { data, rows: ids.length, columns: model.d_model },
    positions: (blocks[0] as (typeof blocks)[0]).position,
  };
}

/**
 * Tables of the same shapes, as before training. Their scales differ, but the overlap does not depend on
 * them.
 */
function seeded(library: Library, superpose: Superpose, state: State): Tables {
  const rows = tokenBlocks.length * blockRows;
  const d_model = library.userTables?.columns ?? 384;
  return {
    tokens:
      state.tokens === 'user'
        ? userRows(library, 'token', rows)
        : superpose.randomNormal({ rows, columns: d_model, seed: state.seed }),
    positions:
      state.positions === 'user'
        ? userRows(library, 'position', positionRows)
        : superpose.sinusoidal({ positions: positionRows, d_model }),
  };
}

interface PreparedTables extends Tables {
  raw: number;
  centred: number;
  /** Curves by k. Each takes a singular value decomposition. */
  curves: Map<number, OverlapCurve>;
}

export const compute: Compute<typeof controls, Data> = async (library, state: State, job) => {
  const superpose = await library.superpose();
  if (state.of !== 'tables') return randomAngles(superpose, state);
  if (library.userModel) return ofUserModel(await library.userModel.report(watching(job)));
  const { tables, k, seed } = state;
  const key =
    tables === 'trained' ? tables : [tables, seed, state.tokens, state.positions, library.userTables?.key];
  const { tokens, positions, raw, centred, curves } = await library.memoize('overlap', key, async () => {
    const rows =
      tables === 'trained' ? await trained(await library.miniLM()) : seeded(library, superpose, state);
    job.signal.throwIfAborted();
    return prepare(superpose, rows);
  });
  const curve = curves.get(k) ?? superpose.overlapCurve({ tokens, positions, k });
  curves.set(k, curve);
  const { shares, reached, dimensions, chance } = curve;
  return {
    d_model: tokens.columns,
    tokenRows: tokens.rows,
    positionRows: positions.rows,
    raw,
    centred,
    shares,
    reached,
    dimensions,
    chance,
  };
};

/** What the report on a reader's own model says of its tables. */
function ofUserModel({ token, position, overlap, curve }: ModelReport): TableOverlap {
  if (!position || !overlap || !curve) throw new Error('This model has no table of positions.');
  return {
    d_model: curve.shares.length,
    tokenRows: token.rows.length,
    positionRows: position.rows.length,
    ...overlap,
    ...curve,
  };
}

function prepare(superpose: Superpose, rows: Tables): PreparedTables {
  return {
    tokens: superpose.centred(rows.tokens),
    positions: superpose.centred(rows.positions),
    raw: superpose.energyOverlap(rows),
    centred: superpose.energyOverlap({ ...rows, centred: true }),
    curves: new Map(),
  };
}

/** How many of the last token directions the caption speaks of: an eighth of all. */
const tail = ({ d_model }: TableOverlap) => Math.ceil(d_model / 8);

const rowsUsed = ({ tables }: State): string =>
  tables === 'trained'
    ? `Rows used: tokens ${tokenBlocks.map((first) => `${first}–${first + blockRows - 1}`).join(', ')} of the vocabulary, and the first ${positionRows} positions.`
    : '';

const unusedBy: Record<State['of'], Exclude<keyof State, keyof Rows>[]> = {
  tables: ['d', 'k1', 'k2'],
  subspaces: ['tables', 'k'],
  vectors: ['tables', 'k', 'k1', 'k2'],
};

export const figure: Figure<typeof controls, Data> = {
  name: 'overlap',
  title: 'How much they overlap',
  controls,
  source: ({ of, tables }) => (of === 'tables' ? tables : 'seeded'),
  waiting: 'Fetching MiniLM: its tokenizer, 512 token rows and 128 positions…',
  unused: ({ of, tables }) => [
    ...unusedBy[of],
    ...(of === 'tables' && tables === 'trained' ? (['seed'] as const) : []),
  ],

  forModel: (model) =>
    hasPositionTable(model)
      ? {
          title: 'How much tokens and positions overlap',
          // The report on a model is about its twelve main directions.
          fixed: { of: 'tables', tables: 'trained', k: controls.k.initial },
          remark: unverified,
        }
      : undefined,

  forTables(tables) {
    const { token, position } = tables;
    const most = Math.min(columnsOf(tables), position?.rows ?? Infinity);
    const values = [1, ...controls.k.values].filter((k) => k <= most);
    const initial = Math.min(controls.k.initial, values.at(-1) as number);
    return {
      title: 'How much tokens and positions overlap',
      fixed: { of: 'tables', tables: 'seeded' },
      controls: {
        tokens: rowsControl('Tokens', token !== undefined, { seeded: 'Random (seeded)' }),
        positions: rowsControl('Positions', position !== undefined, {
          interleaved: 'Sinusoidal, as in the 2017 paper',
        }),
        k: { ...controls.k, values, initial },
      },
      source: tablesSource,
      unused: (state) => [...unusedBy.tables, ...unusedSeed(state, [])],
      remark: tablesRemark(tables),
    };
  },

  /** No subspace has more dimensions than the space. */
  settle: (state) => ({ ...state, k1: Math.min(state.k1, state.d), k2: Math.min(state.k2, state.d) }),

  scene: (data, _, width) => (isAngles(data) ? anglesScene(data, width) : overlapScene(data, width)),
  describe: (data, state) => (isAngles(data) ? anglesFinding(data, state) : overlapFinding(data)),
  remark: (data, state) => (isAngles(data) ? '' : rowsUsed(state)),
  cells: (data) => ({ rows: 1, columns: isAngles(data) ? angleBins(data) : data.shares.length }),
  firstCursor: (data) => ({ i: 0, j: isAngles(data) ? firstAngle(data) : data.d_model - tail(data) }),
  readout: (data, _, { j }) => (isAngles(data) ? angleReadout(data, j) : overlapReadout(data, j)),
  table: (data) => (isAngles(data) ? anglesTable(data) : overlapTable(data)),
};

function overlapScene(data: TableOverlap, width: number): Scene {
  const { energy, directions, running, height } = arrange(width);
  const n = data.shares.length;
  const list = [
    { label: 'raw, as they are', value: data.raw, text: readable(data.raw), ink: 'accent' as const },
    { label: 'centred', value: data.centred, text: readable(data.centred), ink: 'accent' as const },
    { label: 'chance', value: 1, text: '1', ink: 'third' as const },
  ];
  const shares = plane(
    directions,
    { from: 1, to: n, label: 'tokens’ directions, most varied first', nice: false },
    { from: 0, to: 1, label: 'part in the positions’ space', nice: false },
  );
  const total = plane(
    running,
    { from: 0, to: n, label: 'first directions of the tokens', nice: false },
    { from: 0, to: 1, label: 'part of the positions’ space in them', nice: false },
  );
  const line = (drawn: typeof total, from: [number, number], to: [number, number]): Mark =>
    lineAt([drawn.x(from[0]), drawn.y(from[1])], [drawn.x(to[0]), drawn.y(to[1])], {
      ink: 'third',
      wide: 2,
      dashed: true,
    });
  const counts = Float64Array.from({ length: n + 1 }, (_, k) => k);
  return {
    width,
    height,
    marks: [
      textAt(energy.x, energy.y + 12, 'Overlap A, weighted by energy', { ink: 'ink' }),
      ...bars(
        { ...energy, y: energy.y + 20, height: energy.height - 20 },
        list,
        0,
        Math.max(1, ...list.map(({ value }) => value).filter(Number.isFinite)),
      ),
      ...shares.marks,
      line(shares, [1, data.chance], [n, data.chance]),
      dotsAt(
        Float64Array.from(data.shares, (_, k) => shares.x(k + 1)),
        Float64Array.from(data.shares, (share) => shares.y(Math.min(1, share))),
        1.75,
        'accent',
        0.8,
      ),
      ...total.marks,
      line(total, [0, 0], [n, 1]),
      curve(total, counts, [0, ...data.reached.map((part) => Math.min(1, part))], {
        stroke: 'accent',
        wide: 2.5,
      }),
      ...lineKey(0, height - 36, [
        { label: `these tables, ${data.dimensions} position directions`, ink: 'accent' },
        { label: 'chance', ink: 'third', dashed: true },
      ]),
    ],
    regions: [shares, total].map(({ inner }) => ({ ...inner, pick: 'across', rows: 1, columns: n })),
  };
}

/** An overlap this near to 1 is said to be about that of random tables. */
const nearChance = 0.05;

function overlapFinding(data: TableOverlap): string {
  const { d_model, dimensions, reached } = data;
  // A table whose rows are all equal has no directions.
  if (!Number.isFinite(data.centred))
    return `Once centred, there is nothing to compare: the rows of one table are all equal.${Number.isFinite(data.raw) ? ` Weighted by energy, they overlap ${about(data.raw)} times as much as chance, raw.` : ''}`;
  const least = tail(data);
  const inTail = 1 - (reached[d_model - least - 1] ?? 0);
  const comparison =
    data.centred < 1 - nearChance
      ? 'less than'
      : data.centred > 1 + nearChance
        ? 'more than'
        : 'about as much as';
  return `Once centred, these rows overlap ${comparison} random tables would. Weighted by energy: ${about(data.raw)} times as much as chance, raw, and ${about(data.centred)} times once centred. The ${counted(least, 'direction')} in which the ${data.tokenRows} token rows vary least, ${d_model % 8 ? `of ${d_model}` : 'an eighth of all'}, ${least === 1 ? 'holds' : 'hold'} ${aboutPercent(inTail)} of the space of the ${dimensions} main position directions; chance is ${aboutPercent(least / d_model)}.`;
}

function overlapReadout({ shares, reached, chance }: TableOverlap, j: number): ReadoutPiece[] {
  return [
    `Token direction ${j + 1} of ${shares.length}: `,
    { text: percent(shares[j] ?? Number.NaN), strong: true },
    ` of it lies in the positions’ space, by chance ${percent(chance)}. The first ${j === 0 ? 'holds' : `${j + 1} hold`} ${percent(reached[j] ?? Number.NaN)} of that space, by chance ${percent((j + 1) / shares.length)}.`,
  ];
}

const overlapTable = ({ raw, centred, shares, reached, chance }: TableOverlap): DataTable => ({
  columns: [
    'token direction, or overlap',
    'part in the positions’ space',
    'chance',
    'part of the positions’ space so far',
    'chance so far',
  ],
  rows: [
    ['overlap A, raw', raw, 1, '', ''],
    ['overlap A, centred', centred, 1, '', ''],
    ...Array.from(shares, (share, k) => [
      k + 1,
      share,
      chance,
      reached[k] as number,
      (k + 1) / shares.length,
    ]),
  ],
});

function arrange(width: number): { energy: Area; directions: Area; running: Area; height: number } {
  const energy = { x: 0, y: 6, width: Math.min(width, 520), height: 20 + 3 * 24 };
  if (width >= 640) {
    const panel = (width - 28) / 2;
    return {
      energy,
      directions: { x: 0, y: 114, width: panel, height: 280 },
      running: { x: panel + 28, y: 114, width: panel, height: 280 },
      height: 114 + 280 + 46,
    };
  }
  return {
    energy,
    directions: { x: 0, y: 114, width, height: 230 },
    running: { x: 0, y: 358, width, height: 230 },
    height: 358 + 230 + 46,
  };
}
