// The part of a model that one state carries, for a model made up here: what is recorded of it, and that it
// is read again unchanged; and a page of one file that computes with that part, and with nothing else.
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import {
  excerptReader,
  excerptRecorder,
  fromBase64,
  type ModelExcerpt,
  NotInExcerpt,
  onlyExcerpt,
  toBase64,
} from '../../web/embed/modelExcerpt.ts';
import { computeWithSupplies } from '../../web/embed/program.ts';
import { initialState, type State } from '../../web/figures/controls.ts';
import { figures } from '../../web/figures/index.ts';
import { excerptOf } from '../../web/worker/excerpt.ts';
import { library } from '../../web/worker/library.ts';

type MiniLM = Parameters<typeof onlyExcerpt>[0];

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const parsed = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));
/** How many rows each of a table’s files has; the last file has the rows that are left. */
const tableRows = [3, 1, 4, 100, 900, 2];
const columns = 5;
/** The bytes of a row of half-precision numbers, different from those of every other row. */
const rowOf = (table: string, row: number) =>
  Uint8Array.from({ length: 2 * columns }, (_, at) => (table === 'words' ? 7 : 91) * (row + 1) + at);

const row = 2 * columns;
const sizes = { words: 1200, positions: 6 };
const manifestOf = (rows: number | readonly number[], tokenizer = 9) => ({
  name: 'made up',
  files: {
    weights: [
      { name: 'layer-0.bin', bytes: 70_000 },
      ...Object.entries(sizes).map(([name, all]) => ({ name: `${name}-#.bin`, bytes: all * row, row, rows })),
    ],
    'tokenizer.json': [{ name: 'tokenizer.json', bytes: tokenizer }],
  },
});

/** A model of 1200 words and 6 positions in files of different lengths, and a list of the files read. */
function modelOf(more: Record<string, Uint8Array> = {}) {
  const requests: string[] = [];
  const vocab = Object.fromEntries(Array.from({ length: 1200 }, (_, id) => [`w${id}`, id]));
  const files: Record<string, Uint8Array> = {
    'manifest.json': bytesOf(manifestOf(tableRows)),
    'tokenizer.json': bytesOf({ version: 1, model: { type: 'WordPiece', vocab } }),
    'layer-0.bin': Uint8Array.from({ length: 70_000 }, (_, at) => at % 253),
    ...more,
  };
  for (const [table, rows] of Object.entries(sizes)) {
    for (let first = 0, at = 0; first < rows; at++) {
      const end = Math.min(rows, first + (tableRows[at] ?? rows));
      const numbers = Array.from({ length: end - first }, (_, row) => [...rowOf(table, first + row)]);
      files[`${table}-${at}.bin`] = Uint8Array.from(numbers.flat());
      first = end;
    }
  }
  const read = async (file: string) => {
    requests.push(file);
    const bytes = files[file];
    if (!bytes) throw new Error(`no ${file}`);
    return bytes;
  };
  return { read, asked: requests, files };
}

test.each([0, 1, 2, 3, 0x7fff, 0x8000, 0x8001, 100_000])('%d bytes as base64 and back', (length) => {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 7) % 256);
  expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
  expect([...fromBase64(toBase64(bytes))]).toEqual([...bytes]);
});

