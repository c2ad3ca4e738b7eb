// Figure "Does it need positions?": what becomes of a sentence's embedding, layer by layer, when its
// positions are replaced or shifted, or its words shuffled or reversed. Another sentence gives the scale.
import type { PositionChange, Sentence, Superpose, Table } from 'superpose';
import { about, counted, readable } from '../plot/format.js';
import { lineKey, lineThrough, plane } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Figure, Job, Said, TextCompute, TextModel } from './figure.js';
import { fetchingLayers, layersControl, quoted, roomFor, watching } from './layersControl.js';
import { mostTokens, sentenceControl, sentenceRemark } from './sentence.js';

/** Sentences that differ in who does what, and one that says the same in other words. */
const pairs = {
  yours: ['', ''],
  dog: ['The dog bit the man.', 'The man bit the dog.'],
  passive: ['The dog bit the man.', 'The man was bitten by the dog.'],
  teacher: ['The teacher praised the student.', 'The student praised the teacher.'],
} as const;

const controls = {
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
  /** What the first token is called. */
  first: string;
  dropped: number;
  texts: [string, string];
  shuffled: readonly string[];
  curves: Curve[];
  /** How many the model has, whether they are here or not. */
  layers: number;
  /** Rows of the position table. */
  positions: number;
}

const textsOf = ({ pair, text, other }: State): [string, string] =>
  pair === 'yours' ? [text, other] : [pairs[pair][0], pairs[pair][1]];

export const compute: TextCompute<typeof controls, Data> = async (library, state, job) => {
  const beforehand = state.layers === 'none' ? await library.recorded?.('needsPositions') : undefined;
  if (beforehand) return (beforehand as Record<State['pair'], Data>)[state.pair];
  const superpose = await library.superpose();
  const model = await library.miniLM();
  const texts = textsOf(state);
  const sentence = await model.tokenize(texts[0], mostTokens);
  const another = await model.tokenize(texts[1], mostTokens);
  const { positions } = model;
  // If there are only ids, there is no word to name.
  const first = (sentence.tokens[0] as string).replace(/^\d+$/, 'the first token');
  const all = model.layerBytes.length;
  const layers = state.layers === 'all' ? all : 0;
  const orders = ordersOf(superpose, sentence, state.seed);
  const changes: [string, Ink, boolean, PositionChange][] = [
    ['position rows: the sentence’s mean', 'accent', false, { mean: 'sentence' }],
    [`position rows: mean of all ${positions}`, 'accent', true, { mean: 'table' }],
    ['words shuffled', 'second', false, { order: orders.shuffled }],
    ['words reversed', 'second', true, { order: orders.reversed }],
    [`positions shifted by ${state.shift}, first kept`, 'third', false, { shift: state.shift }],
  ];
  const run = forwards(model, layers, job, changes.length + 2);
  const unchanged = await run(sentence);
  const against = async (one: Sentence, change?: PositionChange): Promise<number[]> => {
    const found = await run(one, change);
    const cosines = superpose.rowCosines(unchanged, found).data;
    return Array.from({ length: layers + 1 }, (_, layer) => cosines[layer * (layers + 2)] as number);
  };
  const curves: Curve[] = [];
  for (const [name, ink, dashed, change] of changes) {
    curves.push({ name, ink, dashed, cosines: await against(sentence, change) });
  }
  curves.push({ name: quoted(texts[1], 34), ink: 'warning', dashed: true, cosines: await against(another) });
  const shuffled = orders.shuffled.map((place) => sentence.tokens[place] as string);
  const { tokens, dropped } = sentence;
  return { tokens, first, dropped, texts, shuffled, curves, layers: all, positions };
};

/** Computes embeddings [layers + 1, d] of a sentence, changed or not. Fetching is most of the first run. */
function forwards(model: TextModel, layers: number, job: Job, count: number) {
  const fetched = 0.8;
  let done = 0;
  return async (sentence: Sentence, change?: PositionChange): Promise<Table> => {
    job.signal.throwIfAborted();
    const summands = change ? await model.changed(sentence, change, 'float32') : undefined;
    const { embeddings } = await model.forward(sentence, {
      layers,
      scores: false,
      ...(summands && { summands }),
      ...watching(job, fetched),
    });
    done += 1;
    job.progress(fetched + ((1 - fetched) * done) / count);
    await new Promise((resolve) => setTimeout(resolve));
    return embeddings;
  };
}

