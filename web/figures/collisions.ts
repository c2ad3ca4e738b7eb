// Figure "Tokens lost to a position": the share of tokens that are no longer their own nearest token once a
// position is added, against the width, for three sizes of positions; and one token's margin over all
// others, along the positions.
import type { CollisionSearch, Superpose, Table } from 'add-or-concatenate';
import { about, readable } from '../plot/format.js';
import {
  type Area,
  dotsAt,
  hatching,
  horizontal,
  largestMagnitude,
  lineKey,
  lineThrough,
  plane,
  textAt,
} from '../plot/parts.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import {
  controls,
  count,
  type LostShares,
  largestVocabulary,
  lost,
  lostFinding,
  lostScene,
  pointOf,
  positions,
  type State,
  scaleInks,
  scales,
  smallPercent,
  widths,
} from './collisionsLost.js';
import { drawnRows, rowName, userRows } from './drawnRows.js';
import type { Compute, DataTable, Figure, Library } from './figure.js';
import { rawRows, rawTable } from './trainedModel.js';
import { shortName } from './userFile.js';
import {
  columnsOf,
  rangeTo,
  rowsControl,
  tablesRemark,
  tablesSource,
  unusedSeed,
} from './userTableControls.js';

/** One token, moved by each position. */
interface TokenMargins {
  word: string;
  /** The other token nearest to this one without a position, and its distance. */
  bare: string;
  bareDistance: number;
  /** The margin without a position: half that distance squared. */
  bareMargin: number;
  /** [positions], the other token nearest to token + position. */
  nearest: string[];
  /** [positions], the margin over that other token; negative where it is nearer than the token itself. */
  margins: Float64Array;
  /** How many tokens were searched. */
  vocabulary: number;
  /**
   * Sentences that say if no text was typed, if it was cut into pieces, or if its piece was added to the
   * tokens that are searched; empty if none of these applies.
   */
  note: string;
}

type Data = LostShares | TokenMargins;

const isLost = (data: Data): data is LostShares => 'points' in data;

/** MiniLM's frequent word pieces: ids from “the” on are ordered by frequency. */
export const frequent = { first: 1996, count: 2048 } as const;

/** MiniLM's rows are read in batches of this many. */
const batchRows = 512;

export const compute: Compute<typeof controls, Data> = async (library, state: State, job) => {
  const superpose = await library.superpose();
  const { vocabulary, seed } = state;
  if (state.of === 'lost')
    return library.memoize('collisions: lost', [vocabulary, seed], () => lost(superpose, state, job));
  return state.words === 'trained'
    ? trained(library, superpose, state)
    : fromTable(library, superpose, state);
};

/** One token among random ones, or among those of the reader's own table. */
export function fromTable(library: Library, superpose: Superpose, state: State): TokenMargins {
  const { vocabulary, d, seed } = state;
  const { userTables } = library;
  const isUsers = state.words === 'user';
  const words = isUsers ? userTables?.words : undefined;
  const key = [d, seed, state.words, userTables?.key];
  // The largest vocabulary is drawn once; a smaller one is its first rows.
  const { data } = library.memoize('collisions: drawn', key, () =>
    isUsers
      ? userRows(library, 'token', largestVocabulary)
      : drawnRows(superpose, 'token', { rows: largestVocabulary, columns: d, seed }),
  );
  const tokens = { data: data.subarray(0, vocabulary * d), rows: vocabulary, columns: d };
  const index = words && userTables ? userTables.placeOf(state.word) : state.index;
  const search = searchAt(library, superpose, tokens, [key, vocabulary], state, () => {
    if (state.positions === 'user') return userRows(library, 'position', positions);
    return state.positions === 'random'
      ? drawnRows(superpose, 'position', { rows: positions, columns: d, seed })
      : superpose.sinusoidal({ positions, d_model: d });
  });
  const nearest = search.nearestTokens(index);
  const nameOf = (token: number) => rowName(words, token);
  return {
    word: nameOf(index),
    bare: nameOf(nearest.bare[0] as number),
    bareDistance: nearest.bareDistances[0] as number,
    bareMargin: nearest.bareMargins[0] as number,
    nearest: Array.from(nearest.nearest, nameOf),
    margins: nearest.margins,
    vocabulary,
    note: '',
  };
}

