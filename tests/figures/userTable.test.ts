// Figures of a reader's own tables, against the library's numbers for the file's rows, without a page.
import type { OverlapInput, Table } from 'add-or-concatenate';
import { afterEach, describe, expect, test } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { figures as everyFigure } from '../../web/figures/index.ts';
import type { TableKind, UserTables } from '../../web/figures/userFile.ts';
import { tableFigures } from '../../web/figures/userTable.ts';
import { computeWith } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { userTable } from '../../web/worker/userTable.ts';
import { plain } from '../api/support/builds.ts';
import { fileOf, tableFiles } from '../api/support/files.ts';
import { inPrecision, largestDifference } from '../api/support/numbers.ts';
import { expectSoundPictures } from './support.ts';

const loaded = library();
const job = { signal: new AbortController().signal, progress: () => {} };
const ask = (figure: string, question: object) =>
  userTable(loaded, figure, question as State, job, computeWith);

const drawn = (rows: number, columns: number, seed: number) =>
  inPrecision<Table>(plain.randomNormal({ rows, columns, seed }), 'float32');
const tokens = drawn(80, 12, 5);
const positions = drawn(70, 12, 6);
const words = Array.from({ length: 80 }, (_, row) => `word-${row}`);
const firstRows = ({ data, columns }: Table, rows: number) => ({
  data: data.slice(0, rows * columns),
  rows,
  columns,
});

const open = (kind: TableKind, name: string, bytes: Uint8Array<ArrayBuffer>, tensor?: string) =>
  ask('user-table-open', { kind, files: [new File([bytes], name)], tensor }) as Promise<UserTables>;
const npyOf = (table: Table) => tableFiles(table, words)['rows.npy'] as Uint8Array<ArrayBuffer>;

/** Compares the numbers of one build of the library with those of the other. */
const expectClose = (actual: ArrayLike<number>, expected: ArrayLike<number>) =>
  expect(largestDifference(actual, expected)).toBeLessThan(1e-10);

/**
 * Shows a figure in a state: checks its pictures, and returns its data, the settings that have inputs, and
 * its sentence.
 */
async function show(tables: UserTables, name: string, settings: State = {}) {
  const figure = tableFigures(tables)[name] as AnyFigure;
  const state = { ...initialState(figure.controls), ...settings };
  // biome-ignore lint/suspicious/noExplicitAny: of any figure
  const data = (await ask(name, state)) as any;
  expectSoundPictures({ figure, data, state });
  const used = Object.keys(figure.controls).filter((control) => !figure.unused?.(state).includes(control));
  return { data, used, figure, finding: figure.describe(data, state) };
}

afterEach(async () => {
  expect(await ask('user-table-open', {})).toEqual({ token: undefined, position: undefined });
});

test('a table that is forgotten while it is opened stays forgotten', async () => {
  // Stops at each read of the file in turn, up to the last; the round that makes fewer reads opens the table.
  for (let at = 1, over = false; !over; at++) {
    const stop = new AbortController();
    const file = new File([npyOf(tokens)], 'rows.npy');
    let reads = 0;
    const slice = (...part: [number, number]) => {
      reads += 1;
      if (reads === at) stop.abort();
      return File.prototype.slice.apply(file, part);
    };
    const question = { kind: 'token', files: [Object.assign(file, { slice })] } as unknown as State;
    const opening = userTable(
      loaded,
      'user-table-open',
      question,
      { ...job, signal: stop.signal },
      computeWith,
    );
    const end = await opening.then(
      () => 'It is open.',
      (error: Error) => error.message,
    );
    over = reads < at;
    if (over) expect([end, at > 2]).toEqual(['It is open.', true]);
    else {
      expect(end, `read ${at}`).toContain('abort');
      await expect(ask('user-table-dot-products', {})).rejects.toThrow('There is no table open');
    }
  }
});

