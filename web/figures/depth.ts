// Figure "Where position goes": the share of position in each layer's state and scores, and the heads that
// read position.
import { about, aboutPercent, percent, readable } from '../plot/format.js';
import {
  type Area,
  boxAt,
  dotsAt,
  edgeRoom,
  edges,
  lineThrough,
  map,
  plane,
  textAt,
  tickText,
} from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls } from './controls.js';
import type { Compute, Figure, Job, Library, TextModel, UserTextModel } from './figure.js';
import { kindOf } from './terms.js';
import {
  fetchingLayers,
  layersControl,
  nothingToShare,
  quoted,
  sentenceControl,
  sentenceRemark,
  textModel,
  watching,
} from './trainedModel.js';
import { hasPositionTable, hasTerms, inputOf, layersOf, modelRemark } from './userModelControls.js';

const controls = {
  layers: layersControl,
  text: sentenceControl,
} as const satisfies Controls;

/** The most tokens in the map beside the heads. */
const mostShown = 32;

export interface Depth {
  text: string;
  tokens: readonly string[];
  dropped: number;
  /** [layers + 1]; empty until the later layers have been read. */
  states: { energy: number; directions: number; table: number }[];
  /**
   * Set if the shares are by mechanism, for a model without a position table; its directions are then
   * unknown.
   */
  mechanism?: true;
  windows: number;
  sentences: number;
  /** How many layers the model has, whether they have been read or not. */
  layers: number;
  /** [layers, heads], the share of position → position. */
  heads: number[][];
  /** [layers][heads · n · n] */
  attention: ArrayLike<number>[];
}

export const compute: Compute<typeof controls, Depth> = async (library, { layers, text }, job) => {
  const recorded = layers === 'none' ? await library.recorded?.('depth') : undefined;
  if (recorded) return recorded as Depth;
  const { userModel } = library;
  if (userModel?.means) return ofMechanism(library, userModel, text, job);
  if (userModel && layers === 'none') return ofFirstLayer(library, userModel, text);
  return ofAllLayers(library, await textModel(library), text, job);
};

async function ofAllLayers(library: Library, model: TextModel, text: string, job: Job): Promise<Depth> {
  const sentence = await model.tokenize(text, mostShown);
  const { tokens, dropped } = sentence;
  const all = model.layers;
  // The means do not depend on the sentence. Fetching is the first third of the progress.
  const part = 1 / 3;
  const means = await library.memoize('corpus means', '', () =>
    model.corpusMeans({
      ...watching(job, part),
      done: (share) => job.progress(part + (1 - part) * share),
    }),
  );
  const forward = await model.forward(sentence, { signal: job.signal });
  const shares = Array.from(means.heads.data);
  return {
    text,
    tokens,
    dropped,
    windows: means.windows,
    sentences: means.sentencesOfHeads,
    states: means.states.map(({ positionEnergy, participationRatio, cosineWithFirst }) => ({
      energy: positionEnergy,
      directions: participationRatio,
      table: cosineWithFirst,
    })),
    layers: all,
    heads: Array.from({ length: all }, (_, layer) =>
      shares.slice(layer * model.heads, (layer + 1) * model.heads),
    ),
    attention: Array.from({ length: all }, (_, layer) => forward.attention(layer)),
  };
}

/** What is shown of a reader's own model before its later layers are read. */
async function ofFirstLayer(library: Library, model: UserTextModel, text: string): Promise<Depth> {
  const superpose = await library.superpose();
  const sentence = await model.tokenize(text, mostShown);
  const { tokens, dropped } = sentence;
  const scores = await model.layerScores(sentence, { layer: 0, gauge: 'canonical' });
  const count = scores.parts.length ** 2;
  const positionWithPosition = scores.parts.length + 1;
  const shares = scores.heads.map((head) => scores.shares[count * head + positionWithPosition] as number);
  const allTerms = [Array<boolean>(count).fill(true)];
  const attention = scores.heads.flatMap((head) =>
    superpose.combineTerms(scores, head, allTerms).flatMap(({ softmax }) => Array.from(softmax)),
  );
  return {
    text,
    tokens,
    dropped,
    states: [],
    windows: 0,
    sentences: 0,
    layers: model.layers,
    heads: [shares],
    attention: [attention],
  };
}

