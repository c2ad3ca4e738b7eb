// A reader's own tables: every format that is read, and what is said about a truncated file.
import { openTable, type Slices, type TableFormat } from 'superpose';
import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { fileOf } from '../support/safetensors.ts';
import { joined, npy, singles } from '../support/tableFiles.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const slices = (name: string, content: string | Uint8Array): Slices => {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  return { name, size: bytes.length, read: async (from, length) => bytes.slice(from, from + length) };
};
const open = (name: string, content: string | Uint8Array, options = {}) =>
  openTable(plain, slices(name, content), options);

const word2vec = joined(
  '3 2\n',
  'the ',
  singles(1, -2),
  '\n',
  'cat ',
  singles(0.5, 4),
  '\n',
  'sat ',
  singles(3, 8),
  '\n',
);
const tensors = fileOf({
  E: { dtype: 'F32', shape: [3, 2], bytes: singles(1, -2, 0.5, 4, 3, 8) },
  bias: { dtype: 'F32', shape: [2], bytes: singles(9, 9) },
});
const values = [1, -2, 0.5, 4, 3, 8];
const doubles = new Uint8Array(Float64Array.from(values).buffer);
const turned = new Uint8Array(24);
for (const [at, value] of values.entries()) new DataView(turned.buffer).setFloat32(4 * at, value, false);
const halves = new Uint8Array(Uint16Array.of(0x3c00, 0xc000, 0x3800, 0x4400, 0x4200, 0x4800).buffer);
const words = ['the', 'cat', 'sat'];

test.each<[string, string, string | Uint8Array, TableFormat, string[] | undefined]>([
  ['GloVe', 'glove.6B.2d.txt', 'the 1 -2\ncat 0.5 4e0\nsat 3 8\n', 'text', words],
  [
    'GloVe without a last line feed, with words of two',
    'g.txt',
    'the 1 -2\nnew york 0.5 4\n. . 3 8',
    'text',
    ['the', 'new york', '. .'],
  ],
  ['word2vec as text', 'w.vec', '3 2\nthe 1 -2 \ncat 0.5 4 \nsat 3 8 \n', 'text', words],
  ['word2vec, binary', 'w.bin', word2vec, 'word2vec', words],
  [
    'word2vec, binary, without line feeds',
    'w.bin',
    joined('3 2\n', 'the ', singles(1, -2), 'cat ', singles(0.5, 4), 'sat ', singles(3, 8)),
    'word2vec',
    words,
  ],
  ['float64 of numpy', 'a.npy', npy('<f8', '(3, 2)', doubles), 'npy', undefined],
  [
    'float32 of numpy, big end first, version 2',
    'a.npy',
    npy('>f4', '(3, 2)', turned, 'False', 2),
    'npy',
    undefined,
  ],
  ['float16 of numpy, under another name', 'a.dat', npy('<f2', '(3, 2)', halves), 'npy', undefined],
  ['CSV', 'a.csv', '1,-2\n0.5,4\n3,8\n', 'csv', undefined],
  [
    'CSV with a header, labels, quotes and CRLF',
    'a.csv',
    '\uFEFFword,x,y\r\n"the",1,-2\r\ncat, 0.5 ,4\r\n\r\nsat,3,8\r\n',
    'csv',
    words,
  ],
  ['tabs', 'a.tsv', '1\t-2\n0.5\t4\n3\t8\n', 'csv', undefined],
  ['semicolons', 'a.csv', '1;-2\n0.5;4\n3;8\n', 'csv', undefined],
  ['safetensors', 'a.safetensors', tensors, 'safetensors', undefined],
])('%s', async (_, name, content, format, labels) => {
  const found = await open(name, content);
  expect(found).toMatchObject({ format, more: false, table: { rows: 3, columns: 2 } });
  expect([...found.table.data]).toEqual(values);
  expect(found.words).toEqual(labels);
  const two = await open(name, content, { rows: 2, precision: 'float32' });
  expect(two).toMatchObject({ more: true, table: { rows: 2, columns: 2 } });
  expect(two.table.data).toEqual(Float32Array.from(values.slice(0, 4)));
});

