// Figure "Adding versus concatenating": every pair of tokens as a point, and what moves it off the line.
import { extent } from 'd3-array';
import type { DotProductName, LoudnessRecipe } from 'superpose';
import { about, counted, readable, signed } from '../plot/format.js';
import {
  type Area,
  counts,
  largestMagnitude,
  lineAt,
  type Plane,
  plane,
  steps,
  textAt,
  vertical,
} from '../plot/parts.js';
import type { Cursor, Handle, Ink, Mark, Scene, Term } from '../plot/scene.js';
import { labelled, nearestValue } from './controls.js';
import { controls, type Data, type State } from './dotProductsData.js';
import { type EncodingName, encodingOf } from './encodings.js';
import type { DataTable, Figure } from './figure.js';
import { fetching, rawRows, rawTable, sentenceRemark } from './trainedModel.js';
import { hasPositionTable, inputOf, unverified } from './userModelControls.js';
import {
  columnsOf,
  commonRows,
  rangeTo,
  rowsControl,
  tablesRemark,
  tablesSource,
  unusedSeed,
} from './userTableControls.js';

export { compute } from './dotProductsData.js';

/** Random rows can be compared as they are; those of a model or a file are raw. */
const areRaw = ({ tokens, positions }: State) => tokens !== 'seeded' || positions === 'user';

interface Row {
  name: DotProductName;
  label: string;
  term: Term | undefined;
}

/** From the parts to the sum, in the order in which they are shown. */
const rows: Row[] = [
  { name: 'token-token', label: 'token · token', term: 'token-token' },
  { name: 'position-position', label: '+ position · position', term: 'position-position' },
  { name: 'concatenated', label: '= concatenated', term: undefined },
  { name: 'token-position', label: '+ token · position', term: 'token-position' },
  { name: 'position-token', label: '+ position · token', term: 'position-token' },
  { name: 'added', label: '= added', term: undefined },
];