describe('a recorded model', () => {
  test('has one row a file, each that of the model', async () => {
    const { read } = modelOf();
    const { read: recorded } = excerptRecorder(read);
    expect(parsed(await recorded('manifest.json'))).toEqual(manifestOf(1));
    for (const [table, row] of [
      ['words', 0],
      ['words', 2],
      ['words', 3],
      ['words', 4],
      ['words', 107],
      ['words', 1100],
      ['words', 1199],
      ['positions', 5],
    ] as const)
      expect(await recorded(`${table}-${row}.bin`)).toEqual(rowOf(table, row));
    await expect(recorded('words-1200.bin')).rejects.toThrow('The table words has no row 1200.');
  });

  test('of which nothing was asked has nothing to carry', async () => {
    const { read, asked: requests } = modelOf();
    expect(excerptRecorder(read).excerpt()).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('is read again from the excerpt, and no more than that', async () => {
    const { read, files, asked: requests } = modelOf();
    const record = excerptRecorder(read);
    const rows = [
      ['words', 1100],
      ['words', 4],
      ['positions', 2],
      ['words', 4],
      ['words', 9],
    ] as const;
    for (const file of ['manifest.json', 'tokenizer.json', 'layer-0.bin']) await record.read(file);
    for (const [table, row] of rows) await record.read(`${table}-${row}.bin`);
    expect(requests.filter((file) => file === 'manifest.json')).toHaveLength(1);
    // The excerpt as it goes into a page.
    const excerpt = JSON.parse(JSON.stringify(record.excerpt())) as ModelExcerpt;
    expect(excerpt.rows.words?.at).toEqual([4, 9, 1100]);
    expect(excerpt.pieces.sort((a, b) => a - b)).toEqual([4, 9, 1100]);

    const again = excerptReader(excerpt);
    for (const [table, row] of rows) expect(await again(`${table}-${row}.bin`)).toEqual(rowOf(table, row));
    expect([...(await again('layer-0.bin'))]).toEqual([...(files['layer-0.bin'] as Uint8Array)]);
    const { length } = await again('tokenizer.json');
    expect(length).toBeLessThan((files['tokenizer.json'] as Uint8Array).length);
    expect(parsed(await again('manifest.json'))).toEqual(manifestOf(1, length));
    for (const file of ['words-5.bin', 'positions-4.bin', 'other-2.bin', 'layer-1.bin'])
      await expect(again(file), file).rejects.toThrow(new NotInExcerpt(`${file} is not in the excerpt.`));
    // The vocabulary keeps the first thousand words, and those that were asked for.
    const { version, model } = parsed(await again('tokenizer.json'));
    expect([version, model.type]).toEqual([1, 'WordPiece']);
    expect(Object.values(model.vocab)).toEqual([...Array.from({ length: 1000 }, (_, id) => id), 1100]);
  });

  test('is refused where it is more than a page can carry, whatever of it is read twice', async () => {
    const { read } = modelOf({
      large: new Uint8Array(2_999_000),
      'tokenizer.json': new Uint8Array(9_000_000),
    });
    const { read: recorded } = excerptRecorder(read);
    for (const file of ['large', 'large', 'tokenizer.json']) await recorded(file);
    for (let turn = 0; turn < 200; turn++) await recorded('words-3.bin');
    const more = (async () => {
      for (let row = 10; row < 200; row++) await recorded(`words-${row}.bin`);
    })();
    await expect(more).rejects.toThrow(
      new NotInExcerpt('This state needs more of the model than a page can carry.'),
    );
  });
});

describe('texts and pieces', () => {
  /** A model that cuts texts at spaces, and returns what it is asked about. */
  const model = {
    tokenize: async (text: string) => ({
      ids: text.split(' ').map(Number),
      tokens: text.split(' '),
      dropped: 0,
    }),
    pieces: async (ids: readonly number[]) => ids.map(String),
    decompose: async (sentence: { ids: number[] }) => sentence.ids,
    rows: () => 'the rest as it is',
  } as unknown as MiniLM;
  type Any = Record<'decompose' | 'rows', (tokens?: unknown) => unknown>;

  test('are noted, pieces in order', async () => {
    const record = excerptRecorder(modelOf().read);
    await record.read('manifest.json');
    const watched = record.watched(model);
    expect((await watched.tokenize('1001 7')).ids).toEqual([1001, 7]);
    expect(await watched.pieces([1005])).toEqual(['1005']);
    expect(await (watched as unknown as Any).decompose('1007 8')).toEqual([1007, 8]);
    expect(await (watched as unknown as Any).decompose({ ids: [3] })).toEqual([3]);
    expect((watched as unknown as Any).rows()).toBe('the rest as it is');
    expect(record.excerpt()).toMatchObject({ texts: ['1001 7', '1007 8'], pieces: [7, 8, 1001, 1005, 1007] });
  });

  test('that are not in the excerpt are refused; markers and letters are always there', async () => {
    const only = onlyExcerpt(model, { texts: ['1001 7'], pieces: [1001, 7], files: {}, rows: {} });
    expect((await only.tokenize('1001 7')).ids).toEqual([1001, 7]);
    await expect(only.tokenize('7 1001')).rejects.toThrow(
      new NotInExcerpt('This text is not in the excerpt.'),
    );
    await expect((only as unknown as Any).decompose('7')).rejects.toThrow(NotInExcerpt);
    expect(await only.pieces([1001, 7, 999, 0])).toEqual(['1001', '7', '999', '0']);
    for (const ids of [[1000], [7, 1002]])
      await expect(only.pieces(ids)).rejects.toThrow(new NotInExcerpt('This token is not in the excerpt.'));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const job = { signal: new AbortController().signal, progress: () => {} };
const stateOf = async (name: string, change: object = {}) =>
  ({
    ...initialState((await (figures[name] as NonNullable<(typeof figures)[string]>)()).controls),
    ...change,
  }) as State;
const lacking =
  'This copy of the figure carries only the tokens that it was made with, and the others could not be fetched.';

describe('a page of one file', () => {
  test('computes what needs nothing of a model; what does is refused with a sentence', async () => {
    const run = computeWithSupplies({ module: {}, modelAdvice: 'Name its folder.' });
    expect(await run('dot-products', await stateOf('dot-products', { n: 4 }), job)).toHaveProperty('added');
    const requests: unknown[] = [];
    vi.stubGlobal('fetch', async (address: unknown) => requests.push(address));
    await expect(run('one-score', await stateOf('one-score', { text: 'the bank' }), job)).rejects.toThrow(
      'This figure reads MiniLM, a trained model, whose files are not here. Name its folder.',
    );
    expect(requests).toEqual([]);
    await expect(run('nonesuch', {}, job)).rejects.toThrow('There is no figure called “nonesuch”.');
  });

  describe.runIf(inject('withModel'))('with a sentence', () => {
    const files = new URL('../../build/model/', import.meta.url);
    const model = new URL('https://site.example/model/');
    const { readFile } = process.getBuiltinModule('node:fs/promises');
    const serve = (isThere = true) => {
      const requests: string[] = [];
      vi.stubGlobal('fetch', async (address: URL | string) => {
        requests.push(String(address));
        if (!isThere) return new Response('', { status: 404 });
        return new Response(
          await readFile(new URL(new URL(address).pathname.slice('/model/'.length), files)),
        );
      });
      return requests;
    };
    const { small } = library();
    const makeExcerpt = async () => {
      await small();
      serve();
      const state = await stateOf('one-score', { text: 'the bank of a river' });
      const excerpt = (await excerptOf(library({}, {}, small), model)(
        'one-score',
        state,
        job,
      )) as ModelExcerpt;
      return { state, excerpt };
    };

    test('computes it from what it carries, and other words where all of the model is', async () => {
      const { state, excerpt } = await makeExcerpt();
      const known = (await computeWithSupplies({ module: {}, model: model.href })(
        'one-score',
        state,
        job,
      )) as {
        logits: unknown;
      };
      const requests = serve(false);
      const run = computeWithSupplies({ module: {}, excerpt, modelAdvice: 'Name its folder.' });
      expect(((await run('one-score', state, job)) as { logits: unknown }).logits).toEqual(known.logits);
      const other = await stateOf('one-score', { text: 'another sentence' });
      await expect(run('one-score', other, job)).rejects.toThrow(
        'This copy of the figure carries only the tokens that it was made with. Name its folder.',
      );
      expect(requests).toEqual([]);

      // A failure for another reason gives that reason.
      await expect(run('nonesuch', {}, job)).rejects.toThrow('There is no figure called “nonesuch”.');
      // The rest of the model should be at this address, and is not.
      const away = computeWithSupplies({ module: {}, excerpt, model: model.href });
      await expect(away('one-score', other, job)).rejects.toThrow(lacking);
      expect(requests.length).toBeGreaterThan(0);
      const stopped = new AbortController();
      stopped.abort(new Error('stopped'));
      await expect(away('one-score', other, { ...job, signal: stopped.signal })).rejects.not.toThrow(lacking);

      serve();
      const withFallback = computeWithSupplies({ module: {}, excerpt, model: model.href });
      expect(await withFallback('one-score', other, job)).toMatchObject({
        tokens: expect.arrayContaining(['another']),
      });
    });
  });
});

describe('what a state reads, recorded by computing it again', () => {
  const model = new URL('../../build/model/', import.meta.url);
  const requests: string[] = [];

  /** A server of the model's files, some of which may be missing. */
  function serve(lost?: RegExp): void {
    requests.length = 0;
    vi.stubGlobal('fetch', async (address: URL) => {
      requests.push(address.pathname.split('/').at(-1) as string);
      if (lost?.test(address.pathname) || !existsSync(address)) return new Response('', { status: 404 });
      return new Response(readFileSync(address));
    });
  }

  /** The small module, which is loaded before the server is set up, so that nothing of it is fetched. */
  const { small } = library();

  test('of no model, nothing', async () => {
    await small();
    serve();
    const result = await excerptOf(library({}, {}, small), model)(
      'dot-products',
      await stateOf('dot-products'),
      job,
    );
    expect(result).toBeUndefined();
  });

  // This test comes first: figures remember what they have read.
  test.runIf(inject('withModel'))(
    'a file that is not there is said, with what the server answered',
    async () => {
      await small();
      serve(/words-/);
      const state = await stateOf('one-score', { text: 'the bank' });
      await expect(excerptOf(library({}, {}, small), model)('one-score', state, job)).rejects.toThrow(
        /The server answered 404 \(.*words-\d+\.bin\)\./,
      );
    },
  );

  test('where a figure fails and the manifest too, no rejection is left behind', async () => {
    await small();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => {
      process.off('unhandledRejection', note);
    });
    serve(/manifest/);
    const run = excerptOf(library({}, {}, small), model)('no-such-figure', {}, job);
    // toThrow() would accept undefined.
    await expect(run).rejects.toEqual(new Error('There is no figure called “no-such-figure”.'));
    // Node reports rejections after everything due has run.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});