test('a digest tells tables from each other, and does not depend on the precision', async () => {
  const digest = async (content: string, options = {}) => (await open('g.txt', content, options)).digest;
  const first = await digest('the 1 -2\ncat 0.5 4\n');
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(await digest('the 1 -2\ncat 0.5 4\n', { precision: 'float32' })).toBe(first);
  const others = ['the 1 -2\ncat 0.5 5\n', 'the 1\ncat 0.5\n', 'the 1 -2\ncat 0.5 4\nsat 3 8\n'];
  for (const other of others) expect(await digest(other), other).not.toBe(first);
  // The digest is of the rows that were read, and of the size of the file.
  expect(await digest(others[2] as string, { rows: 2 })).not.toBe(first);
});

test('a vector of numpy is one row, and a format may be named', async () => {
  const one = await open('a.npy', npy('<f4', '(3,)', singles(1, 2, 3)));
  expect(one.table).toMatchObject({ rows: 1, columns: 3 });
  const named = await open('a.csv', 'the 1 2\n', { format: 'text' });
  expect(named.words).toEqual(['the']);
  const chosen = await open(
    'a.safetensors',
    fileOf({
      a: { dtype: 'F32', shape: [1, 2], bytes: singles(1, 2) },
      b: { dtype: 'F32', shape: [1, 2], bytes: singles(3, 4) },
    }),
    { tensor: 'b' },
  );
  expect([...chosen.table.data]).toEqual([3, 4]);
});

describe('half a table', () => {
  test.each<[string, string, string | Uint8Array, string]>([
    [
      'GloVe cut off in a line',
      'g.txt',
      'the 1 -2\ncat 0.5 4\nsat 3',
      'line 3: expected a word and 2 numbers; found 2 fields',
    ],
    [
      'GloVe with a word for a number',
      'g.txt',
      'the 1 -2\ncat 0.5 four',
      'line 2: expected a word and 2 numbers; found "four" where a number is due',
    ],
    ['GloVe with nan', 'g.txt', 'the 1 nan', 'found "nan" where a number is due'],
    [
      'word2vec text that ends early',
      'w.vec',
      '3 2\nthe 1 -2\n',
      'line 3: expected row 2 of 3; found the end of the file',
    ],
    ['nothing', 'g.txt', '', 'line 1: expected a word and numbers'],
    ['a word alone', 'g.txt', 'the\n', 'line 1: expected a word and numbers'],
    [
      'word2vec cut off in a row',
      'w.bin',
      word2vec.slice(0, 25),
      'row 2 of 3: expected a word and 8 bytes of numbers; found the end of the file',
    ],
    [
      'word2vec without its numbers',
      'w.bin',
      'the cat\n',
      'line 1: expected the number of rows and of columns',
    ],
    [
      'word2vec that claims too much',
      'w.bin',
      '9 99999999\n',
      'line 1: expected the number of rows and of columns (1 to 65536)',
    ],
    [
      'numpy cut off in a row',
      'a.npy',
      npy('<f8', '(3, 2)', doubles.slice(0, 30)),
      'row 2 of 3: expected 16 bytes of numbers',
    ],
    ['numpy of whole numbers', 'a.npy', npy('<i8', '(3, 2)', doubles), 'dtype float16, float32 or float64'],
    ['numpy of columns', 'a.npy', npy('<f8', '(3, 2)', doubles, 'True'), 'np.ascontiguousarray'],
    ['numpy of three dimensions', 'a.npy', npy('<f8', '(1, 3, 2)', doubles), 'a shape of 1 or 2 extents'],
    [
      'numpy with an extent of two numbers',
      'a.npy',
      npy('<f8', '(3 2)', doubles),
      'a shape of 1 or 2 extents',
    ],
    ['numpy in name alone', 'a.npy', 'hello, world', 'byte 0: expected the beginning of a .npy file'],
    ['CSV with a short line', 'a.csv', '1,-2\n0.5\n', 'line 2: expected 2 numbers; found 1 fields'],
    [
      'CSV with a gap',
      'a.csv',
      'a,1,-2\nb,,4\n',
      'line 2: expected a label and 2 numbers; found "" where a number is due',
    ],
    [
      'CSV with two headers',
      'a.csv',
      'x,y\nz,w\n',
      'line 2: expected a label and 1 number; found "w" where a number is due',
    ],
    ['CSV without rows', 'a.csv', 'x,y\n', 'a row of numbers with commas between them'],
    [
      'safetensors with two tables',
      'a.safetensors',
      fileOf({
        a: { dtype: 'F32', shape: [1, 1], bytes: singles(1) },
        b: { dtype: 'F32', shape: [1, 1], bytes: singles(1) },
      }),
      'tensor must name one of the tables in “a.safetensors”, "a", "b"; it is undefined',
    ],
    [
      'safetensors without any',
      'a.safetensors',
      fileOf({ a: { dtype: 'F32', shape: [1], bytes: singles(1) } }),
      'of which there are none',
    ],
    [
      'safetensors with infinities',
      'a.safetensors',
      fileOf({ a: { dtype: 'F32', shape: [1, 1], bytes: singles(Infinity) } }),
      'must be finite',
    ],
    [
      'a line without an end',
      'g.txt',
      new Uint8Array(2 ** 22).fill(97),
      'line 1: expected at most 2097152 bytes',
    ],
  ])('%s', async (_, name, content, sentence) => {
    const opening = open(name, content);
    await expect(opening).rejects.toThrow(sentence);
    await expect(opening).rejects.toBeInstanceOf(RangeError);
  });
});