export async function trained(library: Library, superpose: Superpose, state: State): Promise<TokenMargins> {
  const model = await library.miniLM();
  const { ids, tokens: pieces } = await model.tokenize(state.word, 8);
  // The first piece after [CLS]; without text, the first frequent one.
  const typed = ids.length > 2;
  const id = typed ? (ids[1] as number) : frequent.first;
  const known = id >= frequent.first && id < frequent.first + frequent.count;
  const key = known ? 'frequent' : `frequent and ${id}`;
  const tokens = await library.memoize('collisions: frequent', key, async (): Promise<Table> => {
    const all = Array.from({ length: frequent.count }, (_, place) => frequent.first + place);
    if (!known) all.push(id);
    const data = new Float64Array(all.length * model.d_model);
    for (let from = 0; from < all.length; from += batchRows) {
      const some = { ids: all.slice(from, from + batchRows) };
      data.set((await model.rows(some)).token.data, from * model.d_model);
    }
    return { data, rows: all.length, columns: model.d_model };
  });
  const anyIds = Array.from({ length: positions }, () => id);
  const { position } = await model.rows({ ids: anyIds });
  const search = searchAt(library, superpose, tokens, key, state, () => position);
  const result = search.nearestTokens(known ? id - frequent.first : frequent.count);
  const idOf = (place: number) => (place < frequent.count ? frequent.first + place : id);
  const [word = '', bare = '', ...nearest] = await model.pieces([
    id,
    idOf(result.bare[0] as number),
    ...Array.from(result.nearest, idOf),
  ]);
  const notes = [
    typed ? '' : 'There is no token in the text; another stands in.',
    ids.length > 3 ? `The text is cut into ${pieces.slice(1, -1).join(' ')}; the first piece is moved.` : '',
    known ? '' : 'This piece, not a frequent one, was added.',
  ];
  return {
    word,
    bare,
    bareDistance: result.bareDistances[0] as number,
    bareMargin: result.bareMargins[0] as number,
    nearest,
    margins: result.margins,
    vocabulary: tokens.rows,
    note: notes.filter(Boolean).join(' '),
  };
}

/**
 * Prepares the search among these tokens at the scaled positions; memoized, because the next token to be
 * moved needs the same search.
 */
function searchAt(
  { memoize }: Library,
  superpose: Superpose,
  tokens: Table,
  words: unknown,
  state: State,
  positionsOf: () => Table,
): CollisionSearch {
  const key = [words, state.words, state.positions, state.scale, state.seed];
  return memoize('collisions: search', key, () =>
    superpose.collisionSearch({ tokens, positions: positionsOf(), positionScale: state.scale }),
  );
}

type Fate = 'same' | 'other' | 'taken';

const fateOf = ({ nearest, margins, bare }: TokenMargins, place: number): Fate =>
  (margins[place] as number) < 0 ? 'taken' : nearest[place] === bare ? 'same' : 'other';

const inks = { same: 'accent', other: 'third', taken: 'second' } as const;

const smallestOf = ({ margins }: TokenMargins): number => margins.indexOf(Math.min(...margins));

/** The magnitude relative to which numbers are rounded: the largest distance or margin, at most 1. */
const sizeOf = ({ bareDistance, margins }: TokenMargins) =>
  Math.min(1, largestMagnitude([[bareDistance], margins]));

const where = ({ words, d, scale }: State, { vocabulary }: TokenMargins) =>
  words === 'trained'
    ? `Among ${count(vocabulary)} tokens of MiniLM, with its own positions${scale === 1 ? '' : ` times ${scale}`}`
    : `Among ${count(vocabulary)} ${words === 'seeded' ? `random tokens of width ${d}` : 'rows of the file'}, with positions at ρ = ${scale}`;

