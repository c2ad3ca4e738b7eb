// Figure "What each way costs": parameters, arithmetic and cache of five ways to give a model its positions.
import type { Cost, ModelShape, PositionCostWay } from 'superpose';
import { readable } from '../plot/format.js';
import { bars } from '../plot/parts.js';
import type { Ink, Mark, Region } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';

const controls = {
  model: {
    kind: 'choice',
    label: 'Model shape',
    options: { bert: 'BERT-base', minilm: 'all-MiniLM-L6-v2', gpt2: 'GPT-2 small', own: 'Your own' },
    initial: 'bert',
  },
  d_position: {
    kind: 'steps',
    label: 'Position width dₚ',
    values: [4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    initial: 64,
  },
  d: {
    kind: 'steps',
    label: 'Width d',
    values: [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192],
    initial: 768,
  },
  layers: { kind: 'range', label: 'Layers', min: 1, max: 128, step: 1, initial: 12 },
  heads: { kind: 'range', more: true, label: 'Heads', min: 1, max: 64, step: 1, initial: 12 },
  vocabulary: {
    kind: 'steps',
    more: true,
    label: 'Vocabulary',
    values: [256, 1000, 8000, 30522, 32000, 50257, 128256, 256000],
    initial: 30522,
  },
  positions: {
    kind: 'steps',
    more: true,
    label: 'Positions',
    values: [128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  context: {
    kind: 'steps',
    label: 'Tokens at once',
    values: [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  segments: { kind: 'range', more: true, label: 'Segments', min: 0, max: 4, step: 1, initial: 2 },
  pooler: { kind: 'toggle', more: true, label: 'BERT’s pooler', initial: true },
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Shape = Omit<State, 'model' | 'd_position' | 'context'>;

/** MiniLM's position table has 512 rows, GPT-2's 1024; GPT-2 has neither segments nor a pooler. */
const shapes: Record<string, Shape> = {
  bert: { layers: 12, d: 768, heads: 12, vocabulary: 30522, positions: 512, segments: 2, pooler: true },
  minilm: { layers: 6, d: 384, heads: 12, vocabulary: 30522, positions: 512, segments: 2, pooler: true },
  gpt2: { layers: 12, d: 768, heads: 12, vocabulary: 50257, positions: 1024, segments: 0, pooler: false },
};

const ways: { way: PositionCostWay; short: string; label: string }[] = [
  { way: 'add', short: 'add', label: 'add' },
  { way: 'wide', short: 'wide', label: 'join: stream d + dₚ wide' },
  { way: 'narrow', short: 'narrow', label: 'join: token narrower by dₚ' },
  { way: 'project', short: 'back to d', label: 'join, then map back to d' },
  { way: 'query_key', short: 'Q and K', label: 'join in queries and keys only' },
];

const measures = [
  { name: 'total', label: 'Parameters', unit: 'parameters' },
  { name: 'flopsPerToken', label: 'Operations per token', unit: 'floating-point operations per token' },
  { name: 'kvCache', label: 'Numbers in the key–value cache', unit: 'numbers in the key–value cache' },
] as const;

const isOf = (shape: Shape, state: State) =>
  (Object.keys(shape) as (keyof Shape)[]).every((name) => shape[name] === state[name]);

interface Data {
  /** In the order of `ways`; narrow has none where it leaves the token no room. */
  costs: (Cost | undefined)[];
  /** Width of the position queries and keys of each head. */
  d_position_head: number;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { layers, d, heads, vocabulary, positions, segments, pooler, context, d_position } = state;
  // As wide as a head, or as near as whole numbers come.
  const d_position_head = Math.max(1, Math.floor(d / heads));
  const shape: ModelShape = {
    vocabulary,
    positions,
    segments,
    d_model: d,
    heads,
    layers,
    sequence: context,
    d_position,
    d_position_head,
    pooler,
  };
  return {
    costs: ways.map(({ way }) =>
      way === 'narrow' && d_position >= d ? undefined : superpose.positionCost(way, shape),
    ),
    d_position_head,
  };
};

const ratio = (cost: Cost | undefined, { costs }: Data, name: (typeof measures)[number]['name']) =>
  cost ? cost[name] / ((costs[0] as Cost)[name] || 1) : Number.NaN;

/** A ratio to three digits, or near 1 to three decimals. */
const times = (value: number) => `×${Math.abs(value - 1) < 0.1 ? value.toFixed(3) : value.toPrecision(3)}`;

/** 124 M: three digits and a power of a thousand. */
function short(value: number): string {
  const power = Math.min(5, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return power === 0 ? String(value) : `${readable(value / 1000 ** power)}\u00a0${' kMGTP'[power]}`;
}

/** The same to two digits, for the finding. */
const brief = (value: number) => short(Number(value.toPrecision(2)));

export const figure: Figure<typeof controls, Data> = {
  name: 'cost',
  title: 'What each way to give positions costs',
  controls,
  source: () => 'exact',

  /** A named shape sets the numbers; another number makes the shape the reader's own. */
  settle(state, changed) {
    const shape = shapes[state.model];
    let settled: State = state;
    if (shape && !isOf(shape, state)) {
      // A link may name a shape and leave its numbers out.
      const named = changed === 'model' || (changed === undefined && isOf(shapes.bert as Shape, state));
      settled = named ? { ...state, ...shape } : { ...state, model: 'own' };
    }
    // No more tokens at once than there are positions.
    return settled.context > settled.positions ? { ...settled, context: settled.positions } : settled;
  },

  scene(data, state, width) {
    const { blocks, height } = arrange(width);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    const roomy = width >= 560;
    measures.forEach(({ name, label }, place) => {
      const area = blocks[place] as (typeof blocks)[0];
      const ratios = data.costs.map((cost) => ratio(cost, data, name));
      const more = ratios.filter(Number.isFinite).map((one) => one - 1);
      const texts = data.costs.map((cost, way) =>
        cost ? `${short(cost[name])}\u2002${times(ratios[way] as number)}` : 'no room',
      );
      marks.push(
        { mark: 'text', x: 0, y: area.y - 8, text: label, ink: 'ink', size: 13, bold: true },
        ...bars(
          area,
          ways.map(({ label, short }, way) => ({
            label: `${roomy ? label : short}${data.costs[way]?.headsDivide === false ? ' *' : ''}`,
            value: (ratios[way] as number) - 1,
            text: texts[way] as string,
            ink: inkOf(way),
          })),
          Math.min(...more),
          Math.max(...more),
        ),
      );
      const middles = ways.map((_, way) => area.y + ((way + 0.5) * area.height) / ways.length);
      // A ring in the margin marks the row; a cell's frame would lie over all bars.
      const margin = ways.map(() => gutter / 3);
      regions.push({
        ...area,
        x: 0,
        width,
        pick: { points: { x: margin, y: middles, cursors: ways.map((_, i) => ({ i, j: 0 })) } },
        rows: ways.length,
        columns: 1,
      });
    });
    const foot = (line: number, text: string): Mark => ({
      mark: 'text',
      x: 0,
      y: height - 26 + 17 * line,
      text,
    });
    const odd = [
      ...new Set(data.costs.filter((cost) => cost?.headsDivide === false).map((cost) => cost?.width)),
    ];
    marks.push(
      foot(
        0,
        roomy ? 'Bars: more, or less, than adding takes, which is ×1' : 'Bars: from what adding takes, ×1',
      ),
    );
    if (odd.length > 0) {
      marks.push(foot(1, `* ${state.heads} heads do not divide ${odd.join(' or ')}`));
    }
    return { width, height, marks, regions };
  },

  /** Frames the row in every list. */
  focus(_, __, { i }, width) {
    return arrange(width).blocks.map(({ x, y, width: wide, height }): Mark => {
      const row = height / ways.length;
      return { mark: 'box', x: x - 6, y: y + i * row, width: wide + 6, height: row, stroke: 'quiet' };
    });
  },

  describe(data, { d, d_position, heads }) {
    const [add, wide, narrow, project, queryKey] = data.costs as [Cost, Cost, Cost | undefined, Cost, Cost];
    const total = (cost: Cost) => times(ratio(cost, data, 'total'));
    const odd = wide.headsDivide ? '' : `, which ${heads} heads do not divide`;
    const less = narrow
      ? `With the token ${d_position} channels narrower instead it takes ${total(narrow)}`
      : `The token cannot be ${d_position} channels narrower than ${d}`;
    return `Adding takes ${brief(add.total)} parameters; with ${d_position} more channels for the position the stream is ${wide.width} wide${odd}, and the model takes ${brief(wide.total)}, ${total(wide)}. ${less}; joined and mapped back to ${d}, ${total(project)}; joined in queries and keys only, ${total(queryKey)}, and its cache grows to ${times(ratio(queryKey, data, 'kvCache'))}.`;
  },

  cells: () => ({ rows: ways.length, columns: 1 }),
  firstCursor: () => ({ i: 1, j: 0 }),

  readout(data, { heads, d, d_position }, { i }) {
    const cost = data.costs[i];
    const { label = '', way } = ways[i] ?? {};
    if (!cost) return [{ text: label, strong: true }, `: dₚ = ${d_position} leaves nothing of d = ${d}.`];
    const own =
      way === 'query_key'
        ? `, position queries and keys ${data.d_position_head} wide in each head`
        : cost.headsDivide
          ? ''
          : `, which ${heads} heads do not divide`;
    return [
      { text: label, strong: true },
      ` (stream ${cost.width} wide${own}): ${measures
        .map(({ name, unit }) => `${short(cost[name])} ${unit}`)
        .join(', ')}.`,
    ];
  },

  table(data) {
    return {
      columns: [
        'way',
        'stream width',
        'heads divide it',
        'tables',
        'map back',
        'a layer',
        ...measures.flatMap(({ unit }) => [unit, 'times adding']),
      ],
      rows: ways.map(({ label }, place) => {
        const cost = data.costs[place];
        if (!cost) return [label, ...Array.from({ length: 11 }, () => 'no room')];
        return [
          label,
          cost.width,
          cost.headsDivide ? 'yes' : 'no',
          cost.tables,
          cost.projection,
          cost.layer,
          ...measures.flatMap(({ name }) => [cost[name], ratio(cost, data, name)]),
        ];
      }),
    };
  },
};

const inkOf = (way: number): Ink => (way === 0 ? 'quiet' : 'accent');

/** Space left of the lists, for the mark of a row. */
const gutter = 22;

/** Three lists of bars, one below the other. */
function arrange(width: number) {
  const high = ways.length * 22;
  const step = high + 44;
  return {
    blocks: measures.map((_, place) => ({
      x: gutter,
      y: 24 + place * step,
      width: width - gutter,
      height: high,
    })),
    height: measures.length * step + 40,
  };
}
