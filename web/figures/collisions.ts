// Figure "One word, moved along the positions": its margin over every other word of a vocabulary, and
// whether its nearest word changes.
import type { CollisionSearch, Superpose, Table } from 'superpose';
import { about, readable } from '../plot/format.js';
import { type Area, horizontal, lineKey, lineThrough, plane } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, rowName } from './drawnRows.js';
import type { Compute, DataTable, Figure, Library } from './figure.js';
import { rawRows, rawTable } from './gaugeControl.js';

const largestVocabulary = 5000;

const controls = {
  words: {
    kind: 'choice',
    label: 'Words',
    options: { trained: 'MiniLM’s frequent words', seeded: 'Random (seeded)' },
    initial: 'trained',
    radio: true,
  },
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: { random: 'Random', sinusoidal: 'Sinusoidal' },
    initial: 'random',
  },
  vocabulary: {
    kind: 'steps',
    label: 'Vocabulary',
    values: [100, 500, 1000, 2000, largestVocabulary],
    initial: largestVocabulary,
  },
  d: { kind: 'steps', label: 'Width d', values: [4, 8, 16, 32, 64, 128, 256], initial: 64 },
  scale: { kind: 'range', label: 'Position scale ρ', min: 0, max: 4, step: 0.1, initial: 1 },
  index: { kind: 'range', label: 'Word number', min: 0, max: 4999, step: 1, initial: 0 },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
  word: { kind: 'text', label: 'A word', initial: 'king', longest: 40 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Data {
  word: string;
  /** The other word nearest to the bare word, and how far it is. */
  bare: string;
  bareDistance: number;
  /** The margin without a position: half the squared distance. */
  bareMargin: number;
  /** [L], the other word nearest to word + position, by name, ... */
  nearest: string[];
  /** ... and its margin: below zero, it is nearer than the word itself. */
  margins: Float64Array;
  /** How many words were searched. */
  vocabulary: number;
  /** Whether the word typed was cut, or had to be added to the words searched. */
  note: string;
}

const positions = 64;
/** Ids of the frequent word pieces: “the” and those that follow it, by frequency. */
const frequent = { first: 1996, count: 2048 } as const;
const atOnce = 512;
const precision = 'float32';

type Floats = Table<Float32Array>;

let vocabularyOf: { key: string; tokens: Floats } | undefined;
let last: { key: string; search: CollisionSearch } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  return state.words === 'seeded' ? seeded(library, superpose, state) : trained(library, superpose, state);
};

function seeded(library: Library, superpose: Superpose, state: State): Data {
  const { vocabulary, d, seed, index } = state;
  const key = JSON.stringify([d, seed, library.own?.key]);
  // All rows are drawn, so another vocabulary size needs no new draw: it takes the first rows.
  if (vocabularyOf?.key !== key) {
    const tokens = drawnRows(library, superpose, 'token', { rows: largestVocabulary, columns: d, seed });
    vocabularyOf = { key, tokens };
  }
  const { data } = vocabularyOf.tokens;
  const tokens = { data: data.subarray(0, vocabulary * d), rows: vocabulary, columns: d };
  const found = moved(superpose, tokens, `${key} ${vocabulary}`, state, () =>
    state.positions === 'random'
      ? drawnRows(library, superpose, 'position', { rows: positions, columns: d, seed })
      : superpose.sinusoidal({ positions, d_model: d, precision }),
  ).nearestTokens(index);
  const named = (token: number) => rowName(library, token, 'word');
  return {
    word: named(index),
    bare: named(found.bare[0] as number),
    bareDistance: found.bareDistances[0] as number,
    bareMargin: found.bareMargins[0] as number,
    nearest: Array.from(found.nearest, named),
    margins: found.margins,
    vocabulary,
    note: '',
  };
}

