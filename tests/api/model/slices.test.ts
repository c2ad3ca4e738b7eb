// Where files come from: a path, a folder, what a reader chose, or an object that reads slices.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { openModel, openTable, type Slices, type Source } from 'add-or-concatenate';
import { afterAll, expect, test, vi } from 'vitest';
import { filesOf, jsonOf, slice } from '../../../build/package/model/slices.js';
import { plain } from '../support/builds.ts';
import { fileOf, singles } from '../support/files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'superpose-files-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const folderOf = (name: string, files: Record<string, string | Uint8Array>) => {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
};
const table = fileOf({ E: { dtype: 'F32', shape: [2, 2], bytes: singles(1, 2, 3, 4) } });
const numbers = async (source: Source) => [...(await openTable(plain, source)).table.data];
const bytesOf = (text: string) => new TextEncoder().encode(text);

test('a folder’s files that a model may need', async () => {
  const needed = [
    'adapter_config.json',
    'config.json',
    'model-1.safetensors',
    'model.safetensors.index.json',
    'tokenizer.json',
  ];
  const others = ['a.safetensors.bak', 'config.json.bak', 'my_config.json', 'notes.txt', 'vocab.json'];
  const folder = folderOf('many', Object.fromEntries([...needed, ...others].map((name) => [name, '{}'])));
  for (const path of [folder, `${folder}/`, pathToFileURL(folder)]) {
    const { files, named } = await filesOf(path);
    expect([...files.keys()].sort()).toEqual(needed);
    expect(named).toBeUndefined();
  }
});

test('the same of a file’s folder, and the file, whatever its name', async () => {
  const folder = folderOf('beside', { 'config.json': '{}', 'rows.csv': 'the,1,2\n', 'notes.txt': '' });
  for (const path of [
    join(folder, 'rows.csv'),
    relative(process.cwd(), join(folder, 'rows.csv')),
    pathToFileURL(join(folder, 'rows.csv')),
  ]) {
    const { files, named } = await filesOf(path);
    expect([...files.keys()].sort()).toEqual(['config.json', 'rows.csv']);
    expect(named).toBe('rows.csv');
    expect(files.get('rows.csv')).toMatchObject({ name: 'rows.csv', size: 8 });
    expect(await numbers(path)).toEqual([1, 2]);
  }
});

test('a table’s file is read, not one that comes before it in its folder', async () => {
  const other = fileOf({ E: { dtype: 'F32', shape: [1, 1], bytes: singles(9) } });
  const folder = folderOf('three', {
    'a.safetensors': other,
    'm.safetensors': table,
    'z.safetensors': other,
  });
  expect(await numbers(join(folder, 'm.safetensors'))).toEqual([1, 2, 3, 4]);
  await expect(numbers(folder)).rejects.toThrow(
    new RangeError('A table is read from one file; give that file.'),
  );
});

test('a folder that holds one table and nothing else of use is enough', async () => {
  expect(await numbers(folderOf('one', { 'm.safetensors': table, 'notes.txt': '' }))).toEqual([1, 2, 3, 4]);
  await expect(numbers(folderOf('none', { 'notes.txt': '' }))).rejects.toThrow('give that file');
});

test('a path of a single name is in the folder where the program runs', async () => {
  await expect(openTable(plain, 'README.md')).rejects.toThrow('“README.md” is not a table in a known format');
});

test('a file: address is read; other addresses are refused', async () => {
  const folder = folderOf('a #1', { 'rows.csv': 'the,1,2\n' });
  const address = pathToFileURL(join(folder, 'rows.csv'));
  expect(await numbers(address)).toEqual([1, 2]);
  const elsewhere = new URL(`https://example.org${address.pathname}`);
  for (const open of [openTable, openModel])
    await expect(open(plain, elsewhere)).rejects.toEqual(
      new RangeError(
        `source is the address "${elsewhere.href.slice(0, 40)}…"; models and tables are read from disk: give a file: address, a path, or a Blob of what you fetched.`,
      ),
    );
});

