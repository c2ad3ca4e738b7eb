// Figures of tables that the reader opened: those with drawn tables, with the file's rows in their place.
import type { CsvLayout, CsvOptions } from 'superpose';
import { figure as collisions } from './collisions.js';
import type { Control, State } from './controls.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure } from './figure.js';
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

/** The tables that are open, and what their figures say of them. */
interface Open extends HeldTables {
  all: readonly HeldTable[];
  /** Columns of each. */
  d: number;
  name: string;
  /** Of tables that were not read to their end. */
  said: string;
}

function openOf({ token, position }: HeldTables): Open {
  const all = [token, position].filter((one) => one !== undefined);
  const [{ columns: d }] = all as [HeldTable];
  const name = all.map((one) => brief(one.name)).join(' and ');
  const said = all
    .filter(({ more }) => more)
    .map((one) => `The first ${one.rows.toLocaleString('en')} rows of ${brief(one.name)} were read.`)
    .join(' ');
  return { token, position, all, d, name, said };
}

/** The figures of the tables that are open, by name. */
export function tableFigures(tables: HeldTables): Record<string, AnyFigure> {
  const open = openOf(tables);
  const digest = open.all.map((one) => one.digest).join('.');
  const source: AnyFigure['source'] = ({ tokens, words = tokens, positions }) =>
    words === 'own' || positions === 'own' ? 'own' : 'seeded';
  const made = [productsOf, collisionsOf, overlapOf].map((of) => of(open));
  return Object.fromEntries(
    made.map((figure) => [figure.name, inFile({ ...figure, source }, digest, open.name)]),
  );
}

const random = { seeded: 'Random (seeded)' };
const ofTokens = ({ token }: Open) =>
  choice(dotProducts.controls.tokens, 'Tokens', random, token !== undefined);
const ofPositions = (control: Control, options: Record<string, string>, own: boolean) =>
  choice(control, 'Positions', options, own);
const { learned: _learned, ...encodings } = dotProducts.controls.positions.options;

const range = (control: { initial: number; min: number }, max: number) =>
  ({ ...control, kind: 'range', step: 1, max, initial: Math.min(control.initial, max) }) as Control;
const most = ({ all }: Open, limit: number) => Math.min(limit, ...all.map(({ rows }) => rows));

/** There is a seed only if something is drawn: positions are under the options that are named. */
const drawn = (...random: string[]) => ({
  unused: ({ tokens, words = tokens, positions }: State) =>
    words !== 'own' || random.includes(positions as string) ? [] : ['seed'],
});

function productsOf(open: Open): AnyFigure {
  const { positions, scale, n, seed } = dotProducts.controls;
  return {
    ...as(
      dotProducts,
      'own-table-dot-products',
      `${open.name}: adding versus concatenating, in dot products`,
      several({
        tokens: ofTokens(open),
        positions: ofPositions(positions, encodings, open.position !== undefined),
        scale,
        n: range(n, most(open, n.max)),
        seed,
      }),
      { tokens: 'sentence' },
      open.said,
    ),
    ...drawn('random'),
  };
}

function collisionsOf({ token, position, d, name, said }: Open): AnyFigure {
  const hasPlaces = position !== undefined && position.rows >= places;
  const { words, positions, index, scale, seed, word } = collisions.controls;
  const last = (token?.rows ?? index.max + 1) - 1;
  const controls = several({
    words: choice(words, 'Tokens', { seeded: words.options.seeded }, token !== undefined),
    positions: ofPositions(positions, positions.options, hasPlaces),
    scale,
    index: range(index, last),
    seed,
    ...(token?.word !== undefined && { word: { ...word, initial: token.word.slice(0, 40) } }),
  });
  return {
    ...as(
      collisions,
      'own-table-collisions',
      `${name}: one token, moved along the positions`,
      controls,
      { of: 'one', d, ...(!token && { words: 'seeded' }) },
      position && !hasPlaces
        ? `${said} ${brief(position.name)} has ${position.rows} rows and the figure ${places} positions, which are drawn.`.trim()
        : said,
    ),
    unused: (state: State) => [
      ...(state.words === 'own' && 'word' in controls ? ['index'] : ['word']),
      ...drawn('random').unused(state),
    ],
  };
}

function overlapOf(open: Open): AnyFigure {
  const { position, d, name, said } = open;
  const { k, seed } = overlap.controls;
  const values = [1, ...k.values].filter((one) => one <= Math.min(d, position?.rows ?? d));
  const { interleaved } = encodings;
  return {
    ...as(
      overlap,
      'own-table-overlap',
      `${name}: how much tokens and positions overlap`,
      several({
        tokens: ofTokens(open),
        positions: ofPositions(dotProducts.controls.positions, { interleaved }, position !== undefined),
        k: { ...k, values, initial: Math.min(k.initial, values.at(-1) as number) },
        seed,
      }),
      { of: 'tables', tables: 'seeded' },
      said,
    ),
    ...drawn(),
  };
}
