// Figure "Adding versus concatenating, in dot products": every pair of tokens as a point, and what moves it
// off the line where both give the same dot product.

import type { DotProductName, LoudnessRecipe } from 'add-or-concatenate';
import { extent } from 'd3-array';
import { about, counted, readable, signed } from '../plot/format.js';
import {
  type Area,
  counts,
  largestMagnitude,
  lineAt,
  linear,
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

/**
 * Whether the rows come from a model or a file as they are stored, which must be said of numbers about them.
 */
const areRaw = ({ tokens, positions }: State) => tokens !== 'seeded' || positions === 'user';

interface Row {
  name: DotProductName;
  label: string;
  ink: Ink;
  term?: Term;
}

/** From the parts to the sum, in the order in which they are shown. */
const rows: Row[] = [
  ofTerm('token-token', 'token · token'),
  ofTerm('position-position', '+ position · position'),
  { name: 'concatenated', label: '= concatenated', ink: 'concatenated' },
  ofTerm('token-position', '+ token · position'),
  ofTerm('position-token', '+ position · token'),
  { name: 'added', label: '= added', ink: 'ink' },
];

function ofTerm(name: DotProductName & Term, label: string): Row {
  return { name, label, ink: name, term: name };
}

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

  /** A model's positions can only go with a sentence, and choosing a sentence selects them. */
  settle(state, changed) {
    if (state.tokens === 'seeded' && encodingOf(state.positions).source === 'trained') {
      return { ...state, positions: controls.positions.initial };
    }
    if (changed === 'tokens' && state.tokens === 'sentence') return { ...state, positions: 'learned' };
    return state;
  },

  scene(data, { scale }, width, began) {
    const { scatter, histograms, rail, height } = arrange(width);
    const drawn = planeOf(data, scatter, began?.data);
    const { x, y, marks } = drawn;
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
    const loudness = loudnessRail(scale, rail);
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
        ...loudness.marks,
        ...distributions(data, histograms, began?.data),
        ...(below?.marks ?? []),
      ],
      regions: [points, ...(below?.regions ?? [])],
      handles: [loudness.handle],
    };
  },

  focus: (data, _, cursor, width, began) =>
    crossTerms(data, cursor, planeOf(data, arrange(width).scatter, began?.data)),

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
    const loud = (name: DotProductName | 'crossTerms') => about(moments[name].deviation, size);
    const head =
      scale === 0
        ? 'Without positions, adding and concatenating agree.'
        : 'A dot’s distance from the line is its cross terms.';
    const drown =
      moments['position-position'].deviation > moments['token-token'].deviation
        ? ` Positions are loud here: position · position, which grows like ρ², spreads ±${loud('position-position')}, and token · token ±${loud('token-token')}; the cross terms grow like ρ.`
        : '';
    const how = Number.isNaN(correlation)
      ? `Over ${counted(pairs, 'pair')}, one of the two dot products does not vary, so they have no correlation; the cross terms`
      : `Over ${pairs} pairs, the two dot products correlate at ${about(correlation)}; the cross terms`;
    return `${head} ${how}, which without weights only adding has, spread ±${loud('crossTerms')} around ${about(moments.crossTerms.mean, size)}, and the concatenated dot products ±${loud('concatenated')}.${drown}${areRaw(state) ? rawRows : ''}`;
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

/** With at least this many dots, each is drawn smaller and paler. */
const manyDots = 700;

const railHeight = 60;

/**
 * The scatter beside the histograms; on a phone above them, with the rail of ρ next to the dots that it
 * moves.
 */
function arrange(width: number): { scatter: Area; histograms: Area; rail: Area; height: number } {
  const tall = rows.length * 51 + 44;
  if (width >= 620) {
    const size = Math.min(480, 0.5 * width);
    const height = Math.max(size, tall + railHeight);
    const right = { x: size + 36, width: width - size - 36 };
    return {
      scatter: { x: 0, y: 0, width: size, height: size },
      histograms: { ...right, y: 0, height: tall },
      rail: { ...right, y: height - railHeight, height: railHeight },
      height,
    };
  }
  // The rail is above the dots, because on a phone the readout covers what is lowest above its bar.
  const top = railHeight + 12;
  const below = top + width + 8;
  return {
    scatter: { x: 0, y: top, width, height: width },
    rail: { x: 0, y: 0, width, height: railHeight },
    histograms: { x: 0, y: below, width, height: tall },
    height: below + tall,
  };
}

/**
 * The ends of an axis for these values. While ρ is dragged, the ends stay where they were at the start. Only
 * an end that dots would pass moves, by half the axis at a time; without that, a large ρ would leave the plot
 * empty.
 */