describe.each(Object.entries(tableFiles(tokens, words)))('%s', (name, bytes) => {
  const named = /words/.test(name);

  test('as rows of tokens', async () => {
    const tables = await open('token', name, bytes);
    expect(tables.token).toMatchObject({
      name,
      rows: 80,
      columns: 12,
      more: false,
      word: named ? 'word-0' : undefined,
    });
    const { data, used } = await show(tables, 'user-table-dot-products', { n: 9 });
    const rows = firstRows(tokens, 9);
    const position = plain.sinusoidal({ positions: 9, d_model: 12 });
    const expected = plain.dotProducts({ token: rows, position });
    expectClose(data.added, expected.added);
    expect(data.tokens[3]).toBe(named ? 'word-3' : 'token 3');
    expect(used).toEqual(['tokens', 'positions', 'scale', 'n']);
  });

  test('as rows of positions', async () => {
    const tables = await open('position', name, bytes);
    const { data, used } = await show(tables, 'user-table-dot-products', { n: 9, seed: 4 });
    const token = plain.randomNormal({ rows: 9, columns: 12, seed: 4 });
    expectClose(data.added, plain.dotProducts({ token, position: firstRows(tokens, 9) }).added);
    // The tokens cannot be chosen.
    expect(used).toEqual(['positions', 'scale', 'n', 'seed']);
  });
});

describe('tables of both kinds', () => {
  const openBoth = async () => {
    await open('token', 'words.csv', tableFiles(tokens, words)['words.csv'] as Uint8Array<ArrayBuffer>);
    return open('position', 'rows.npy', npyOf(positions));
  };

  test('have one name and one digest', async () => {
    const tables = await openBoth();
    const figures = tableFigures(tables);
    expect(Object.keys(figures)).toEqual(
      ['dot-products', 'collisions', 'overlap'].map((name) => `user-table-${name}`),
    );
    const digest = `${tables.token?.digest}.${tables.position?.digest}`;
    for (const { title, controls } of Object.values(figures)) {
      expect(title).toMatch(/^words\.csv and rows\.npy: /);
      expect(controls.file).toMatchObject({ options: { [digest]: 'words.csv and rows.npy' } });
    }
  });

  test('have every control of each figure', async () => {
    for (const [name, figure] of Object.entries(tableFigures(await openBoth()))) {
      const original = await (everyFigure[name.replace('user-table-', '')] as () => Promise<AnyFigure>)();
      expect(Object.keys(figure.controls), name).toEqual(
        expect.arrayContaining(Object.keys(original.controls)),
      );
    }
  });

  test('one word is moved along the positions', async () => {
    const tables = await openBoth();
    const { data, finding, used } = await show(tables, 'user-table-collisions', {
      word: 'Word-0',
      scale: 2,
    });
    const search = plain.collisionSearch({ tokens, positions: firstRows(positions, 64), positionScale: 2 });
    const expected = search.nearestTokens(0);
    search.delete();
    expect(data.word).toBe('word-0');
    expectClose(data.margins, expected.margins);
    expect(data.nearest).toEqual(Array.from(expected.nearest, (row) => `word-${row}`));
    expect(finding).toMatch(/Among 80 rows of the file, with positions at ρ = 2: .*raw: rows as stored/);
    expect(used).toEqual(['words', 'positions', 'scale', 'word']);
    await expect(show(tables, 'user-table-collisions', { word: 'zebra' })).rejects.toThrow(
      '“zebra” is not among the 80 rows that were read of “words.csv”',
    );
    // Random words, drawn as the page draws them, are different.
    const random = await show(tables, 'user-table-collisions', {
      words: 'seeded',
      positions: 'random',
      index: 0,
    });
    expect(random.finding).toContain('Among 80 random tokens of width 12');
    expect(random.data.word).toBe('token 0');
    expect(largestDifference(random.data.margins, expected.margins)).toBeGreaterThan(0.1);
    const again = await show(tables, 'user-table-collisions', { word: 'word-0', scale: 2 });
    expect(again.data.margins).toEqual(data.margins);
  });

  test('their overlap', async () => {
    const { data, finding } = await show(await openBoth(), 'user-table-overlap', { k: 4 });
    const rows: OverlapInput = { tokens, positions };
    expectClose(
      [data.raw, data.centred],
      [plain.energyOverlap(rows), plain.energyOverlap({ ...rows, centred: true })],
    );
    expect(data).toMatchObject({ tokenRows: 80, positionRows: 70, dimensions: 4 });
    // An eighth of 12 directions is not whole, so it is rounded up.
    expect(finding).toMatch(
      /The 2 directions in which the 80 token rows vary least, of 12, hold .* of the 4 main .*; chance is 17\s%/,
    );
  });

  test('drawn rows beside them are those that the page draws', async () => {
    const { data } = await show(await openBoth(), 'user-table-dot-products', {
      tokens: 'seeded',
      n: 5,
      seed: 3,
    });
    const token = plain.randomNormal({ rows: 5, columns: 12, seed: 3 });
    expectClose(data.added, plain.dotProducts({ token, position: firstRows(positions, 5) }).added);
  });
});