export const figure: Figure<typeof controls, Data> = {
  name: 'dot-products',
  title: 'Adding versus concatenating, in dot products',
  controls,
  module: 'small',
  source({ tokens, positions }) {
    if (tokens === 'seeded') return 'seeded';
    return encodingOf(positions).source === 'seeded' ? 'mixed' : 'trained';
  },
  waiting: fetching,

  unused({ tokens, positions }) {
    if (tokens === 'seeded') return ['text'];
    return encodingOf(positions).source === 'seeded' ? ['d', 'n', 'recipes'] : ['d', 'n', 'recipes', 'seed'];
  },

  forModel(model) {
    if (!hasPositionTable(model)) return undefined;
    const { fixed, controls: input } = inputOf(model);
    const { positions } = controls;
    const options = { ...positions.options, learned: 'The model’s own' };
    return {
      fixed: { tokens: 'sentence', ...fixed },
      controls: { positions: { ...positions, options, initial: 'learned' }, ...input },
      remark: unverified,
    };
  },

  forTables(tables) {
    const names = Object.keys(controls.positions.options) as EncodingName[];
    const ofNoModel = names.filter((name) => encodingOf(name).source !== 'trained');
    const drawn = names.filter((name) => encodingOf(name).source === 'seeded');
    return {
      fixed: { d: columnsOf(tables), recipes: false, text: '' },
      controls: {
        tokens: rowsControl('Tokens', tables.token !== undefined, { seeded: 'Random (seeded)' }),
        positions: rowsControl(
          'Positions',
          tables.position !== undefined,
          labelled(ofNoModel, (name) => controls.positions.options[name]),
        ),
        n: rangeTo(controls.n, commonRows(tables, controls.n.max)),
      },
      source: tablesSource,
      unused: (state) => unusedSeed(state, drawn),
      remark: tablesRemark(tables),
    };
  },

  /** A model's positions go only with its sentences, and are chosen first for a sentence. */
  settle(state, changed) {
    if (state.tokens === 'seeded' && encodingOf(state.positions).source === 'trained') {
      return { ...state, positions: controls.positions.initial };
    }
    if (changed === 'tokens' && state.tokens === 'sentence') return { ...state, positions: 'learned' };
    return state;
  },

  scene(data, { scale }, width, began) {
    const { scatter, histograms, height } = arrange(width);
    const drawn = planeOf(began?.data ?? data, scatter);
    const { x, y, inner, marks } = drawn;
    const [low, high] = x.domain() as [number, number];
    const { n, concatenated, added } = data;
    const isInside = (value: number) => value >= low && value <= high;
    const cursors: Cursor[] = [];
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) {
        if (isInside(concatenated[i * n + j] as number) && isInside(added[i * n + j] as number)) {
          cursors.push({ i, j });
        }
      }
    }
    const pulled = handleOf(data, scale, drawn);
    const across = Float32Array.from(cursors, ({ i, j }) => x(concatenated[i * n + j] as number));
    const up = Float32Array.from(cursors, ({ i, j }) => y(added[i * n + j] as number));
    const largeDots = cursors.length < manyDots;
    const below = recipesOf(data, scale, { x: 0, y: height + 10, width, height: lanesHeight });
    const points: Scene['regions'][0] = {
      ...scatter,
      pick: { points: { x: across, y: up, cursors } },
      rows: n,
      columns: n,
    };
    return {
      width,
      height: below ? height + 10 + lanesHeight : height,
      marks: [
        ...marks,
        {
          mark: 'dots',
          x: across,
          y: up,
          radius: largeDots ? 2 : 1.25,
          ink: 'accent',
          opacity: largeDots ? 0.75 : 0.35,
        },
        lineAt([x(low), y(low)], [x(high), y(high)], { ink: 'quiet', dashed: true, wide: 1.5 }),
        ...crossTerms(data, widestGap(data), drawn),
        ...(pulled
          ? [
              textAt(pulled.x + (pulled.x < inner.x + inner.width / 2 ? 18 : -18), pulled.y + 4, 'drag: ρ', {
                anchor: pulled.x < inner.x + inner.width / 2 ? 'start' : 'end',
                ink: 'ink',
                live: true,
              }),
            ]
          : []),
        ...distributions(data, histograms, began?.data ?? data),
        ...(below?.marks ?? []),
      ],
      regions: [points, ...(below?.regions ?? [])],
      handles: pulled ? [pulled] : [],
    };
  },

  focus: (data, _, cursor, width) => crossTerms(data, cursor, planeOf(data, arrange(width).scatter)),

  describe(data, state) {
    const { n, moments, correlation, recipes } = data;
    const { scale } = state;
    if (recipes) {
      const [scaled, bare] = recipes as [LoudnessRecipe, LoudnessRecipe];
      const begins = ({ positionScale, tokens, positions }: LoudnessRecipe) =>
        `at ρ = ${short(positionScale)}, positions ${short(positions / tokens)} times as loud as tokens`;
      return `Without √d, positions drown tokens. The 2017 paper begins ${begins(scaled)}; without √d it would begin ${begins(bare)}. Here, at ρ = ${scale}, token · token spreads ±${about(moments['token-token'].deviation)} and position · position ±${about(moments['position-position'].deviation)}.`;
    }
    const pairs = (n * (n - 1)) / 2;
    if (pairs === 0) return 'There is one row of each table, and so no pair of rows.';
    const size = sizeOf(data);
    const head =
      scale === 0
        ? 'Without positions, adding and concatenating agree.'
        : 'A dot’s distance from the line is its cross terms.';
    const how = Number.isNaN(correlation)
      ? `Over ${counted(pairs, 'pair')}, one of the two dot products does not vary, so they have no correlation; the cross terms`
      : `Over ${pairs} pairs, the two dot products correlate at ${about(correlation)}; the cross terms`;
    return `${head} ${how}, which without weights only adding has, spread ±${about(moments.crossTerms.deviation, size)} around ${about(moments.crossTerms.mean, size)}, and the concatenated dot products ±${about(moments.concatenated.deviation, size)}.${areRaw(state) ? rawRows : ''}`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: widestGap,

  readout(data, _, { i, j }) {
    const size = sizeOf(data);
    const at = (name: DotProductName) => data[name][i * data.n + j] ?? Number.NaN;
    return [
      { text: data.tokens[i] ?? '', strong: true },
      ` (${i}) with `,
      { text: data.tokens[j] ?? '', strong: true },
      ` (${j}): concatenated ${readable(at('concatenated'), size)} `,
      { text: signed(at('token-position'), size), term: 'token-position' },
      ' ',
      { text: signed(at('position-token'), size), term: 'position-token' },
      ` = added ${readable(at('added'), size)}`,
    ];
  },

  tokens: ({ tokens }, state) => (state.tokens === 'seeded' ? undefined : tokens),
  remark: ({ tokens, dropped }, state) =>
    state.tokens === 'sentence' ? sentenceRemark(tokens, dropped) : '',

  table({ n, tokens, ...data }, state) {
    const pairs: (string | number)[][] = [];
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) {
        pairs.push([
          i,
          j,
          tokens[i] as string,
          tokens[j] as string,
          ...rows.map(({ name }) => data[name][i * n + j] as number),
        ]);
      }
    }
    const table: DataTable = {
      columns: ['i', 'j', 'token i', 'token j', ...rows.map(({ label }) => label.replace(/^[+=] /, ''))],
      rows: pairs,
    };
    return rawTable(areRaw(state), table);
  },
};