test('names with spaces and letters of other scripts', async () => {
  const folder = folderOf('two words', { 'rów s.csv': 'the,1,2\n' });
  expect(await numbers(pathToFileURL(join(folder, 'rów s.csv')))).toEqual([1, 2]);
});

test('a missing file is reported, with the system’s error as the cause', async () => {
  // The path is longer than what errors quote of other arguments, because the end of a path identifies the
  // file.
  const at = `/nowhere/${'at/'.repeat(20)}all`;
  const error = await openTable(plain, at).catch((error: Error) => error);
  expect(error).toEqual(new Error(`“${at}” could not be read (ENOENT).`));
  expect((error as Error).cause).toMatchObject({ code: 'ENOENT' });
});

test('a file that is gone, or has become shorter, when it is read', async () => {
  const folder = folderOf('gone', { 'a.txt': 'the 1\n', 'b.txt': 'the 1\n' });
  const { files: first } = await filesOf(join(folder, 'a.txt'));
  rmSync(join(folder, 'a.txt'));
  const gone = first.get('a.txt') as Slices;
  const error = (await gone.read(0, 1).catch((error: unknown) => error)) as Error;
  expect(error.message).toMatch(/^“.*a\.txt” could not be read \(ENOENT\)\.$/);
  expect(error.cause).toMatchObject({ code: 'ENOENT' });
  const { files } = await filesOf(join(folder, 'b.txt'));
  const file = files.get('b.txt') as Slices;
  expect(await slice(file, 1, 3)).toEqual(bytesOf('he '));
  truncateSync(join(folder, 'b.txt'), 4);
  expect(await slice(file, 1, 3)).toEqual(bytesOf('he '));
  await expect(slice(file, 1, 5)).rejects.toThrow(
    new Error('“b.txt” ended at byte 4 while it was read; it is truncated or was changed.'),
  );
});

test('a folder or a device in the place of a file is named when it is read', async () => {
  mkdirSync(join(scratch, 'odd/config.json'), { recursive: true });
  const read = async (path: string, name: string) => (await filesOf(path)).files.get(name)?.read(0, 1);
  await expect(read(join(scratch, 'odd'), 'config.json')).rejects.toThrow('it is a folder, and must be a');
  await expect(read('/dev/null', 'null')).rejects.toThrow('it is a pipe or a device, and must be a file.');
});

test.each([
  ['bytes that are too few', new Uint8Array(2), 12],
  ['bytes that are too many', new Uint8Array(6), 16],
  ['a buffer that is too short', new ArrayBuffer(2), 12],
])('a read that returns %s', async (_, returned, end) => {
  const file = { name: 'x', size: 20, read: async () => returned as Uint8Array };
  await expect(slice(file, 10, 5)).rejects.toThrow(
    new Error(`“x” ended at byte ${end} while it was read; it is truncated or was changed.`),
  );
});

test.each([
  ['nothing', undefined, 'undefined'],
  ['a list of numbers', [1, 2, 3, 4, 5], 'an array of 5'],
  ['a text', 'abcde', '"abcde"'],
])('a read that returns %s', async (_, returned, shown) => {
  const file = { name: 'x', size: 20, read: async () => returned as never };
  await expect(slice(file, 10, 5)).rejects.toThrow(
    new TypeError(`What read() of “x” gives must be a Uint8Array or an ArrayBuffer; it is ${shown}.`),
  );
});

test.each<[string, (bytes: Uint8Array) => unknown]>([
  ['ArrayBuffer', (bytes) => bytes.slice().buffer],
  ['ArrayBuffer of another realm', (bytes) => runInNewContext('Uint8Array.from(bytes).buffer', { bytes })],
  ['Uint8Array of another realm', (bytes) => runInNewContext('Uint8Array.from(bytes)', { bytes })],
  ['Buffer', (bytes) => Buffer.from(bytes)],
  ['DataView', (bytes) => new DataView(bytes.slice().buffer)],
])('a custom source may return an %s', async (_, toBuffer) => {
  const read = async (offset: number, length: number) =>
    toBuffer(table.subarray(offset, offset + length)) as ArrayBuffer;
  expect(await numbers({ name: 'E.safetensors', size: table.length, read })).toEqual([1, 2, 3, 4]);
});

