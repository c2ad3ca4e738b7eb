// Figure "Does it need positions?": what becomes of a sentence's embedding, layer by layer, when its
// positions are replaced or shifted, when its words are shuffled or reversed, and when positions are removed
// from values or attention alone. Another sentence gives the scale.
import type { PositionChange, Sentence, Superpose, Table } from 'add-or-concatenate';
import { about, counted, readable } from '../plot/format.js';
import { lineThrough, namedLines, plane } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Job, ReadoutPiece, TextModel } from './figure.js';
import {
  fetchingLayers,
  layersControl,
  mostTokens,
  quoted,
  sentenceControl,
  sentenceRemark,
  textModel,
  watching,
} from './trainedModel.js';
import type { UserModel } from './userFile.js';
import {
  hasPositionTable,
  hasTerms,
  idsControl,
  inputOf,
  layersOf,
  unverified,
} from './userModelControls.js';

/** Sentences that differ in who does what, and one that says the same in other words. */
const pairs = {
  yours: ['', ''],
  dog: ['The dog bit the man.', 'The man bit the dog.'],
  passive: ['The dog bit the man.', 'The man was bitten by the dog.'],
  teacher: ['The teacher praised the student.', 'The student praised the teacher.'],
} as const;

const controls = {
  view: {
    kind: 'choice',
    label: 'What is changed',
    options: {
      changes: 'Positions or order',
      readers: 'Who reads positions',
    },
    initial: 'changes',
    radio: true,
  },
  layers: layersControl,
  pair: {
    kind: 'choice',
    label: 'Sentences',
    options: {
      yours: 'Yours and another',
      dog: 'Dog bit man, man bit dog',
      passive: 'The same in the passive',
      teacher: 'Teacher and student',
    },
    initial: 'yours',
  },
  text: sentenceControl,
  other: {
    kind: 'text',
    more: true,
    label: 'Another sentence',
    initial: 'Interest rates rose again in spring.',
    longest: 5000,
  },
  shift: { kind: 'steps', more: true, label: 'Shift positions by', values: [1, 8, 64, 384], initial: 64 },
  seed: { kind: 'seed', more: true, label: 'Shuffle', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Curve {
  name: string;
  ink: Ink;
  dashed: boolean;
  /** [layers + 1], the cosine with the unchanged embedding. */
  cosines: number[];
}

interface Data {
  tokens: readonly string[];
  /** The first token's name in sentences; empty if it is a word like the others. */
  first: string;
  dropped: number;
  texts: [string, string];
  shuffled: readonly string[];
  curves: Curve[];
  /**
   * The cosine between the sentence and the other one, or its own other order: in the unchanged model, then
   * for each curve.
   */
  orders?: number[];
  /** How many layers are on the axis, whether they have been read or not. */
  layers: number;
  /** Rows of the position table. */
  positions: number;
}

const textsOf = ({ pair, text, other }: State): [string, string] =>
  pair === 'yours' ? [text, other] : [pairs[pair][0], pairs[pair][1]];

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const recorded = state.layers === 'none' ? await library.recorded?.('needsPositions') : undefined;
  if (recorded) return (recorded as Record<string, Data>)[recordedAs(state)] as Data;
  const superpose = await library.superpose();
  const model = await textModel(library);
  const texts = textsOf(state);
  const sentence = await model.tokenize(texts[0], mostTokens);
  const another = await model.tokenize(texts[1], mostTokens);
  // Without a tokenizer there are only ids, and no word to name.
  const fixedTokens = (model.excludedRows ?? [0]).length;
  const first = fixedTokens ? (sentence.tokens[0] as string).replace(/^\d+$/, 'the first token') : '';
  const orders = ordersOf(superpose, sentence, fixedTokens, state.seed);
  const shuffled = {
    ids: orders.shuffled.map((place) => sentence.ids[place] as number),
    tokens: orders.shuffled.map((place) => sentence.tokens[place] as string),
    dropped: sentence.dropped,
  };
  const curves =
    state.view === 'readers'
      ? await readerCurves(superpose, model, sentence, state.pair === 'yours' ? shuffled : another, job)
      : await changeCurves(superpose, model, { sentence, another, orders, state, first, texts }, job);
  return {
    tokens: sentence.tokens,
    first,
    dropped: sentence.dropped,
    texts,
    shuffled: shuffled.tokens,
    layers: model.layers,
    positions: model.positions,
    ...curves,
  };
};

/** The cosine of each row of a table with the same row of another. */
function rowByRow(superpose: Superpose, rows: Table, others: Table): number[] {
  const { data, columns } = superpose.rowCosines(rows, others);
  return Array.from({ length: columns }, (_, row) => data[row * (columns + 1)] as number);
}

/**
 * The curves with positions removed from values, from attention or from both, and how close the other
 * sentence is in each case.
 */
async function readerCurves(
  superpose: Superpose,
  model: TextModel,
  sentence: Sentence,
  other: Sentence,
  job: Job,
): Promise<Pick<Data, 'curves' | 'orders'>> {
  const watch = watching(job, fetchingPart);
  const ofSentence = await model.withoutPositions(sentence, watch);
  const ofOther = await model.withoutPositions(other, watch);
  const kinds = ['allButAttention', 'attention', 'everything'] as const;
  return {
    orders: (['nothing', ...kinds] as const).map(
      (name) => rowByRow(superpose, ofSentence[name], ofOther[name]).at(-1) as number,
    ),
    curves: kinds.map((name, place) => ({
      name: `positions ${readers[name]}`,
      ...inkOf(place),
      cosines: rowByRow(superpose, ofSentence.nothing, ofSentence[name]),
    })),
  };
}

interface Changes {
  sentence: Sentence;
  another: Sentence;
  orders: { shuffled: number[]; reversed: number[] };
  state: State;
  first: string;
  texts: [string, string];
}

/**
 * The curves with position rows replaced or shifted and with tokens in other orders, and that of another
 * sentence for scale.
 */
async function changeCurves(
  superpose: Superpose,
  model: TextModel,
  { sentence, another, orders, state, first, texts }: Changes,
  job: Job,
): Promise<Pick<Data, 'curves'>> {
  const changes: [string, Ink, boolean, PositionChange][] = [
    ['position rows: the sentence’s mean', 'accent', false, { mean: 'sentence' }],
    [`position rows: mean of all ${model.positions}`, 'accent', true, { mean: 'table' }],
    ['tokens shuffled', 'second', false, { order: orders.shuffled }],
    ['tokens reversed', 'second', true, { order: orders.reversed }],
    [`positions shifted by ${state.shift}${first && ', first kept'}`, 'third', false, { shift: state.shift }],
  ];
  const layers = state.layers === 'all' ? model.layers : 0;
  const embeddingsOf = forwards(model, layers, job, changes.length + 2);
  const unchanged = await embeddingsOf(sentence);
  const curves: Curve[] = [];
  for (const [name, ink, dashed, change] of changes) {
    const cosines = rowByRow(superpose, unchanged, await embeddingsOf(sentence, change));
    curves.push({ name, ink, dashed, cosines });
  }
  const cosines = rowByRow(superpose, unchanged, await embeddingsOf(another));
  curves.push({ name: quoted(texts[1], 34), ink: 'third', dashed: true, cosines });
  return { curves };
}

/** The key of a state among the recorded results. */
export const recordedAs = ({ view, pair }: State): string => `${view} ${pair}`;

const readers = {
  allButAttention: 'in attention alone',
  attention: 'everywhere but in attention',
  everything: 'nowhere',
};

const inkOf = (place: number): Pick<Curve, 'ink' | 'dashed'> => ({
  ink: (['accent', 'second', 'third'] as const)[Math.floor(place / 2)] as Ink,
  dashed: place % 2 > 0,
});

/** The part of the progress that fetching takes in the first pass. */
const fetchingPart = 0.8;

/**
 * Returns a function that computes the embeddings [layers + 1, d] of a sentence, changed or not, and reports
 * each call as one of `count` passes.
 */
function forwards(model: TextModel, layers: number, job: Job, count: number) {
  let done = 0;
  return async (sentence: Sentence, change?: PositionChange): Promise<Table> => {
    job.signal.throwIfAborted();
    const summands = change ? await model.changed(sentence, change) : undefined;
    const { embeddings } = await model.forward(sentence, {
      layers,
      scores: false,
      ...(summands && { summands }),
      ...watching(job, fetchingPart),
    });
    done += 1;
    job.progress(fetchingPart + ((1 - fetchingPart) * done) / count);
    await new Promise((resolve) => setTimeout(resolve));
    return embeddings;
  };
}

/**
 * The tokens' places in two other word orders. The fixed tokens at the start, the last token and closing
 * punctuation stay in place, and the pieces of a word stay together.
 */
function ordersOf(superpose: Superpose, { tokens }: Sentence, fixedTokens: number, seed: number) {
  let end = Math.max(fixedTokens, tokens.length - 1);
  if (end > fixedTokens && ['.', '?', '!'].includes(tokens[end - 1] ?? '')) end -= 1;
  const words: number[][] = [];
  // WordPiece marks the pieces that continue a word; other tokenizers mark those that begin one.
  const mark = /^[Ġ▁]/;
  const begins = tokens.some((token) => mark.test(token)) ? mark : /^(?!##)/;
  for (let place = fixedTokens; place < end; place++) {
    if (!begins.test(tokens[place] as string) && words.length > 0) words.at(-1)?.push(place);
    else words.push([place]);
  }
  const last = tokens.map((_, place) => place).slice(end);
  const first = fixedTokens ? [0] : [];
  const drawn = superpose.randomUniform({ rows: words.length, columns: 1, seed, stream: 0 }).data;
  const shuffled = words
    .map((word, place) => ({ word, draw: drawn[place] as number }))
    .sort((a, b) => a.draw - b.draw)
    .flatMap(({ word }) => word);
  return {
    shuffled: [...first, ...shuffled, ...last],
    reversed: [...first, ...words.toReversed().flat(), ...last],
  };
}

/** The settings that have no effect when the curves are computed here. */
const unusedOfComputed = (view: State['view'], pair: State['pair']): (keyof State)[] => [
  ...(pair === 'yours' ? [] : (['text', 'other'] as const)),
  ...(view === 'changes' ? [] : (['shift'] as const)),
];

/** The shifts that keep a sentence of the usual length within the table of positions. */
function shiftOf({ positions }: UserModel) {
  const room = positions - Math.min(mostTokens, positions / 2);
  const values = controls.shift.values.filter((by) => by <= room);
  return { ...controls.shift, values, initial: values.includes(64) ? 64 : 1 };
}

const high = 320;

export const figure: Figure<typeof controls, Data> = {
  name: 'needs-positions',
  title: 'Does it need positions?',
  controls,
  source: () => 'trained',
  waiting: fetchingLayers,
  unused: ({ view, layers, pair }) =>
    layers === 'none' ? ['text', 'other', 'shift', 'seed'] : unusedOfComputed(view, pair),

  forModel(model) {
    if (!hasTerms(model) || !hasPositionTable(model) || model.layers === 0) return undefined;
    const input = inputOf(model);
    const ofIds = { otherIds: idsControl(model, 'Ids of another', '5, 4, 3, 2') };
    return {
      fixed: model.readsText ? {} : { ...input.fixed, other: '', pair: 'yours' },
      controls: {
        layers: layersOf(model),
        shift: shiftOf(model),
        ...input.controls,
        ...(model.readsText ? {} : ofIds),
      },
      // Nothing was computed beforehand, so the texts always have an effect; and removing positions always
      // reads all layers.
      unused: ({ view, pair }) => [
        ...unusedOfComputed(view as State['view'], pair as State['pair']),
        ...(view === 'readers' ? ['layers'] : []),
      ],
      remark: unverified,
    };
  },

  scene({ curves, layers }, _, width) {
    const states = layers + 1;
    const count = curves[0]?.cosines.length ?? 1;
    const least = Math.min(0, ...curves.flatMap(({ cosines }) => cosines));
    const named = namedLines(
      { x: 0, y: 0, width, height: high },
      curves.map((curve) => ({ ...curve, label: curve.name })),
      // A line that ends before the last layer cannot have its name at its end, so the names stand below.
      count < states ? Infinity : 760,
    );
    const drawn = plane(
      named.area,
      { from: -0.5, to: states - 0.5, label: 'layers', nice: false, ticks: states },
      {
        from: least,
        to: 1,
        label: 'cosine with the unchanged embedding',
      },
    );
    const { inner } = drawn;
    const places = Array.from({ length: count }, (_, layer) => layer);
    const marks: Mark[] = curves.flatMap(({ ink, dashed, cosines }): Mark[] => [
      { mark: 'path', d: lineThrough(drawn, places, cosines), stroke: ink, wide: 2, dashed },
      { mark: 'dots', x: places.map(drawn.x), y: cosines.map(drawn.y), radius: 3.5, ink },
    ]);
    return {
      width,
      height: high + named.below,
      marks: [
        ...drawn.marks,
        ...marks,
        ...named.names(
          drawn,
          curves.map(({ cosines }) => drawn.y(cosines.at(-1) as number)),
        ),
      ],
      regions: [{ ...inner, width: (inner.width * count) / states, pick: 'across', rows: 1, columns: count }],
    };
  },

  describe({ curves, texts, first, positions, orders = [] }, { view, pair }) {
    const of = curves.map(({ cosines }) => cosines.at(-1) as number) as [number, number, number, number];
    const [plain, ...then] = orders.map((cosine) => readable(cosine));
    if (view === 'readers') {
      const finding =
        of[0] > of[1]
          ? 'Positions act through attention, hardly through values.'
          : 'Here values use positions too.';
      const other = pair === 'yours' ? 'The tokens shuffled have' : `“${texts[1]}” has`;
      return `${finding} With ${curves[0]?.name}, “${texts[0]}” keeps a cosine of ${readable(of[0])} with its unchanged embedding; ${curves[1]?.name}, ${readable(of[1])}. ${other} ${plain} with it, then ${then[0]} and ${then[1]}.`;
    }
    const last = curves.map(({ name, cosines }) => ({ name, cosine: cosines.at(-1) as number }));
    const [mean, table, shuffled] = last as [(typeof last)[0], (typeof last)[0], (typeof last)[0]];
    const other = last.at(-1) as (typeof last)[0];
    const where = (curves[0]?.cosines.length ?? 1) > 1 ? 'after the last layer' : 'before the first layer';
    return `All on one position row, an embedding keeps a cosine of ${about(mean.cosine)}. That is “${texts[0]}” ${where}, on its mean row${first && `; ${first} keeps its own`}. With the mean of all ${positions} rows${first && `, ${first}’s too`}, it keeps ${about(table.cosine)}; with the tokens shuffled, ${about(shuffled.cosine)}. For scale: “${texts[1]}” has ${about(other.cosine)}.`;
  },

  cells: ({ curves }) => ({ rows: 1, columns: curves[0]?.cosines.length ?? 1 }),
  firstCursor: ({ curves }) => ({ i: 0, j: (curves[0]?.cosines.length ?? 1) - 1 }),

  readout: ({ curves }, _, { j }) => [
    {
      text: j === 0 ? 'Before the first layer' : `After ${counted(j, 'layer')}`,
      strong: true,
    },
    ': ',
    ...curves.flatMap(({ name, ink, cosines }, place): ReadoutPiece[] => [
      { text: `${name} ${readable(cosines[j] as number)}`, ink },
      place === curves.length - 1 ? '.' : ', ',
    ]),
  ],

  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table: ({ curves }) => ({
    columns: ['layers', ...curves.map(({ name }) => name)],
    rows: (curves[0]?.cosines ?? []).map((_, layer) => [
      layer,
      ...curves.map(({ cosines }) => cosines[layer] as number),
    ]),
  }),
};
