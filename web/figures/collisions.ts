// Figure "Words that are lost once a position is added": the share that is no longer its own nearest word,
// against the width, for three sizes of positions; and one word's margin over all others, along the positions.
import type { CollisionSearch, Superpose, Table } from 'superpose';
import { about, aboutPercent, exponent, readable } from '../plot/format.js';
import { type Area, horizontal, lineKey, lineThrough, plane } from '../plot/parts.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, rowName } from './drawnRows.js';
import type { Compute, DataTable, Figure, Job, Library } from './figure.js';
import { rawRows, rawTable } from './gaugeControl.js';
import { inTurn } from './lists.js';

const largestVocabulary = 5000;

const controls = {
  of: {
    kind: 'choice',
    label: 'Show',
    options: { lost: 'Tokens that are lost', one: 'One token' },
    initial: 'lost',
    radio: true,
  },
  looked: {
    kind: 'choice',
    label: 'Tokens looked up',
    options: { some: 'The first 100', all: 'All of them (slow)' },
    initial: 'some',
    radio: true,
  },
  bound: { kind: 'toggle', more: true, label: 'What chance allows at most', initial: false },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { trained: 'MiniLM’s frequent tokens', seeded: 'Random (seeded)' },
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
  index: { kind: 'range', label: 'Token number', min: 0, max: 4999, step: 1, initial: 0 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  word: { kind: 'text', label: 'A token', initial: 'king', longest: 40 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

export interface Point {
  /** The share of the words looked up that is lost, mean over all positions. */
  share: number;
  /** At the best and the worst position. */
  lowest: number;
  highest: number;
  /** The expected number of other words that are nearer. It is no smaller than the expected share. */
  bound: number;
}

/** Of many words, at seven widths. */
export interface Lost {
  looked: number;
  widths: readonly number[];
  scales: readonly number[];
  /** [widths][scales] */
  points: Point[][];
}

/** Of one word, at each position. */
interface One {
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

type Data = Lost | One;

const isLost = (data: Data): data is Lost => 'points' in data;

const widths = [4, 8, 16, 32, 64, 128, 256];
const scales = [0.5, 1, 2];
const scaleInks: Ink[] = ['third', 'accent', 'second'];
const sample = 100;
const positions = 64;
/** Ids of the frequent word pieces: “the” and those that follow it, by frequency. */
const frequent = { first: 1996, count: 2048 } as const;
const atOnce = 512;
const precision = 'float32';

type Floats = Table<Float32Array>;

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.superpose();
  // What only changes the picture of lost words computes nothing.
  const { vocabulary, looked, seed } = state;
  if (state.of === 'lost')
    return library.kept('collisions: lost', [vocabulary, looked, seed], () =>
      lost(library, superpose, state, job),
    );
  return state.words === 'seeded' ? seeded(library, superpose, state) : trained(library, superpose, state);
};

async function lost(
  library: Library,
  superpose: Superpose,
  { vocabulary, looked: looking, seed }: State,
  job: Job,
): Promise<Lost> {
  const looked = looking === 'all' ? vocabulary : Math.min(sample, vocabulary);
  const points: Point[][] = [];
  for (const [place, d] of widths.entries()) {
    job.signal.throwIfAborted();
    const tokens = drawnRows(library, superpose, 'token', { rows: vocabulary, columns: d, seed });
    const search = superpose.collisionSearch({ tokens, positions: scaled(library, superpose, d, seed) });
    try {
      const { lost } = await search.allWords({
        words: looked,
        slice: looking === 'all' ? 64 : 25,
        signal: job.signal,
        onProgress: (done, total) => job.progress((place + done / total) / widths.length),
      });
      points.push(
        scales.map((scale, row) => {
          const of = superpose.summary(lost.subarray(row * positions, (row + 1) * positions));
          return {
            share: of.mean / looked,
            lowest: of.least / looked,
            highest: of.largest / looked,
            bound: superpose.randomCollisions({ d, scale, vocabulary }).expected,
          };
        }),
      );
    } finally {
      search.delete();
    }
  }
  return { looked, widths, scales, points };
}

/** The same random positions at each scale, one below the other. */
function scaled(library: Library, superpose: Superpose, d: number, seed: number) {
  const data = new Float32Array(scales.length * positions * d);
  scales.forEach((standardDeviation, row) => {
    const drawn = drawnRows(library, superpose, 'position', {
      rows: positions,
      columns: d,
      standardDeviation,
      seed,
    });
    data.set(drawn.data, row * positions * d);
  });
  return { data, rows: scales.length * positions, columns: d };
}

function seeded(library: Library, superpose: Superpose, state: State): One {
  const { vocabulary, d, seed, index } = state;
  const key = [d, seed, library.own?.key];
  // All rows are drawn, so another vocabulary size needs no new draw: it takes the first rows.
  const { data } = library.kept('collisions: drawn', key, () =>
    drawnRows(library, superpose, 'token', { rows: largestVocabulary, columns: d, seed }),
  );
  const tokens = { data: data.subarray(0, vocabulary * d), rows: vocabulary, columns: d };
  const found = moved(library, superpose, tokens, [key, vocabulary], state, () =>
    state.positions === 'random'
      ? drawnRows(library, superpose, 'position', { rows: positions, columns: d, seed })
      : superpose.sinusoidal({ positions, d_model: d, precision }),
  ).nearestTokens(index);
  const named = (token: number) => rowName(library, token);
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

async function trained(library: Library, superpose: Superpose, state: State): Promise<One> {
  const model = await library.miniLM();
  const { ids, tokens: pieces } = model.tokenize(state.word, 8);
  // The first piece after [CLS]; without text, the first frequent one.
  const typed = ids.length > 2;
  const id = typed ? (ids[1] as number) : frequent.first;
  const known = id >= frequent.first && id < frequent.first + frequent.count;
  const key = known ? 'frequent' : `frequent and ${id}`;
  const tokens = await library.kept('collisions: frequent', key, async (): Promise<Floats> => {
    const all = Array.from({ length: frequent.count }, (_, place) => frequent.first + place);
    if (!known) all.push(id);
    const data = new Float32Array(all.length * model.d_model);
    for (let from = 0; from < all.length; from += atOnce) {
      const some = { ids: all.slice(from, from + atOnce), tokens: [], dropped: 0 };
      data.set((await model.summands(some, precision)).token.data, from * model.d_model);
    }
    return { data, rows: all.length, columns: model.d_model };
  });
  const anyIds = Array.from({ length: positions }, () => id);
  const rows = await model.summands({ ids: anyIds, tokens: [], dropped: 0 }, precision);
  const search = moved(library, superpose, tokens, key, state, () => rows.position);
  const found = search.nearestTokens(known ? id - frequent.first : frequent.count);
  const idOf = (place: number) => (place < frequent.count ? frequent.first + place : id);
  const [word = '', bare = '', ...nearest] = model.pieces([
    id,
    idOf(found.bare[0] as number),
    ...Array.from(found.nearest, idOf),
  ]);
  const notes = [
    typed ? '' : 'There is no token in the text; another stands in.',
    ids.length > 3 ? `The text is cut into ${pieces.slice(1, -1).join(' ')}; the first piece is moved.` : '',
    known ? '' : 'This piece, not a frequent one, was added.',
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
  { kept }: Library,
  superpose: Superpose,
  tokens: Floats,
  words: unknown,
  state: State,
  make: () => Floats,
): CollisionSearch {
  const key = [words, state.words, state.positions, state.scale, state.seed];
  return kept('collisions: search', key, () =>
    superpose.collisionSearch({ tokens, positions: make(), positionScale: state.scale }),
  );
}

type Fate = 'same' | 'other' | 'taken';

const fateOf = ({ nearest, margins, bare }: One, place: number): Fate =>
  (margins[place] as number) < 0 ? 'taken' : nearest[place] === bare ? 'same' : 'other';

const inks = { same: 'accent', other: 'third', taken: 'warning' } as const;

const count = (number: number) => number.toLocaleString('en');

const few = (share: number) =>
  share !== 0 && share < 0.001 ? `${(100 * share).toPrecision(1)}\u202f%` : aboutPercent(share);
const pointOf = ({ points }: Lost, place: number, row: number) => (points[place] as Point[])[row] as Point;
const lostAt = (data: Lost, width: number, scale: number) =>
  pointOf(data, widths.indexOf(width), scales.indexOf(scale));

const smallestOf = ({ margins }: One): number => margins.indexOf(Math.min(...margins));

const where = ({ words, d, scale }: State, { vocabulary }: One) =>
  words === 'trained'
    ? `Among ${count(vocabulary)} tokens of MiniLM, with its own positions${scale === 1 ? '' : ` times ${scale}`}`
    : `Among ${count(vocabulary)} ${words === 'seeded' ? `random tokens of width ${d}` : 'rows of the file'}, with positions at ρ = ${scale}`;

export const figure: Figure<typeof controls, Data> = {
  name: 'collisions',
  title: 'Tokens that are lost once a position is added',
  controls,
  source: ({ of, words }) => (of === 'lost' ? 'seeded' : words),
  waiting: 'Fetching MiniLM’s tokenizer and the rows of 2,048 tokens…',
  unused({ of, words }) {
    if (of === 'lost') return ['words', 'positions', 'd', 'scale', 'index', 'word'];
    const random = words === 'seeded' ? ['word'] : ['positions', 'vocabulary', 'd', 'index', 'seed'];
    return ['looked', 'bound', ...random] as (keyof typeof controls)[];
  },
  settle: (state) => ({ ...state, index: Math.min(state.index, state.vocabulary - 1) }),

  scene: (data, { bound }, width) => (isLost(data) ? lostScene(data, bound, width) : oneScene(data, width)),

  describe(data, state) {
    if (isLost(data)) return lostFinding(data, state);
    const { word, bare, margins } = data;
    const lost = margins.filter((margin) => margin < 0).length;
    const least = smallestOf(data);
    const fate =
      lost === 0
        ? `No position takes “${word}” to another token`
        : `“${word}” is lost at ${lost} of ${positions} positions`;
    const before = `without a position “${bare}” is nearest, ${about(data.bareDistance)} away, its distance to being mistaken ${about(data.bareMargin)}`;
    const after = `; with one it is at least ${about(margins[least] as number)}, at position ${least}, against “${data.nearest[least]}”.${state.words === 'seeded' ? '' : rawRows}`;
    return `${fate}. ${where(state, data)}: ${before}${after}`;
  },

  cells: (data) => ({ rows: 1, columns: isLost(data) ? widths.length : positions }),
  firstCursor: (data) => ({ i: 0, j: isLost(data) ? widths.indexOf(32) : smallestOf(data) }),

  readout(data, _, { j }) {
    if (isLost(data))
      return [
        { text: `d = ${widths[j]}`, strong: true },
        ': lost ',
        ...scales.flatMap((scale, row) => {
          const { share, lowest, highest } = pointOf(data, j, row);
          return [
            { text: `${few(share)} at ρ = ${scale}`, ink: scaleInks[row] as Ink },
            ` (${few(lowest)} to ${few(highest)} by position)${row === scales.length - 1 ? '.' : ', '}`,
          ];
        }),
      ];
    const fate = fateOf(data, j);
    const { word, nearest, margins } = data;
    return [
      { text: `“${word}” at position ${j}`, strong: true },
      ': the nearest other token is ',
      { text: `“${nearest[j]}”`, ink: inks[fate] },
      `, distance to being mistaken ${readable(margins[j] as number)}. `,
      fate === 'taken' ? `It is nearer than “${word}” itself.` : `Without a position it is “${data.bare}”.`,
    ];
  },

  remark: (data) => (isLost(data) ? '' : data.note),

  table(data, { words, vocabulary }) {
    if (isLost(data))
      return {
        columns: [
          'tokens',
          'looked up',
          'd',
          'ρ',
          'share lost',
          'at the best position',
          'at the worst',
          'expected number of nearer tokens',
        ],
        rows: widths.flatMap((d, place) =>
          scales.map((scale, row) => {
            const { share, lowest, highest, bound } = pointOf(data, place, row);
            return [vocabulary, data.looked, d, scale, share, lowest, highest, bound];
          }),
        ),
      };
    const found: DataTable = {
      columns: ['position', 'token', 'nearest other token', 'margin', 'nearest of all'],
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

function lostFinding(data: Lost, { vocabulary, bound }: State): string {
  const chance = bound
    ? ` At d\u00a0=\u00a0128 and ρ\u00a0=\u00a01, the expected share is at most ${exponent(lostAt(data, 128, 1).bound)}.`
    : '';
  const said = [8, 16, 32, 64].map((d) => `${few(lostAt(data, d, 1).share)} at d\u00a0=\u00a0${d}`);
  return `At width 8, ${few(lostAt(data, 8, 1).share)} of tokens are lost; at 64, ${few(lostAt(data, 64, 1).share)}. Of ${count(vocabulary)} random tokens, with random positions of the same norm (ρ\u00a0=\u00a01): ${said.join(', ')} are lost. With positions of twice the norm, ${few(lostAt(data, 64, 2).share)} are at d\u00a0=\u00a064.${chance}`;
}

function lostScene(data: Lost, bound: boolean, width: number): Scene {
  const { points } = data;
  const narrow = width < 560;
  const area = { x: 0, y: 0, width, height: narrow ? 260 : 320 };
  const { x, y, inner, marks } = plane(area, inTurn(widths, 'width d'), {
    from: 0,
    to: 1,
    label: 'tokens lost, positions ρ times as long',
    print: (tick) => `${Math.round(100 * tick)} %`,
  });
  const list = widths.map((_, place) => place);
  const lines = scales.flatMap((_, row): Mark[] => {
    const ink = scaleInks[row] as Ink;
    const of = (value: (point: Point) => number) => points.map((scaleRow) => value(scaleRow[row] as Point));
    // Beside each other, so that the three ranges can be told apart.
    const beside = (row - 1) * (narrow ? 3 : 6);
    const bounds = of(({ bound }) => (bound > 1 ? Number.NaN : bound));
    return [
      ...list.map(
        (place): Mark => ({
          mark: 'line',
          x1: x(place) + beside,
          x2: x(place) + beside,
          y1: y(pointOf(data, place, row).lowest),
          y2: y(pointOf(data, place, row).highest),
          ink,
          wide: 1.5,
        }),
      ),
      ...(bound
        ? [
            {
              mark: 'path',
              d: lineThrough({ x, y }, list, bounds),
              stroke: ink,
              dashed: true,
              wide: 1.5,
            } as const,
          ]
        : []),
      {
        mark: 'path',
        d: lineThrough(
          { x, y },
          list,
          of(({ share }) => share),
        ),
        stroke: ink,
        wide: 2.5,
      },
      {
        mark: 'dots',
        x: list.map((place) => x(place)),
        y: of(({ share }) => share).map((share) => y(share)),
        radius: 3,
        ink,
      },
    ];
  });
  // Each curve's name stands where fewer than half of the tokens are lost.
  const names = scales.map((scale, row): Mark => {
    const share = (place: number) => pointOf(data, place, row).share;
    const below = list.find((place) => share(place) < 0.5) ?? 0;
    return { mark: 'text', x: x(below) + 7, y: y(share(below)) - 7, text: `ρ=${scale}`, ink: 'ink' };
  });
  const thin = `thin: best to worst of ${positions} positions`;
  return {
    width,
    height: area.height + 25,
    marks: [...marks, ...lines, ...names, { mark: 'text', x: 0, y: area.height + 16, text: thin }],
    regions: [{ ...inner, pick: 'across', rows: 1, columns: widths.length }],
  };
}

function oneScene(data: One, width: number): Scene {
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
        text: 'mistaken: another token is nearer',
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
          label: 'nearest other token: the same one',
          ink: inks.same,
        },
        {
          label: 'nearest other token: a new one',
          ink: inks.other,
        },
      ]),
    ],
    regions: [{ ...inner, pick: 'across', rows: 1, columns: positions }],
  };
}