export const figure: Figure<typeof controls, Data> = {
  name: 'collisions',
  title: 'Tokens lost to a position',
  controls,
  source: ({ of, words }) => (of === 'lost' ? 'seeded' : words),
  waiting: 'Fetching MiniLM’s tokenizer and the rows of 2,048 tokens…',
  unused({ of, words }) {
    if (of === 'lost') return ['words', 'positions', 'd', 'scale', 'index', 'word'];
    return words === 'seeded' ? ['word'] : ['positions', 'vocabulary', 'd', 'index', 'seed'];
  },
  forTables(tables) {
    const { token, position } = tables;
    const { words, index, word } = controls;
    const hasPositions = position !== undefined && position.rows >= positions;
    const tooFew =
      position && !hasPositions
        ? `${shortName(position.name)} has ${position.rows} rows and the figure ${positions} positions, which are drawn.`
        : '';
    const isNamed = token?.word !== undefined;
    return {
      title: 'One token, moved along the positions',
      fixed: { of: 'token', d: columnsOf(tables), vocabulary: token?.rows ?? largestVocabulary },
      controls: {
        words: rowsControl('Tokens', token !== undefined, { seeded: words.options.seeded }),
        positions: rowsControl('Positions', hasPositions, controls.positions.options),
        index: rangeTo(index, (token?.rows ?? index.max + 1) - 1),
        word: { ...word, initial: token?.word?.slice(0, word.longest) ?? word.initial },
      },
      source: tablesSource,
      unused: (state) => [
        isNamed && state.words === 'user' ? 'index' : 'word',
        ...unusedSeed(state, ['random']),
      ],
      remark: [tablesRemark(tables), tooFew].filter(Boolean).join(' '),
    };
  },

  settle: (state) => ({ ...state, index: Math.min(state.index, state.vocabulary - 1) }),

  scene: (data, _, width) => (isLost(data) ? lostScene(data, width) : oneScene(data, width)),

  describe(data, state) {
    if (isLost(data)) return lostFinding(data, state);
    const { word, bare, margins } = data;
    const lost = margins.filter((margin) => margin < 0).length;
    const least = smallestOf(data);
    const size = sizeOf(data);
    const fate =
      lost === 0
        ? `No position takes “${word}” to another token`
        : `“${word}” is lost at ${lost} of ${positions} positions`;
    const before = `without a position “${bare}” is nearest, ${about(data.bareDistance, size)} away, its distance to being mistaken ${about(data.bareMargin, size)}`;
    const after = `; with one it is at least ${about(margins[least] as number, size)}, at position ${least}, against “${data.nearest[least]}”.${state.words === 'seeded' ? '' : rawRows}`;
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
            { text: `${smallPercent(share)} at ρ = ${scale}`, ink: scaleInks[row] as Ink },
            ` (${smallPercent(lowest)} to ${smallPercent(highest)} by position)${row === scales.length - 1 ? '.' : ', '}`,
          ];
        }),
      ];
    const fate = fateOf(data, j);
    const { word, nearest, margins } = data;
    return [
      { text: `“${word}” at position ${j}`, strong: true },
      ': the nearest other token is ',
      { text: `“${nearest[j]}”`, ink: inks[fate] },
      `, distance to being mistaken ${readable(margins[j] as number, sizeOf(data))}. `,
      fate === 'taken' ? `It is nearer than “${word}” itself.` : `Without a position it is “${data.bare}”.`,
    ];
  },

  remark: (data) => (isLost(data) ? '' : data.note),

  table(data, { words, vocabulary }) {
    if (isLost(data))
      return {
        columns: ['tokens', 'looked up', 'd', 'ρ', 'share lost', 'at the best position', 'at the worst'],
        rows: widths.flatMap((d, place) =>
          scales.map((scale, row) => {
            const { share, lowest, highest } = pointOf(data, place, row);
            return [vocabulary, data.looked, d, scale, share, lowest, highest];
          }),
        ),
      };
    const table: DataTable = {
      columns: ['position', 'token', 'nearest other token', 'margin', 'nearest of all'],
      rows: Array.from({ length: positions }, (_, place) => [
        place,
        data.word,
        data.nearest[place] as string,
        data.margins[place] as number,
        fateOf(data, place) === 'taken' ? (data.nearest[place] as string) : data.word,
      ]),
    };
    return rawTable(words !== 'seeded', table);
  },
};

function oneScene(data: TokenMargins, width: number): Scene {
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
    return dotsAt(
      some.map((place) => x(place)),
      some.map((place) => y(data.margins[place] as number)),
      narrow ? 2 : 3,
      inks[fate],
    );
  };
  const bottom = inner.y + inner.height;
  return {
    width,
    height: area.height + 52,
    marks: [
      {
        mark: 'path',
        d: hatching({ ...inner, y: Math.min(y(0), bottom), height: Math.max(0, bottom - y(0)) }),
        stroke: 'quiet',
        wide: 1,
        opacity: 0.3,
      },
      ...marks,
      horizontal({ inner }, y(0), { ink: 'quiet', wide: 2 }),
      horizontal({ inner }, y(half), { ink: 'quiet', dashed: true, wide: 1.5 }),
      { mark: 'path', d: lineThrough({ x, y }, list, data.margins), stroke: 'quiet', wide: 1 },
      dots('same'),
      dots('other'),
      dots('taken'),
      textAt(inner.x + inner.width - 4, (y(0) + bottom) / 2 + 4, 'mistaken: another token is nearer', {
        anchor: 'end',
        ink: 'ink',
      }),
      textAt(inner.x + inner.width - 4, y(half) - 7, 'without a position', { anchor: 'end' }),
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