async function trained(library: Library, superpose: Superpose, state: State): Promise<Data> {
  const model = await library.miniLM();
  const { ids, tokens: pieces } = model.tokenize(state.word, 8);
  // The first piece after [CLS]; without text, the first frequent one.
  const typed = ids.length > 2;
  const id = typed ? (ids[1] as number) : frequent.first;
  const known = id >= frequent.first && id < frequent.first + frequent.count;
  const key = known ? 'frequent' : `frequent and ${id}`;
  if (vocabularyOf?.key !== key) {
    const all = Array.from({ length: frequent.count }, (_, place) => frequent.first + place);
    if (!known) all.push(id);
    const data = new Float32Array(all.length * model.d_model);
    for (let from = 0; from < all.length; from += atOnce) {
      const some = { ids: all.slice(from, from + atOnce), tokens: [], dropped: 0 };
      data.set((await model.summands(some, precision)).token.data, from * model.d_model);
    }
    vocabularyOf = { key, tokens: { data, rows: all.length, columns: model.d_model } };
  }
  const { tokens } = vocabularyOf;
  const anyIds = Array.from({ length: positions }, () => id);
  const rows = await model.summands({ ids: anyIds, tokens: [], dropped: 0 }, precision);
  const search = moved(superpose, tokens, key, state, () => rows.position);
  const found = search.nearestTokens(known ? id - frequent.first : frequent.count);
  const idOf = (place: number) => (place < frequent.count ? frequent.first + place : id);
  const [word = '', bare = '', ...nearest] = model.pieces([
    id,
    idOf(found.bare[0] as number),
    ...Array.from(found.nearest, idOf),
  ]);
  const notes = [
    typed ? '' : 'There is no word in the text; another stands in.',
    ids.length > 3 ? `The text is cut into ${pieces.slice(1, -1).join(' ')}; the first piece is moved.` : '',
    known ? '' : 'This piece is not among the frequent ones and was added to them.',
  ];
  return {
    word,
    bare,
    bareDistance: found.bareDistances[0] as number,
    bareMargin: found.bareMargins[0] as number,
    nearest,
    margins: found.margins,
    vocabulary: tokens.rows,
    note: notes.filter(Boolean).join(' '),
  };
}

/** The search among these words at the scaled positions, kept for the next word. */
function moved(
  superpose: Superpose,
  tokens: Floats,
  words: string,
  state: State,
  make: () => Floats,
): CollisionSearch {
  const key = JSON.stringify([words, state.words, state.positions, state.scale, state.seed]);
  if (last?.key !== key || !last.search.isAlive()) {
    last?.search.delete();
    last = undefined;
    const search = superpose.collisionSearch({ tokens, positions: make(), positionScale: state.scale });
    last = { key, search };
  }
  return last.search;
}

type Fate = 'same' | 'other' | 'taken';

const fateOf = ({ nearest, margins, bare }: Data, place: number): Fate =>
  (margins[place] as number) < 0 ? 'taken' : nearest[place] === bare ? 'same' : 'other';

const inks = { same: 'accent', other: 'third', taken: 'warning' } as const;

const count = (number: number) => number.toLocaleString('en');

const smallestOf = ({ margins }: Data): number => margins.indexOf(Math.min(...margins));

const where = ({ words, d, scale }: State, { vocabulary }: Data) =>
  words === 'trained'
    ? `Among ${count(vocabulary)} words of MiniLM, with its own positions${scale === 1 ? '' : ` times ${scale}`}`
    : `Among ${count(vocabulary)} ${words === 'seeded' ? `random words of width ${d}` : 'rows of the file'}, with positions at ρ = ${scale}`;