test('no more is read than the rows that are asked for', async () => {
  const text = bytesOf('word 1 2 3\n'.repeat(200_000));
  let read = 0;
  const source: Slices = {
    name: 'g.txt',
    size: text.length,
    async read(from, length) {
      read += length;
      return text.slice(from, from + length);
    },
  };
  const { table, more } = await openTable(plain, source, { rows: 10 });
  expect([table.rows, more]).toEqual([10, true]);
  expect(read).toBeLessThan(text.length / 4);
  await expect(openTable(plain, source, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  let last = 0;
  await openTable(plain, source, {
    rows: 200_000,
    progress(done, of) {
      last = done / of;
    },
  });
  expect(last).toBe(1);
});

test('wrong arguments', async () => {
  const source = slices('g.txt', 'the 1\n');
  await expect(openTable(plain, source, { rows: 0 })).rejects.toThrow('rows must be a whole number');
  await expect(openTable(plain, source, { format: 'xls' as never })).rejects.toThrow(
    "format must be 'safetensors'",
  );
  await expect(openTable(plain, source, { precision: 'half' as never })).rejects.toThrow('precision');
  await expect(openTable(undefined as never, source)).rejects.toThrow('superpose must be an object');
  await expect(openTable(plain, source, null as never)).rejects.toThrow('options must be an object');
  await expect(openTable(plain, [source, slices('b.txt', '')])).rejects.toThrow('one file');
});

test('a dtype that is not known is refused by its name, also where a few rows are no whole bytes', async () => {
  const bytes = fileOf({ a: { dtype: '32', shape: [82, 4], bytes: new Uint8Array(32) } });
  const file = {
    name: 'a.safetensors',
    size: bytes.length,
    read: async (offset: number, length: number) => bytes.slice(offset, offset + length),
  };
  await expect(openTable(plain, file, { rows: 1 })).rejects.toThrow(
    new RangeError('Tensor a has dtype 32; only F64, F32, F16 and BF16 can be decoded.'),
  );
});