/** The data of a reader's own model without a position table: by mechanism, with the means over a corpus. */
async function ofMechanism(library: Library, model: UserTextModel, text: string, job: Job): Promise<Depth> {
  const superpose = await library.superpose();
  const sentence = await model.tokenize(text);
  const { means } = model as Required<UserTextModel>;
  const heads: number[][] = [];
  // The last layer first, because running the model that far leaves what the other layers need.
  for (let layer = model.layers - 1; layer >= 0; layer--) {
    const scores = await model.layerScores(sentence, { layer, gauge: 'canonical', signal: job.signal });
    const shares = superpose.poolShares([scores], kindOf).heads;
    const kinds = shares.length / scores.heads.length;
    heads[layer] = scores.heads.map((_, head) => shares[kinds * head + 3] as number);
    job.progress((model.layers - layer) / model.layers);
  }
  const forward = await model.forward(sentence, { signal: job.signal });
  const { states, windows } = means();
  return {
    text,
    tokens: sentence.tokens,
    dropped: sentence.dropped,
    mechanism: true,
    // Token rows carry no position before the first layer. Without a position table, nothing can be said
    // about its directions or about how much of it is left.
    states: states.map(({ positionEnergy }, passed) => ({
      energy: passed === 0 ? 0 : positionEnergy,
      directions: Number.NaN,
      table: Number.NaN,
    })),
    windows,
    sentences: 1,
    layers: model.layers,
    heads,
    attention: Array.from({ length: model.layers }, (_, layer) => forward.attention(layer)),
  };
}

const panels = [
  {
    of: 'energy',
    title: 'position, % of the state',
    print: (value: number) => tickText(Math.round(100 * value)),
  },
  { of: 'directions', title: 'directions of position', print: (value: number) => `${value}` },
  { of: 'table', title: 'cosine with the table’s', print: (value: number) => `${value}` },
] as const;

const panelsOf = ({ mechanism }: Depth) => (mechanism ? panels.slice(0, 1) : panels);

/** The least share whose number is printed in the head's cell. */
const positional = 0.4;

/** The heads with a map beside them and, once the states are known, panels above them. */
function arrange(data: Depth, width: number) {
  const wide = width >= 640;
  const high = data.states.length > 0 ? (wide ? 190 : 150) : 0;
  const shown = panelsOf(data);
  const each = wide ? (width + 16) / shown.length - 16 : width;
  const panelAreas = shown.map(
    (_, place): Area =>
      wide
        ? { x: place * (each + 16), y: 0, width: each, height: high }
        : { x: 0, y: place * (high + 8), width, height: high },
  );
  const top = high === 0 ? 0 : wide ? high + 14 : shown.length * (high + 8) + 8;
  const headsWide = wide ? Math.floor((width - 24) * 0.56) : width;
  const row = wide ? 30 : 20;
  const titled = 40;
  const heads: Area = { x: 22, y: top + titled, width: headsWide - 22, height: row * data.heads.length };
  // Layers that have not been read keep the space of their rows or, on a phone, of a note about them.
  const missing = data.layers - data.heads.length;
  const bottom = heads.y + heads.height + (wide ? row * missing : Math.min(row * missing, 68));
  const side = Math.min((wide ? width - headsWide - 24 : width) - edgeRoom.left, 260);
  const square: Area = wide
    ? { x: headsWide + 24 + edgeRoom.left, y: top + titled, width: side, height: side }
    : { x: edgeRoom.left, y: bottom + titled + 26, width: side, height: side };
  return {
    panelAreas,
    top,
    row,
    heads,
    bottom,
    square,
    height: Math.max(bottom + 30, square.y + side + edgeRoom.below + 2),
  };
}