test('a path is for Node', async () => {
  for (const process of [undefined, {}, { versions: {} }]) {
    vi.stubGlobal('process', process);
    const opening = openTable(plain, '/nowhere');
    vi.unstubAllGlobals();
    await expect(opening).rejects.toThrow(
      new Error('A path can be read in Node alone; in a browser give the file that the reader chose.'),
    );
  }
});

test('files that a reader chose, and blobs, which are safetensors if they have no name', async () => {
  expect(await numbers(new Blob([table as BlobPart]))).toEqual([1, 2, 3, 4]);
  expect(await numbers([new File(['the,1,2\n'], 'g.csv')])).toEqual([1, 2]);
  const { files, named } = await filesOf([new File(['abcdef'], 'a.txt'), new File([''], 'b.txt')]);
  expect([...files.keys()]).toEqual(['a.txt', 'b.txt']);
  expect(named).toBeUndefined();
  expect(files.get('a.txt')?.size).toBe(6);
  expect(await files.get('a.txt')?.read(1, 3)).toEqual(bytesOf('bcd'));
  expect((await filesOf(new File([''], 'b.txt'))).named).toBe('b.txt');
});

const read = async () => new Uint8Array();
const any = 'a path, a Blob, or an object with name, size and read';
test.each<[unknown, Error]>([
  [[], new RangeError('source needs at least 1 file; got 0.')],
  [5, new TypeError('source must be an object; it is 5.')],
  [[null], new TypeError('source must be an object; it is null.')],
  [[{ name: 'a', size: 0, read }, 5], new TypeError('source[1] must be an object; it is 5.')],
  [{}, new TypeError(`source must be ${any}; it is an object.`)],
  [{ name: 'a', size: 0 }, new TypeError(`source must be ${any}; it is an object.`)],
  [{ name: 3, size: 0, read }, new TypeError(`source must be ${any}; it is an object.`)],
  [
    { name: 'a', size: -1, read },
    new RangeError('source.size must be a whole number from 0 to 9007199254740991; it is -1.'),
  ],
  [
    [
      { name: 'a', size: 0, read },
      { name: 'b', read },
    ],
    new TypeError('source[1].size must be a whole number; it is undefined.'),
  ],
])('a source %j is refused', async (source, error) => {
  const opening = openTable(plain, source as Source);
  await expect(opening).rejects.toThrow(error);
  await expect(opening).rejects.toBeInstanceOf(error.constructor);
});

test('a JSON file is text of at most 64 MB', async () => {
  const named = (content: Uint8Array, size = content.length) =>
    new Map([['config.json', { name: 'config.json', size, read: async () => content }]]);
  expect(await jsonOf(named(bytesOf('{"heads":2}')), 'config.json')).toEqual({ heads: 2 });
  expect(await jsonOf(named(bytesOf('{}')), 'tokenizer.json')).toBeUndefined();
  await expect(jsonOf(named(bytesOf(''), 2 ** 26 + 1), 'config.json')).rejects.toThrow(
    new RangeError('“config.json” has 67108865 bytes; at most 67108864 are read of such a file.'),
  );
  await expect(jsonOf(named(bytesOf(''), 2 ** 26), 'config.json')).rejects.toThrow('ended at byte 0');
  for (const [content, what] of [
    [bytesOf('{'), 'JSON'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'UTF-8'],
  ] as const) {
    const error = await jsonOf(named(content), 'config.json').catch((error: Error) => error);
    expect(error).toEqual(new RangeError(`“config.json” is not ${what}.`));
    expect((error as Error).cause).toBeInstanceOf(Error);
  }
});