function endsOf(values: Iterable<number>, start: Iterable<number> = values): [from: number, to: number] {
  const [least = 0, most = 1] = extent(values) as [number?, number?];
  const [first = 0, last = 1] = extent(start) as [number?, number?];
  let [from, to] = linear([first, last], [0, 1], true).domain();
  while (most > to && to > from) to += (to - from) / 2;
  while (least < from && to > from) from -= (to - from) / 2;
  return [from, to];
}

const productsOf = ({ concatenated, added, n }: Data) => [
  ...offDiagonal(concatenated, n),
  ...offDiagonal(added, n),
];

/** Both axes have one domain, so that the line of equality is a diagonal. */
function planeOf(data: Data, scatter: Area, start: Data | undefined) {
  const [from, to] = endsOf(productsOf(data), start && productsOf(start));
  return plane(
    scatter,
    { from, to, label: 'concatenated: [x; ρp] · [x′; ρp′]', ticks: 5 },
    { from, to, label: 'added: (x + ρp) · (x′ + ρp′)', ticks: 5 },
  );
}

/** The axis of ρ with its grip, which stays under the pointer because this axis never changes. */
function loudnessRail(scale: number, area: Area): { marks: Mark[]; handle: Handle } {
  const { min, max } = controls.scale;
  const [from, to] = [area.x + 14, area.x + area.width - 14];
  const x = linear([min, max], [from, to]);
  const y = area.y + 38;
  return {
    marks: [
      textAt(area.x, area.y + 13, 'ρ: position rows are multiplied by it', { ink: 'ink' }),
      lineAt([from, y], [to, y], { ink: 'quiet', wide: 2 }),
      ...x
        .ticks(5)
        .flatMap((tick): Mark[] => [
          lineAt([x(tick), y - 4], [x(tick), y + 4], { ink: 'quiet' }),
          textAt(x(tick), y + 21, String(tick), { anchor: 'middle' }),
        ]),
      { mark: 'dots', x: [x(scale)], y: [y], radius: 5, ink: 'accent' },
    ],
    handle: {
      x: x(scale),
      y,
      setting: 'scale',
      at: (left) => min + ((left - from) / (to - from)) * (max - min),
    },
  };
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
    { from: 0, to: recipes.length },
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
      textAt(0, area.y + 10, 'Where recipes begin', { ink: 'ink' }),
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

function distributions(data: Data, area: Area, start: Data | undefined): Mark[] {
  const values = rows.map(({ name }) => offDiagonal(data[name], data.n));
  const spread = (of: Data) => [0, ...rows.flatMap(({ name }) => offDiagonal(of[name], of.n))];
  const [from, to] = endsOf(spread(data), start && spread(start));
  // Room for the numbers and the name of the axis below the last row.
  const height = (area.height - 44) / rows.length;
  const size = sizeOf(data);
  const { x, inner, marks } = plane(
    area,
    { from, to, label: 'dot product; heights: how many pairs' },
    { from: 0, to: 1 },
  );
  const [low, high] = x.domain() as [number, number];
  const axis = marks.filter((mark) => mark.mark === 'text');
  return rows
    .flatMap(({ name, label, ink, term }, place): Mark[] => {
      const base = area.y + (place + 1) * height;
      const heights = counts(values[place] as number[], low, high, 64);
      const most = Math.max(1, ...heights);
      const { mean, deviation } = data.moments[name];
      // A small phone has no room for two numbers with exponents; they are in the table.
      const says = `${readable(mean, size)} ± ${readable(deviation, size)}`;
      // All rows share x; each row's counts go up from its own base line.
      const up = (count: number) => base - 2 - (count / most) * (height - 26);
      return [
        { mark: 'line', x1: inner.x, x2: inner.x + inner.width, y1: base - 2, y2: base - 2 },
        { mark: 'path', d: steps({ x, y: up }, heights, low, high), fill: ink, opacity: 0.85, term },
        // The line at zero ends below the row's label.
        { mark: 'line', x1: x(0), x2: x(0), y1: base - height + 22, y2: base, ink: 'quiet' },
        textAt(inner.x, base - height + 16, label, { ink: term ? 'ink' : ink, bold: !term, term }),
        textAt(inner.x + inner.width, base - height + 16, says.length > 16 && area.width < 300 ? '' : says, {
          anchor: 'end',
          term,
        }),
      ];
    })
    .concat(axis);
}

/** The magnitude relative to which numbers are rounded: the largest product, at most 1. */
const sizeOf = ({ concatenated }: Data) => Math.min(1, largestMagnitude([concatenated]));

/** The values of the pairs i < j. */
function offDiagonal(matrix: ArrayLike<number>, n: number): number[] {
  const values: number[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) values.push(matrix[i * n + j] as number);
  return values;
}

/** The pair of tokens whose dot product changes most when adding takes the place of concatenating. */
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
