// Figure "Order without positions": what shuffling the words before the last one does to its output.
import type { AttentionLayer, BothModules, PermutationEffect, Table } from 'superpose';
import { about, counted, readable } from '../plot/format.js';
import { changeText } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, multiples, titleHeight } from '../plot/parts.js';
import type { Ink, Mark, Region, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';

const controls = {
  shuffle: {
    kind: 'choice',
    label: 'Tokens before the last',
    options: {
      drawn: 'Shuffled',
      reversed: 'Reversed',
      swapped: 'First two swapped',
      none: 'Left as they are',
    },
    initial: 'drawn',
  },
  n: { kind: 'range', label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 12 },
  depth: { kind: 'range', label: 'Layers, at most', min: 1, max: 4, step: 1, initial: 2 },
  heads: { kind: 'steps', more: true, label: 'Heads', values: [1, 2, 4, 8], initial: 4 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Case {
  causal: boolean;
  depth: number;
  /** [2, d], the last token's output with the words in order, and with the words shuffled. */
  outputs: Float64Array;
  /** Their largest difference. */
  last: number;
  /** The largest difference of any token's output, each compared with its own. */
  any: number;
}

interface Data {
  n: number;
  d: number;
  cases: Case[];
}

const d_model = 32;
const streams = { input: 0, permutation: 1, layers: 2 };

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { n, seed, depth } = state;
  const input = superpose.randomNormal({ rows: n, columns: d_model, seed, stream: streams.input });
  const layers = Array.from({ length: depth }, (_, layer) => layerOf(superpose, state, layer));
  const permutation = permutationOf(superpose, state);
  const cases = [false, true].flatMap((causal) =>
    layers.map((_, above) => {
      const used = layers.slice(0, above + 1);
      const effect = superpose.permutationEffect({ input, layers: used, causal, permutation });
      return { causal, depth: above + 1, ...changes(effect, n) };
    }),
  );
  return { n, d: d_model, cases };
};

function changes({ output, permuted, last, equivariance }: PermutationEffect, n: number) {
  const outputs = new Float64Array(2 * d_model);
  outputs.set(output.subarray((n - 1) * d_model, n * d_model));
  outputs.set(permuted.subarray((n - 1) * d_model, n * d_model), d_model);
  return { outputs, last, any: equivariance };
}

function layerOf(superpose: BothModules, { seed, heads }: State, layer: number): AttentionLayer {
  const weight = (which: number): { weight: Table<Float64Array> } => ({
    weight: superpose.randomNormal({
      rows: d_model,
      columns: d_model,
      seed,
      stream: streams.layers + 4 * layer + which,
      standardDeviation: 'fan_in',
    }),
  });
  return { query: weight(0), key: weight(1), value: weight(2), output: weight(3), heads };
}

/** The last token stays where it is. */
function permutationOf(superpose: BothModules, { n, seed, shuffle }: State): number[] {
  const before = Array.from({ length: n - 1 }, (_, place) => place);
  if (shuffle === 'reversed') before.reverse();
  if (shuffle === 'swapped' && n > 2) [before[0], before[1]] = [1, 0];
  if (shuffle === 'drawn' && n > 2) {
    const { data } = superpose.randomUniform({ rows: n - 1, columns: 1, seed, stream: streams.permutation });
    before.sort((a, b) => (data[a] as number) - (data[b] as number));
  }
  return [...before, n - 1];
}

const nameOf = ({ causal, depth }: Case): string =>
  `${causal ? 'causal' : 'both ways'}, ${counted(depth, 'layer')}`;

const inkOf = ({ causal }: Case): Ink => (causal ? 'accent' : 'second');

/** Below this, two outputs differ by rounding alone. */
const rounding = 1e-10;

interface Group {
  title: string;
  value(one: Case): number;
}

const groups: Group[] = [
  { title: 'Change of the last output', value: ({ last }) => last },
  { title: 'Change of any token’s output', value: ({ any }) => any },
];

export const figure: Figure<typeof controls, Data> = {
  name: 'order',
  title: 'What a network without positions knows of order',
  controls,
  source: () => 'seeded',

  scene(data, _, width) {
    const { cases, d } = data;
    const at = arrange(data, width);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    groups.forEach((group, place) => {
      marks.push(...changeBars(at.bars(place), data, group));
    });
    const limit = largestMagnitude(cases.map(({ outputs }) => outputs)) || 1;
    cases.forEach((one, place) => {
      const drawn = map(at.strip(place), {
        values: one.outputs,
        rows: 2,
        columns: d,
        low: -limit,
        high: limit,
        scale: 'diverging',
        title: nameOf(one),
      });
      marks.push(...drawn.marks);
      regions.push(drawn.region);
    });
    marks.push(
      {
        mark: 'text',
        x: 0,
        y: at.heading,
        text: 'The last token’s output',
        ink: 'ink',
        size: 14,
        bold: true,
      },
      {
        mark: 'text',
        x: 0,
        y: at.heading + 19,
        text: at.narrow
          ? 'above: in order; below: rearranged'
          : 'each column a channel; upper row: tokens in order; lower row: tokens rearranged',
      },
      ...colourKey(0, at.key, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: 'value of a channel',
        print: readable,
      }),
    );
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  describe({ cases, n }, { shuffle }) {
    if (n === 2 || shuffle === 'none') {
      return 'The tokens before the last one stand as they did, so nothing can change.';
    }
    const say = (list: Case[]): string => {
      const fixed = list.filter(({ last }) => last < rounding);
      const moved = list.filter(({ last }) => last >= rounding);
      const parts: string[] = [];
      if (fixed.length) {
        const most = Math.max(...fixed.map(({ last }) => last));
        parts.push(`the last output changes by ${changeText(most)} with ${layersOf(fixed)}`);
      }
      for (const one of moved) parts.push(`with ${layersOf([one])} it changes by ${about(one.last)}`);
      return parts.join('; ');
    };
    const [both, causal] = [cases.filter((one) => !one.causal), cases.filter((one) => one.causal)];
    const seeing = cases.filter(({ last }) => last >= rounding).length;
    const head = `${seeing || 'None'} of ${cases.length} networks ${seeing > 1 ? 'see' : 'sees'} the order of the earlier tokens.`;
    return `${head} When every token attends to all, ${say(both)}. When each attends to itself and to those before it, ${say(causal)}.`;
  },

  cells: ({ d }) => ({ rows: 2, columns: d }),

  /** The channel that changes most in the deepest causal network. */
  firstCursor({ cases, d }) {
    const { outputs } = cases.at(-1) as Case;
    let widest = 0;
    const gap = (j: number) => Math.abs((outputs[j] as number) - (outputs[d + j] as number));
    for (let j = 1; j < d; j++) if (gap(j) > gap(widest)) widest = j;
    return { i: 1, j: widest };
  },

  readout(data, _, { i, j }) {
    const cell = i * data.d + j;
    return [
      `Channel ${j} of the last output, tokens ${i === 0 ? 'in order' : 'rearranged'}: `,
      ...data.cases.flatMap((one, place) => [
        place === 0 ? '' : '; ',
        `${nameOf(one)} ${readable(one.outputs[cell] ?? Number.NaN)}`,
      ]),
      '.',
    ];
  },

  table({ cases, d }) {
    return {
      columns: [
        'attention',
        'layers',
        'largest change of the last output',
        'largest change of any output',
        ...Array.from({ length: d }, (_, channel) => `in order ${channel}`),
        ...Array.from({ length: d }, (_, channel) => `rearranged ${channel}`),
      ],
      rows: cases.map(({ causal, depth, outputs, last, any }) => [
        causal ? 'causal' : 'both ways',
        depth,
        last,
        any,
        ...outputs,
      ]),
    };
  },
};

function layersOf(list: Case[]): string {
  const depths = list.map(({ depth }) => depth);
  const many = depths.length > 1;
  const last = depths.at(-1) as number;
  return many ? `${depths.slice(0, -1).join(', ')} or ${last} layers` : counted(last, 'layer');
}

function arrange({ cases }: Data, width: number) {
  const narrow = width < 600;
  const row = 26;
  const barsHeight = cases.length * row + 30;
  const across = multiples(width, 300, 2, 36);
  const heading = (across.columns === 2 ? barsHeight : 2 * barsHeight + 12) + 26;
  const grid = multiples(width, 260, 2, 24);
  const stripHeight = titleHeight() + 36;
  const rows = Math.ceil(cases.length / grid.columns);
  const top = heading + 30;
  const key = top + rows * (stripHeight + 12) + 4;
  return {
    narrow,
    bars(place: number): Area {
      const { row, x } = across.at(place);
      return { x, y: row * (barsHeight + 12), width: across.width, height: barsHeight };
    },
    heading,
    strip(place: number): Area {
      // Each kind of attention has a column of its own, with deeper networks further down.
      const perKind = cases.length / 2;
      const slot =
        grid.columns === 2
          ? { x: place < perKind ? 0 : grid.width + 24, row: place % perKind }
          : { x: 0, row: place };
      return { x: slot.x, y: top + slot.row * (stripHeight + 12), width: grid.width, height: stripHeight };
    },
    key,
    height: key + 34,
  };
}

/** What does not change has no bar. */
function changeBars({ x, y, width, height }: Area, { cases }: Data, { title, value }: Group): Mark[] {
  const list = cases.map((one) => {
    const size = value(one);
    return { label: nameOf(one), value: size < rounding ? 0 : size, text: changeText(size), ink: inkOf(one) };
  });
  const most = Math.max(...list.map((one) => one.value));
  return [
    { mark: 'text', x, y: y + 13, text: title, ink: 'ink', size: 13 },
    ...bars({ x, y: y + 24, width, height: height - 30 }, list, 0, most),
  ];
}