/** From this many dots on they are drawn smaller and paler. */
const manyDots = 700;

/** The scatter beside the histograms, or above them. */
function arrange(width: number): { scatter: Area; histograms: Area; height: number } {
  const row = 64;
  const tall = rows.length * row + 26;
  if (width >= 620) {
    const size = Math.min(480, 0.5 * width);
    const height = Math.max(size, tall);
    return {
      scatter: { x: 0, y: 0, width: size, height: size },
      histograms: { x: size + 36, y: 0, width: width - size - 36, height: tall },
      height,
    };
  }
  return {
    scatter: { x: 0, y: 0, width, height: width },
    histograms: { x: 0, y: width + 20, width, height: tall },
    height: width + 20 + tall,
  };
}

/** Both axes have one domain, so that the line of equality is a diagonal. */
function planeOf(data: Data, scatter: Area) {
  const products = [...offDiagonal(data.concatenated, data.n), ...offDiagonal(data.added, data.n)];
  const [from = 0, to = 1] = extent(products) as [number?, number?];
  return plane(
    scatter,
    { from, to, label: 'concatenated: [x; ρp] · [x′; ρp′]', ticks: 5 },
    { from, to, label: 'added: (x + ρp) · (x′ + ρp′)', ticks: 5 },
  );
}

const short = (value: number): string => String(Number(value.toPrecision(3)));

const recipeNames: Record<LoudnessRecipe['name'], string> = {
  transformer: '2017 paper, times √d',
  unscaled: 'without √d',
  pytorch: 'PyTorch',
  bert: 'BERT',
  gpt2: 'GPT-2',
};

const lanesHeight = 176;

/** A lane for each recipe, with a dot at its initial ρ. A press sets that ρ if the slider reaches it. */
function recipesOf(
  { recipes }: Data,
  scale: number,
  area: Area,
): Pick<Scene, 'marks' | 'regions'> | undefined {
  if (!recipes) return undefined;
  const { max } = controls.scale;
  const drawn = plane(
    area,
    { from: 0, to: max, label: 'ρ; press to set it' },
    { from: 0, to: recipes.length, label: '', print: () => '' },
  );
  const { inner, x } = drawn;
  const height = inner.height / recipes.length;
  const lanes = recipes.map(({ name, positionScale }, lane) => ({
    ...inner,
    y: inner.y + lane * height,
    height,
    at: Math.min(max, positionScale),
    text: `${recipeNames[name]}: ${short(positionScale)}${positionScale > max ? ' →' : ''}`,
    ...(positionScale <= max && {
      sets: { scale: nearestValue(controls.scale, positionScale) as number },
    }),
  }));
  return {
    marks: [
      ...drawn.marks,
      textAt(0, area.y + 10, 'Where recipes begin', { ink: 'ink', size: 13 }),
      vertical(drawn, x(scale), { ink: 'accent', wide: 2 }),
      ...lanes.flatMap(({ at, y, text }): Mark[] => {
        const before = 2 * at > max;
        const to = { x: x(at), y: y + height / 2 };
        return [
          { mark: 'dots', x: [to.x], y: [to.y], radius: 4, ink: 'position-position' },
          textAt(to.x + (before ? -9 : 9), to.y + 4, text, { anchor: before ? 'end' : 'start', ink: 'ink' }),
        ];
      }),
    ],
    regions: lanes.map((lane) => ({ ...lane, pick: 'nothing', rows: 1, columns: 1 })),
  };
}

/** The two cross terms of a pair, as steps from the line to its dot. */
function crossTerms(data: Data, { i, j }: Cursor, { x, y, inner }: Plane): Mark[] {
  const at = (name: DotProductName) => data[name][i * data.n + j] ?? Number.NaN;
  if (i === j || Number.isNaN(at('added'))) return [];
  const across = x(at('concatenated'));
  const clamped = (height: number) => Math.max(inner.y, Math.min(inner.y + inner.height, height));
  if (across < inner.x || across > inner.x + inner.width) return [];
  const halfway = y(at('concatenated') + at('token-position'));
  const step = (y1: number, y2: number, term: Term): Mark =>
    lineAt([across, clamped(y1)], [across, clamped(y2)], { ink: term, term, wide: 4 });
  return [
    step(y(at('concatenated')), halfway, 'token-position'),
    step(halfway, y(at('added')), 'position-token'),
  ];
}

