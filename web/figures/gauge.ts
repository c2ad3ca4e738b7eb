import type { SmallSuperpose } from 'superpose';
import { minus, percent, readable } from '../plot/format.js';
import { changeText } from '../plot/gap.js';
import type { Compute, Figure, Job, Library, ReadoutPiece } from './figure.js';
import { apartOf } from './gaugeControl.js';
import {
  arrangeParts,
  compare,
  farthest,
  type Matrix,
  type Parts,
  partsFinding,
  partsScene,
  partsTable,
  planeOf,
  values,
} from './gaugeParts.js';
import { amounts, at, controls, type HeadOfLayer, placeOf, type State } from './gaugeSettings.js';
import { type Turned, turn, turnedFinding, turnedScene, turnedTable } from './gaugeTurned.js';
import { queryAndKey } from './pairs.js';
import { type Layer, type LayerSummands, seededLayer } from './seededLayer.js';
import { fetching, mostTokens, sentenceRemark, trainedOrSeeded } from './sentence.js';
import { termKinds } from './terms.js';

type Data = Turned | Parts;

const isTurned = (data: Data): data is Turned => 'amounts' in data;

// All places of the slider are computed at once; moving it computes nothing. Nor does centring.
export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const { of, weights, text, head, gauge, n, seed } = state;
  const drawn = of === 'parts' && weights === 'seeded';
  const key = [of, head, ...(of === 'parts' ? [gauge] : []), ...(drawn ? [n, seed] : [text])];
  return library.kept('gauge', key, () => computed(library, state, job));
};

export async function computed(library: Library, state: State, job: Job): Promise<Data> {
  const { of, weights, text, head, gauge } = state;
  const drawn = of === 'parts' && weights === 'seeded';
  const given = drawn ? seeded(library, await library.small(), state) : await trained(library, text);
  const { tokens, dropped, summands } = given;
  const layer: HeadOfLayer = { ...given.layer, only: [head] };
  return of === 'gauge'
    ? { tokens, dropped, amounts, ...(await turn(await library.superpose(), summands, layer, job)) }
    : {
        tokens,
        dropped,
        ...compare(await library.small(), summands, layer, { gauge, apart: apartOf(gauge, weights) }),
      };
}

interface SentenceLayer {
  tokens: readonly string[];
  dropped: number;
  summands: LayerSummands;
  layer: Layer;
}

async function trained(library: Library, text: string): Promise<SentenceLayer> {
  const model = await library.miniLM();
  const sentence = await model.tokenize(text, mostTokens);
  const { tokens, dropped } = sentence;
  return { tokens, dropped, summands: await model.rows(sentence), layer: await model.layer() };
}

function seeded(library: Library, superpose: SmallSuperpose, { n, seed }: State): SentenceLayer {
  const tokens = Array.from({ length: n }, (_, place) => `token ${place}`);
  return { tokens, dropped: 0, ...seededLayer(library, superpose, n, seed) };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'gauge',
  title: 'Two mistakes: raw shares, and parts normalized one by one',
  controls,
  source: ({ of, weights }) => (of === 'gauge' ? 'trained' : weights),
  waiting: fetching,
  unused: (state) =>
    state.of === 'gauge'
      ? ['weights', 'gauge', 'n', 'seed', 'centred']
      : ['amount', ...trainedOrSeeded.unused(state)],

  scene: (data, state, width) =>
    isTurned(data) ? turnedScene(data, state, width) : partsScene(data, state, width),

  /** A line from what the terms should add up to, to what the separately normalized ones do. */
  focus(data, state, { i, j }, width) {
    if (isTurned(data)) return [];
    const { x, y } = planeOf(data, state, arrangeParts(width).scatter);
    const cell = i * data.n + j;
    const across = x(at(values(data.direct, state), cell));
    const [y1, y2] = [data.exact, data.separate].map((matrix) => y(at(values(matrix, state), cell))) as [
      number,
      number,
    ];
    if (!Number.isFinite(across + y1 + y2)) return [];
    return [{ mark: 'line', x1: across, x2: across, y1, y2, ink: 'warning', wide: 2.5 }];
  },

  describe: (data, state) => (isTurned(data) ? turnedFinding(data, state) : partsFinding(data, state)),

  cells: (data) =>
    isTurned(data) ? { rows: 1, columns: amounts.length } : { rows: data.n, columns: data.n },
  firstCursor: (data, state) => (isTurned(data) ? { i: 0, j: placeOf(state) } : farthest(data)),

  readout(data, state, { i, j }) {
    if (isTurned(data)) {
      const of = (gauge: 'raw' | 'canonical') =>
        termKinds.flatMap(({ label, term }, kind): ReadoutPiece[] => [
          { text: `${label} ${percent(data[gauge][j]?.[kind] as number)}`, term },
          kind === termKinds.length - 1 ? '. ' : ', ',
        ]);
      return [
        {
          text: `${minus(String(data.amounts[j]))} × the mean position row moved to the tokens`,
          strong: true,
        },
        `: scores change by ${changeText(data.changes[j] as number)}. Raw: `,
        ...of('raw'),
        'Canonical: ',
        ...of('canonical'),
      ];
    }
    const cell = i * data.n + j;
    const shown = (matrix: Matrix) => readable(at(values(matrix, state), cell));
    return [
      ...queryAndKey(data.tokens, { i, j }),
      `score ${shown(data.direct)}${state.centred ? ' above its row’s mean' : ''}; `,
      { text: `sum of the terms ${shown(data.exact)}`, ink: 'accent' },
      '; ',
      { text: `parts normalized one by one ${shown(data.separate)}`, ink: 'warning' },
      '.',
    ];
  },

  tokens: (data, state) => (isTurned(data) ? undefined : trainedOrSeeded.tokens(data, state)),
  remark: (data, state) =>
    isTurned(data) ? sentenceRemark(data.tokens, data.dropped) : trainedOrSeeded.remark(data, state),

  table: (data, state) => (isTurned(data) ? turnedTable(data) : partsTable(data, state)),
};