/** The tokens' places in another word order. Markers and closing punctuation stay; words stay whole. */
function ordersOf(superpose: Superpose, { tokens }: Sentence, seed: number) {
  let end = tokens.length - 1;
  if (['.', '?', '!'].includes(tokens[end - 1] ?? '')) end -= 1;
  const words: number[][] = [];
  // WordPiece marks pieces that continue a word, other tokenizers those that begin one.
  const mark = /^[Ġ▁]/;
  const begins = tokens.some((token) => mark.test(token)) ? mark : /^(?!##)/;
  for (let place = 1; place < end; place++) {
    if (!begins.test(tokens[place] as string) && words.length > 0) words.at(-1)?.push(place);
    else words.push([place]);
  }
  const last = tokens.map((_, place) => place).slice(end);
  const drawn = superpose.randomUniform({ rows: words.length, columns: 1, seed, stream: 0 }).data;
  const shuffled = words
    .map((word, place) => ({ word, draw: drawn[place] as number }))
    .sort((a, b) => a.draw - b.draw)
    .flatMap(({ word }) => word);
  return {
    shuffled: [0, ...shuffled, ...last],
    reversed: [0, ...words.toReversed().flat(), ...last],
  };
}

const high = 320;
const lineOf = 18;

export const figure: Figure<typeof controls, Data> = {
  name: 'needs-positions',
  title: 'Does it need positions?',
  controls,
  source: () => 'trained',
  waiting: fetchingLayers,
  unused: ({ layers, pair }) =>
    layers === 'none' ? ['text', 'other', 'shift', 'seed'] : pair === 'yours' ? [] : ['text', 'other'],

  scene({ curves, layers }, _, width) {
    const states = layers + 1;
    // In the key, changes of one kind are below one another; on a narrow screen, all are.
    const below = width >= 860 ? 2 : curves.length;
    const count = curves[0]?.cosines.length ?? 1;
    const least = Math.min(0, ...curves.flatMap(({ cosines }) => cosines));
    const drawn = plane(
      { x: 0, y: 0, width, height: high },
      { from: -0.5, to: states - 0.5, label: 'layers', nice: false, ticks: states },
      { from: least, to: 1, label: 'cosine with the unchanged embedding' },
    );
    const { inner } = drawn;
    const places = Array.from({ length: count }, (_, layer) => layer);
    const marks: Mark[] = curves.flatMap(({ ink, dashed, cosines }): Mark[] => [
      { mark: 'path', d: lineThrough(drawn, places, cosines), stroke: ink, wide: 2, dashed },
      { mark: 'dots', x: places.map(drawn.x), y: cosines.map(drawn.y), radius: 3.5, ink },
    ]);
    return {
      width,
      height: high + 14 + lineOf * below + 6,
      marks: [
        ...drawn.marks,
        ...marks,
        ...(count < states
          ? roomFor(inner.x + inner.width * 0.58, inner.y + inner.height / 2, [
              `Layers 1 to ${layers} come with “All”`,
              'above: how far each change',
              'then moves the sentence.',
            ])
          : []),
        ...curves.flatMap(({ name, ink, dashed }, place) =>
          lineKey(
            (Math.floor(place / below) * width) / Math.ceil(curves.length / below),
            high + 14 + lineOf * (place % below),
            [{ label: name, ink, dashed }],
          ),
        ),
      ],
      regions: [{ ...inner, width: (inner.width * count) / states, pick: 'across', rows: 1, columns: count }],
    };
  },

  describe({ curves, texts, first, positions }) {
    const last = curves.map(({ name, cosines }) => ({ name, cosine: cosines.at(-1) as number }));
    const [mean, table, shuffled] = last as [(typeof last)[0], (typeof last)[0], (typeof last)[0]];
    const other = last.at(-1) as (typeof last)[0];
    const where =
      (curves[0]?.cosines.length ?? 1) > 1
        ? 'After the last layer'
        : 'Before the first layer, where no word has met another';
    return `${where}: give every word of “${texts[0]}” the sentence’s mean position row, and its embedding keeps a cosine of ${about(mean.cosine)} with what it was (${first} keeps its own row). With the mean of all ${positions} rows, ${first}’s too, it keeps ${about(table.cosine)}; with the words shuffled, ${about(shuffled.cosine)}. For scale: “${texts[1]}” has ${about(other.cosine)}.`;
  },

  cells: ({ curves }) => ({ rows: 1, columns: curves[0]?.cosines.length ?? 1 }),
  firstCursor: ({ curves }) => ({ i: 0, j: (curves[0]?.cosines.length ?? 1) - 1 }),

  readout: ({ curves }, _, { j }) => [
    {
      text: j === 0 ? 'Before the first layer' : `After ${counted(j, 'layer')}`,
      strong: true,
    },
    ': ',
    ...curves.flatMap(({ name, ink, cosines }, place): Said[] => [
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