describe('the smallest tables', () => {
  test.each([1, 2, 3, 7])('two rows of %d', async (columns) => {
    await open('token', 'rows.npy', npyOf(drawn(2, columns, 1)));
    const tables = await open('position', 'other.npy', npyOf(drawn(2, columns, 2)));
    for (const [name, figure] of Object.entries(tableFigures(tables))) {
      const { data } = await show(tables, name);
      expect(figure.table(data, initialState(figure.controls)).rows.length).toBeGreaterThan(0);
    }
  });
});

test('a table that cannot be shown is refused, and the open tables stay', async () => {
  await expect(ask('user-table-overlap', {})).rejects.toThrow('There is no table open; open its file again.');
  const tables = await open('token', 'rows.npy', npyOf(tokens));
  const refused = (kind: TableKind, name: string, bytes: Uint8Array<ArrayBuffer>) =>
    expect(open(kind, name, bytes)).rejects;
  await refused('position', 'b.npy', npyOf(drawn(9, 5, 1))).toThrow(
    '“b.npy” has 5 columns and “rows.npy” 12. Rows that are added are equally long; forget the tables first.',
  );
  await refused('token', 'one.npy', npyOf(drawn(1, 12, 1))).toThrow('“one.npy” has one row');
  await refused('token', 'wide.npy', npyOf(drawn(2, 1025, 1))).toThrow('“wide.npy” has 1025 columns');
  const half = new TextEncoder().encode('the,1,2\ncat,3\n') as Uint8Array<ArrayBuffer>;
  await refused('token', 'half.csv', half).toThrow(
    '“half.csv”, line 2: expected 3 cells, as in line 1; found 2.',
  );
  expect((await show(tables, 'user-table-overlap')).data.tokenRows).toBe(80);
  // A table that takes its place may have another width.
  const other = await open('token', 'rows.npy', npyOf(drawn(9, 5, 1)));
  expect(other.token?.columns).toBe(5);
  // When there are fewer positions than those that a word is moved along, they are drawn.
  const small = await open('position', 'few.npy', npyOf(drawn(9, 5, 2)));
  const { figure, used, data } = await show(small, 'user-table-collisions');
  expect(used).toEqual(['words', 'positions', 'scale', 'index', 'seed']);
  expect(figure.remark?.(data, {})).toContain(
    'few.npy has 9 rows and the figure 64 positions, which are drawn.',
  );
});

test('a long file gives its first 5,000 rows, and of several tables the one that is named', async () => {
  const long = drawn(5002, 3, 1);
  const names = Array.from({ length: 5002 }, (_, row) => `w${row}`);
  const { token } = await open(
    'token',
    'long.csv',
    tableFiles(long, names)['words.csv'] as Uint8Array<ArrayBuffer>,
  );
  expect(token).toMatchObject({ rows: 5000, more: true });
  const { figure, data } = await show({ token, position: undefined }, 'user-table-overlap');
  expect(figure.remark?.(data, {})).toBe('The first 5,000 rows of long.csv were read.');
  expect(data.tokenRows).toBe(512);
  const bytes = new Uint8Array(firstRows(tokens, 2).data.buffer);
  const two = { a: { dtype: 'F32', shape: [4, 6], bytes }, b: { dtype: 'F32', shape: [3, 8], bytes } };
  const file = new Uint8Array(fileOf(two));
  await expect(open('position', 'two.safetensors', file)).rejects.toThrow(
    'tensor must name one of the tables in “two.safetensors”, "a", "b"',
  );
  await ask('user-table-open', {});
  expect((await open('position', 'two.safetensors', file, 'b')).position).toMatchObject({
    rows: 3,
    columns: 8,
  });
});

