// Figures of tables that the reader opened: those with drawn tables, with the file's rows in their place.
import type { CsvLayout, CsvOptions } from 'superpose';
import { about } from '../plot/format.js';
import { figure as collisions } from './collisions.js';
import type { Control, State } from './controls.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure } from './figure.js';
import { rawRows } from './gaugeControl.js';
import { figure as oneScore } from './oneScore.js';
import { figure as overlap } from './overlap.js';
import { as, inFile } from './ownFigure.js';

export type TableKind = 'token' | 'position';

/** What the page knows about a table. */
export interface HeldTable {
  name: string;
  kind: TableKind;
  /** Rows that were read, and whether the file has more. */
  rows: number;
  more: boolean;
  columns: number;
  /** The word of the first row, if the file names its rows. */
  word: string | undefined;
  /** How comma-separated values were read; undefined for other formats. */
  layout: CsvLayout | undefined;
  digest: string;
}

export type HeldTables = Record<TableKind, HeldTable | undefined>;

/** A question to the worker: a file to open as rows of a kind or, if empty, to forget what is open. */
export interface TableQuestion extends CsvOptions {
  files?: readonly File[];
  kind?: TableKind;
  tensor?: string;
}

/** Positions along which a word is moved. */
const places = 64;

const brief = (name: string) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);

const choice = (control: Control, label: string, options: Record<string, string>, own: boolean) =>
  ({
    ...control,
    label,
    options: { ...(own && { own: 'The file’s own' }), ...options },
    initial: own ? 'own' : (Object.keys(options)[0] as string),
  }) as Control;

/** Leaves out choices that have only one option. */
const several = (controls: Record<string, Control>) =>
  Object.fromEntries(
    Object.entries(controls).filter(
      ([, control]) => control.kind !== 'choice' || Object.keys(control.options).length > 1,
    ),
  );