/**
 * The handle is the dot that is farthest from the line: its distance is its cross terms, which grow like ρ.
 * At ρ = 0 every dot is on the line, and the picture's height stands for the slider's range.
 */
function handleOf(data: Data, scale: number, { x, y, inner }: Plane): Handle | undefined {
  const { i, j } = widestGap(data);
  const [concatenated, added] = [data.concatenated, data.added].map(
    (values) => values[i * data.n + j] as number,
  ) as [number, number];
  if (!Number.isFinite(added) || i === j) return undefined;
  // While axes stay as they were, the dot itself may leave them.
  const left = Math.max(inner.x, Math.min(inner.x + inner.width, x(concatenated)));
  const up = Math.max(inner.y, Math.min(inner.y + inner.height, y(added)));
  const line = y(concatenated);
  const pixels =
    scale > 0 && Math.abs(y(added) - line) >= 1
      ? (y(added) - line) / scale
      : -inner.height / controls.scale.max;
  return { x: left, y: up, setting: 'scale', at: (_, to) => (to - line) / pixels };
}

function distributions(data: Data, area: Area, axes: Data): Mark[] {
  const values = rows.map(({ name }) => offDiagonal(data[name], data.n));
  const shown = rows.map(({ name }) => offDiagonal(axes[name], axes.n));
  const [from = 0, to = 0] = extent([0, ...shown.flatMap((row) => extent(row) as [number, number])]);
  const height = (area.height - 26) / rows.length;
  const size = sizeOf(data);
  // The numbers of the axis are below the last row.
  const below = { ...area, height: area.height + 13 };
  const { x, inner, marks } = plane(
    below,
    { from, to, label: '' },
    { from: 0, to: 1, label: '', print: () => '' },
  );
  const [low, high] = x.domain() as [number, number];
  const axis = marks.filter((mark) => mark.mark === 'text' && mark.anchor === 'middle');
  return rows
    .flatMap(({ name, label, term }, place): Mark[] => {
      const base = area.y + (place + 1) * height;
      const heights = counts(values[place] as number[], low, high, 64);
      const most = Math.max(1, ...heights);
      const { mean, deviation } = data.moments[name];
      // A small phone has no room for two numbers with exponents; they are in the table.
      const spread = `${readable(mean, size)} ± ${readable(deviation, size)}`;
      const ink: Ink = term ?? 'ink';
      // All rows share x. The counts of each go up from its base line.
      const up = (count: number) => base - 2 - (count / most) * (height - 26);
      return [
        { mark: 'line', x1: inner.x, x2: inner.x + inner.width, y1: base - 2, y2: base - 2 },
        { mark: 'path', d: steps({ x, y: up }, heights, low, high), fill: ink, opacity: 0.85, term },
        // The line at zero ends below the row's label.
        { mark: 'line', x1: x(0), x2: x(0), y1: base - height + 22, y2: base, ink: 'quiet' },
        textAt(inner.x, base - height + 16, label, { ink: 'ink', bold: !term, term }),
        textAt(
          inner.x + inner.width,
          base - height + 16,
          spread.length > 16 && area.width < 300 ? '' : spread,
          {
            anchor: 'end',
            term,
          },
        ),
      ];
    })
    .concat(axis);
}

/** The size beside which numbers are rounded: that of the largest product, at most 1. */
const sizeOf = ({ concatenated }: Data) => Math.min(1, largestMagnitude([concatenated]));

/** The values of the pairs i < j. */
function offDiagonal(matrix: ArrayLike<number>, n: number): number[] {
  const values: number[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) values.push(matrix[i * n + j] as number);
  return values;
}

/** The pair of tokens whose product adding changes most. */
function widestGap({ n, added, concatenated }: Data): Cursor {
  let widest = { i: 0, j: Math.min(1, n - 1) };
  let gap = -1;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const difference = Math.abs((added[i * n + j] as number) - (concatenated[i * n + j] as number));
      if (difference > gap) {
        gap = difference;
        widest = { i, j };
      }
    }
  }
  return widest;
}