/** The place of the largest of the numbers that are finite; −1 if none is. */
const largestAt = (values: readonly number[]) => values.indexOf(Math.max(...values.filter(Number.isFinite)));

/** The mean share of the heads whose scores vary; NaN if none do. */
function averageOf(shares: readonly number[]): number {
  const known = shares.filter(Number.isFinite);
  return known.reduce((sum, share) => sum + share, 0) / known.length;
}

/** A share in words, or “nothing” if the scores do not vary. */
const partOf = (share: number) => (Number.isFinite(share) ? aboutPercent(share) : 'nothing');

/** The layer and head shown before the reader points at one: it attends to the previous token. */
const opening = { i: 0, j: 2 };

/** A head's attention in the sentence. */
function attentionAt(data: Depth, layer: number, head: number, width: number): Mark[] {
  const { square } = arrange(data, width);
  const n = data.tokens.length;
  const ofLayer = data.attention[layer] as ArrayLike<number>;
  const values = Array.from({ length: n * n }, (_, cell) => ofLayer[head * n * n + cell] as number);
  return [
    ...map(square, { values, rows: n, columns: n, low: 0, high: 1, scale: 'sequential' }).marks,
    ...edges(square),
    textAt(square.x, square.y - 26, `attention of layer ${layer}, head ${head}`, { ink: 'ink' }),
    textAt(square.x, square.y - 8, quoted(data.text, 30), { ink: 'quiet' }),
  ];
}