/** The figures of the tables that are open, by name. */
export function tableFigures({ token, position }: HeldTables): Record<string, AnyFigure> {
  const open = [token, position].filter((one) => one !== undefined);
  const [{ columns: d }] = open as [HeldTable];
  const name = open.map((one) => brief(one.name)).join(' and ');
  const digest = open.map((one) => one.digest).join('.');
  const said = open
    .filter(({ more }) => more)
    .map((one) => `The first ${one.rows.toLocaleString('en')} rows of ${brief(one.name)} were read.`)
    .join(' ');
  const made: Record<string, AnyFigure> = {};
  const add = (figure: AnyFigure) => {
    const source: AnyFigure['source'] = ({ tokens, words = tokens, positions }) =>
      words === 'own' || positions === 'own' ? 'own' : 'seeded';
    made[figure.name] = inFile({ ...figure, source }, digest, name);
  };
  const most = (limit: number) => Math.min(limit, ...open.map(({ rows }) => rows));
  const range = (control: { initial: number; min: number }, max: number) =>
    ({ ...control, kind: 'range', step: 1, max, initial: Math.min(control.initial, max) }) as Control;
  const random = { seeded: 'Random (seeded)' };
  const tokens = choice(dotProducts.controls.tokens, 'Tokens', random, token !== undefined);
  const positionsOf = (control: Control, options: Record<string, string>, fits = true) =>
    choice(control, 'Positions', options, fits && position !== undefined);
  /** There is a seed only if something is drawn. */
  const drawn = (...random: string[]) => ({
    unused: ({ tokens, words = tokens, positions }: State) =>
      words !== 'own' || random.includes(positions as string) ? [] : ['seed'],
  });

  const { scale, n, seed } = dotProducts.controls;
  const { learned, ...encodings } = dotProducts.controls.positions.options;
  const ofProducts = dotProducts.controls.positions;
  add({
    ...as(
      dotProducts,
      'own-table-dot-products',
      `${name}: adding versus concatenating, in dot products`,
      several({
        tokens,
        positions: positionsOf(ofProducts, encodings),
        scale,
        n: range(n, most(n.max)),
        seed,
      }),
      { tokens: 'sentence' },
      said,
    ),
    ...drawn('random'),
  });

  const hasPlaces = position !== undefined && position.rows >= places;
  const { words, positions, index, seed: wordSeed } = collisions.controls;
  const last = (token?.rows ?? index.max + 1) - 1;
  const forCollisions = several({
    words: choice(words, 'Tokens', { seeded: words.options.seeded }, token !== undefined),
    positions: positionsOf(positions, positions.options, hasPlaces),
    scale: collisions.controls.scale,
    index: range(index, last),
    seed: wordSeed,
    ...(token?.word !== undefined && {
      word: { ...collisions.controls.word, initial: token.word.slice(0, 40) },
    }),
  });
  add({
    ...as(
      collisions,
      'own-table-collisions',
      `${name}: one token, moved along the positions`,
      forCollisions,
      { of: 'one', d, ...(!token && { words: 'seeded' }) },
      position && !hasPlaces
        ? `${said} ${brief(position.name)} has ${position.rows} rows and the figure ${places} positions, which are drawn.`.trim()
        : said,
    ),
    unused: (state: State) => [
      ...(state.words === 'own' && 'word' in forCollisions ? ['index'] : ['word']),
      ...drawn('random').unused(state),
    ],
  });

  const { k } = overlap.controls;
  const values = [1, ...k.values].filter((one) => one <= Math.min(d, position?.rows ?? d));
  const forOverlap = several({
    tokens,
    positions: positionsOf(ofProducts, { interleaved: encodings.interleaved }),
    k: { ...k, values, initial: Math.min(k.initial, values.at(-1) as number) },
    seed,
  });
  add({
    ...as(
      overlap,
      'own-table-overlap',
      `${name}: how much tokens and positions overlap`,
      forOverlap,
      { of: 'tables', tables: 'seeded' },
      said,
    ),
    ...drawn(),
  });

  const { k1, k2 } = overlap.controls;
  // Begins with an eighth of all dimensions, like the page's own figure.
  const eighth = (control: { min: number }) => ({ ...control, initial: Math.ceil(d / 8) });
  const forSubspaces = several({
    tokens: choice(tokens, 'Rows of the first space', random, token !== undefined),
    positions: choice(tokens, 'Rows of the second', random, position !== undefined),
    k1: range(eighth(k1), Math.min(k1.max, d, token?.rows ?? d)),
    k2: range(eighth(k2), Math.min(k2.max, d, position?.rows ?? d)),
    seed,
  });
  const rowsOf = (kind: string, held: HeldTable | undefined, count: number, own: boolean) =>
    own ? `the first ${count} ${kind} rows of ${brief(held?.name ?? '')}` : `${count} random rows`;
  add({
    ...as(
      overlap,
      'own-table-subspaces',
      `${name}: angles between the spaces that rows span`,
      forSubspaces,
      { of: 'subspaces', d },
      said,
    ),
    describe: (
      data,
      { tokens, positions, k1, k2 }: Record<'tokens' | 'positions', string> & Record<'k1' | 'k2', number>,
    ) =>
      `In ${d} dimensions, the spaces that ${rowsOf('token', token, k1, tokens === 'own')} and ${rowsOf('position', position, k2, positions === 'own')} span have directions with a cosine of ${about(data.drawnLargest)}. Of two random spaces ${about(data.largest)} is the edge expected ${data.spaces.shared > 0 ? `beside the ${data.spaces.shared} directions that they must share` : 'for large d'}. The squared cosines add up to ${about(data.spaces.sum)}, of random spaces ${about(data.spaces.expectedSum)}.${rawRows}`,
    unused: ({ tokens, positions }) => (tokens === 'own' && positions === 'own' ? ['seed'] : []),
  });

  const { weights: _, text: __, d: ___, positions: ofScore, ...forScore } = oneScore.controls;
  const { own: ____, ...encodingsOfScore } = ofScore.options;
  add({
    ...as(
      oneScore,
      'own-table-one-score',
      `${name}: from tables to attention`,
      several({
        tokens,
        positions: positionsOf(ofScore, encodingsOfScore),
        ...forScore,
        n: range(forScore.n, most(forScore.n.max)),
        head: { ...forScore.head, initial: 0 },
        heads: { ...forScore.heads, initial: 4 },
        layer: { ...forScore.layer, initial: 'bare' },
        tables: { ...forScore.tables, initial: true },
        gauge: { ...forScore.gauge, initial: 'raw' },
        centred: { ...forScore.centred, initial: false },
      }),
      { weights: 'seeded' },
      said,
    ),
    settle: (state: State) => ({
      ...state,
      head: Math.min(state.head as number, (state.heads as number) - 1),
    }),
    ...drawn('random', 'learned'),
  });
  return made;
}