test('a request without a file or without a kind forgets the open tables', async () => {
  await open('token', 'rows.npy', npyOf(tokens));
  expect(await ask('user-table-open', { kind: 'token' })).toEqual({ token: undefined, position: undefined });
  await open('token', 'rows.npy', npyOf(tokens));
  const files = [new File([npyOf(tokens)], 'rows.npy')];
  expect(await ask('user-table-open', { files })).toEqual({ token: undefined, position: undefined });
});

test.each(Object.entries(tableFiles(tokens, words)))(
  'opening %s reports its progress from 0 to 1',
  async (name, bytes) => {
    const parts: number[] = [];
    const watched = { ...job, progress: (part: number) => parts.push(part) };
    const opening = (file: File) =>
      userTable(
        loaded,
        'user-table-open',
        { kind: 'token', files: [file] } as unknown as State,
        watched,
        computeWith,
      );
    await opening(new File([bytes], name));
    expect(parts.length).toBeGreaterThan(0);
    expect(Math.max(...parts)).toBe(1);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    parts.length = 0;
    await expect(opening(new File([], name))).rejects.toThrow();
    for (const part of parts) expect(part).toBe(0);
  },
);

test('of several files, only the first is opened', async () => {
  const files = [new File([npyOf(tokens)], 'first.npy'), new File([npyOf(drawn(9, 5, 1))], 'second.npy')];
  const { token } = (await ask('user-table-open', { kind: 'token', files })) as UserTables;
  expect(token).toMatchObject({ name: 'first.npy', rows: 80, columns: 12 });
});

test('the readout names rows by their words', async () => {
  const tables = await open(
    'token',
    'words.csv',
    tableFiles(tokens, words)['words.csv'] as Uint8Array<ArrayBuffer>,
  );
  const { figure, data } = await show(tables, 'user-table-dot-products');
  expect(figure.readout(data, initialState(figure.controls), { i: 2, j: 5 })[0]).toMatchObject({
    text: 'word-2',
  });
});

describe.each<[string, (row: number, column: number) => number]>([
  ['rows of zeros', () => 0],
  ['equal rows', (_, column) => Math.sin(column)],
  ['a first row of zeros', (row, column) => (row === 0 ? 0 : Math.sin(row + 7 * column))],
  ['one row that is not zero', (row, column) => (row === 1 ? column + 1 : 0)],
  ['columns of zeros', (row, column) => (column === 0 ? Math.sin(row) : 0)],
  ['rows that are multiples', (row, column) => (row + 1) * Math.sin(column)],
  ['very small numbers', (row, column) => 1e-30 * Math.sin(row + 7 * column)],
])('%s give pictures and sentences without NaN', (what, at) => {
  const equal = [0, 1].every((column) => [1, 2, 3].every((row) => at(row, column) === at(0, column)));
  const tableOf = (rows: number) => ({
    data: Float32Array.from({ length: rows * 12 }, (_, k) => at(Math.floor(k / 12), k % 12)),
    rows,
    columns: 12,
  });
  test.each([
    ['token', 80],
    ['position', 70],
  ] as const)('as %s rows', async (kind, rows) => {
    const tables = await open(kind, 'rows.npy', npyOf(tableOf(rows)));
    for (const name of Object.keys(tableFigures(tables))) {
      const { finding } = await show(tables, name);
      expect(finding, name).not.toMatch(/–|-1\b/);
      // A very small number must not be printed as 0.
      if (kind === 'token' && what === 'very small numbers') expect(finding).not.toContain(' 0 away');
      const nothing = name === 'user-table-overlap' && equal;
      expect(finding.includes('nothing to compare'), name).toBe(nothing);
    }
  });
});