export const figure: Figure<typeof controls, Data> = {
  name: 'collisions',
  title: 'One word, moved along the positions',
  controls,
  source: ({ words }) => words,
  waiting: 'Fetching MiniLM’s tokenizer and the rows of 2,048 words…',
  unused: ({ words }) => (words === 'seeded' ? ['word'] : ['positions', 'vocabulary', 'd', 'index', 'seed']),
  settle: (state) => ({ ...state, index: Math.min(state.index, state.vocabulary - 1) }),

  scene(data, _, width) {
    const narrow = width < 560;
    const area: Area = { x: 0, y: 0, width, height: narrow ? 250 : 290 };
    const half = data.bareMargin;
    const highest = 1.12 * Math.max(half, ...data.margins);
    const { x, y, inner, marks } = plane(
      area,
      { from: -0.5, to: positions - 0.5, label: 'position', nice: false },
      {
        from: Math.min(-0.2 * highest, ...data.margins),
        to: highest,
        label: 'distance to being mistaken',
        ticks: 5,
      },
    );
    const list = Array.from({ length: positions }, (_, place) => place);
    const of = (fate: Fate) => list.filter((place) => fateOf(data, place) === fate);
    const dots = (fate: Fate): Mark => {
      const some = of(fate);
      return {
        mark: 'dots',
        x: some.map((place) => x(place)),
        y: some.map((place) => y(data.margins[place] as number)),
        radius: narrow ? 2 : 3,
        ink: inks[fate],
      };
    };
    const bottom = inner.y + inner.height;
    return {
      width,
      height: area.height + 52,
      marks: [
        {
          mark: 'box',
          x: inner.x,
          y: Math.min(y(0), bottom),
          width: inner.width,
          height: Math.max(0, bottom - y(0)),
          fill: 'warning',
          opacity: 0.12,
        },
        ...marks,
        horizontal({ inner }, y(0), { ink: 'warning', wide: 2 }),
        horizontal({ inner }, y(half), { ink: 'quiet', dashed: true, wide: 1.5 }),
        { mark: 'path', d: lineThrough({ x, y }, list, data.margins), stroke: 'quiet', wide: 1 },
        dots('same'),
        dots('other'),
        dots('taken'),
        {
          mark: 'text',
          x: inner.x + inner.width - 4,
          y: (y(0) + bottom) / 2 + 4,
          text: 'mistaken: another word is nearer',
          anchor: 'end',
          ink: 'ink',
        },
        {
          mark: 'text',
          x: inner.x + inner.width - 4,
          y: y(half) - 7,
          text: 'without a position',
          anchor: 'end',
        },
        ...lineKey(0, area.height + 8, [
          {
            label: 'nearest other word: the same one',
            ink: inks.same,
          },
          {
            label: 'nearest other word: a new one',
            ink: inks.other,
          },
        ]),
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: positions }],
    };
  },

  describe(data, state) {
    const { word, bare, margins } = data;
    const lost = margins.filter((margin) => margin < 0).length;
    const least = smallestOf(data);
    const fate =
      lost === 0
        ? `no position takes “${word}” to another word`
        : `“${word}” is lost at ${lost} of ${positions} positions`;
    const before = `Without a position its nearest other word is “${bare}”, ${about(data.bareDistance)} away, and the distance to being mistaken ${about(data.bareMargin)}`;
    const after = `; with one it is at least ${about(margins[least] as number)}, at position ${least}, against “${data.nearest[least]}”.${state.words === 'seeded' ? '' : rawRows}`;
    return `${where(state, data)}, ${fate}. ${before}${after}`;
  },

  cells: () => ({ rows: 1, columns: positions }),
  firstCursor: (data) => ({ i: 0, j: smallestOf(data) }),

  readout(data, _, { j }) {
    const fate = fateOf(data, j);
    const { word, nearest, margins } = data;
    return [
      { text: `“${word}” at position ${j}`, strong: true },
      ': the nearest other word is ',
      { text: `“${nearest[j]}”`, ink: inks[fate] },
      `, distance to being mistaken ${readable(margins[j] as number)}. `,
      fate === 'taken'
        ? `It is nearer than “${word}” itself.`
        : `“${word}” is still the nearest of all${fate === 'same' ? ', and the next one is the same as without a position' : `; without a position the next one is “${data.bare}”`}.`,
    ];
  },

  remark: ({ note }) => note,

  table(data, { words }) {
    const found: DataTable = {
      columns: ['position', 'word', 'nearest other word', 'margin', 'nearest of all'],
      rows: Array.from({ length: positions }, (_, place) => [
        place,
        data.word,
        data.nearest[place] as string,
        data.margins[place] as number,
        fateOf(data, place) === 'taken' ? (data.nearest[place] as string) : data.word,
      ]),
    };
    return rawTable(words !== 'seeded', found);
  },
};