export const figure: Figure<typeof controls, Depth> = {
  name: 'depth',
  title: 'Where position goes',
  controls,
  source: () => 'trained',
  waiting: fetchingLayers,
  unused: ({ layers }) => (layers === 'none' ? ['text'] : []),
  redraws: true,

  forModel(model) {
    const { fixed, controls } = inputOf(model);
    const remark = modelRemark(model);
    if (model.windows !== undefined) return { fixed: { ...fixed, layers: 'all' }, controls, remark };
    // The corpus is text, so the model must have a tokenizer.
    if (!hasTerms(model) || !hasPositionTable(model) || model.layers === 0 || !model.readsText)
      return undefined;
    // Nothing was computed beforehand, so the text is used from the start.
    return { controls: { layers: layersOf(model) }, unused: () => [], remark };
  },

  scene(data, _, width, __, cursor) {
    const { panelAreas, top, row, heads, bottom, height } = arrange(data, width);
    const places = data.states.map((_, place) => place);
    const marks: Mark[] = [];
    if (data.states.length > 0) {
      panelsOf(data).forEach(({ of, title, print }, panel) => {
        const values = data.states.map((state) => state[of]);
        const known = values.filter(Number.isFinite);
        const drawn = plane(
          panelAreas[panel] as Area,
          { from: 0, to: places.length - 1, label: 'layers passed', nice: false, ticks: places.length },
          // With few windows, noise can push the estimate for a layer without position below zero.
          { from: Math.min(0, ...known), to: Math.max(0, ...known), label: title, print, ticks: 4 },
        );
        marks.push(
          ...drawn.marks,
          { mark: 'path', d: lineThrough(drawn, places, values), stroke: 'position-position', wide: 2 },
          dotsAt(
            places.filter((place) => Number.isFinite(values[place])).map(drawn.x),
            known.map(drawn.y),
            3.5,
            'position-position',
          ),
        );
      });
    }
    const values = data.heads.flat();
    const cells = map(heads, {
      values,
      rows: data.heads.length,
      columns: data.heads[0]?.length ?? 0,
      low: 0,
      high: 1,
      scale: 'sequential',
    });
    const column = heads.width / (data.heads[0]?.length ?? 1);
    marks.push(...cells.marks, textAt(0, top + 13, 'position → position, % of scores', { ink: 'ink' }));
    data.heads.forEach((shares, layer) => {
      marks.push(textAt(0, heads.y + (layer + 0.5) * row + 4, String(layer), { ink: 'quiet' }));
      shares.forEach((share, head) => {
        if (layer === 0) {
          const x = heads.x + (head + 0.5) * column;
          marks.push(textAt(x, heads.y - 6, String(head), { anchor: 'middle', ink: 'quiet' }));
        }
        if (!(share >= positional)) return;
        const [x, y] = [heads.x + (head + 0.5) * column, heads.y + (layer + 0.5) * row];
        // On a box in the colour of paper, because no ink is readable on every colour of the scale.
        marks.push(
          { mark: 'box', x: x - 10, y: y - 8, width: 20, height: 16, fill: 'paper' },
          textAt(x, y + 4, `${Math.round(100 * share)}`, { anchor: 'middle', ink: 'ink', bold: true }),
        );
      });
    });
    const known = heads.y + heads.height;
    if (known < bottom) {
      marks.push(boxAt([heads.x, known, heads.width, bottom - known], { fill: 'field' }));
    }
    marks.push(textAt(0, bottom + 18, 'rows: layers from 0; columns: heads', { ink: 'quiet' }));
    const { i, j } = cursor ?? opening;
    marks.push(...attentionAt(data, Math.min(i, data.heads.length - 1), j, width));
    return { width, height, marks, regions: [cells.region] };
  },

  describe(data) {
    const { states, windows, sentences } = data;
    const most = largestAt(data.heads.map(averageOf));
    if (most < 0) return nothingToShare(data.tokens.length);
    if (states.length === 0) {
      const [first] = data.heads as [number[]];
      const most = largestAt(first);
      return `Head ${most} of the first layer is ${aboutPercent(first[most] as number)} position → position in this sentence. Shares are in the canonical gauge. The later layers are not here yet.`;
    }
    const all = data.heads.map(averageOf);
    const [first, last] = [states[0], states.at(-1)] as [(typeof states)[0], (typeof states)[0]];
    const of = data.mechanism ? 'by mechanism, for this sentence' : `over ${sentences} sentences`;
    const left = data.mechanism
      ? 'The gauge is the corpus’s means.'
      : Number.isFinite(last.table)
        ? `What is left of the table’s own directions falls to a cosine of ${about(last.table)}. Shares are in the canonical gauge.`
        : 'Positions have no directions there. Shares are in the canonical gauge.';
    return `Position is ${partOf(first.energy)} of the first layer’s input, ${partOf(last.energy)} of the last one’s output. That is over ${windows} windows of a corpus. The scores use it most in layer ${most} of 0 to ${all.length - 1}, where position → position makes up ${aboutPercent(all[most] as number)} of the average head, ${of}; in layer 0 it is ${partOf(all[0] as number)} and in layer ${all.length - 1} ${partOf(all.at(-1) as number)}. ${left}`;
  },

  cells: ({ heads }) => ({ rows: heads.length, columns: heads[0]?.length ?? 1 }),
  firstCursor: () => opening,

  readout(data, _, { i, j }) {
    const share = data.heads[i]?.[j] as number;
    const state = data.states[i];
    return [
      { text: `Layer ${i}, head ${j}`, strong: true },
      ': ',
      { text: `position → position ${percent(share)}`, term: 'position-position' },
      state
        ? `. Of what this layer reads, position is ${percent(state.energy)}${data.mechanism ? '' : `, in ${readable(state.directions)} directions, cosine ${readable(state.table)} with the table’s`}.`
        : '.',
    ];
  },

  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table: (data) => ({
    columns: [
      'layer',
      'position, share of the state it reads',
      'directions',
      'cosine with the table’s',
      ...(data.heads[0] ?? []).map((_, head) => `head ${head}, position → position`),
      'gauge',
    ],
    rows: data.heads.map((shares, layer) => {
      const state = data.states[layer];
      return [
        layer,
        state?.energy ?? Number.NaN,
        state?.directions ?? Number.NaN,
        state?.table ?? Number.NaN,
        ...shares,
        data.mechanism ? 'corpus-mean' : 'canonical',
      ];
    }),
  }),
};
