// A reader's own tables: every format that can be read, and how a truncated or invalid file is refused.
import { openTable, type Slices, type TableFormat } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { fileOf, joined, npy, singles } from '../support/files.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const slices = (name: string, content: string | Uint8Array): Slices => {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  return { name, size: bytes.length, read: async (from, length) => bytes.slice(from, from + length) };
};
const open = (name: string, content: string | Uint8Array, options = {}) =>
  openTable(plain, slices(name, content), options);

const tensors = fileOf({
  E: { dtype: 'F32', shape: [3, 2], bytes: singles(1, -2, 0.5, 4, 3, 8) },
  bias: { dtype: 'F32', shape: [2], bytes: singles(9, 9) },
});
const values = [1, -2, 0.5, 4, 3, 8];
const doubles = new Uint8Array(Float64Array.from(values).buffer);
const bigEndian = new Uint8Array(24);
for (const [at, value] of values.entries()) new DataView(bigEndian.buffer).setFloat32(4 * at, value, false);
const halves = new Uint8Array(Uint16Array.of(0x3c00, 0xc000, 0x3800, 0x4400, 0x4200, 0x4800).buffer);
const words = ['the', 'cat', 'sat'];

test.each<[string, string, string | Uint8Array, TableFormat, string[] | undefined]>([
  ['float64 of numpy', 'a.npy', npy('<f8', '(3, 2)', doubles), 'npy', undefined],
  [
    'float32 of numpy, big end first, version 2',
    'a.npy',
    npy('>f4', '(3, 2)', bigEndian, 'False', 2),
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
  ['safetensors', 'a.safetensors', tensors, 'safetensors', undefined],
])('%s', async (_, name, content, format, labels) => {
  const opened = await open(name, content);
  expect(opened).toMatchObject({ format, more: false, table: { rows: 3, columns: 2 } });
  expect([...opened.table.data]).toEqual(values);
  expect(opened.words).toEqual(labels);
  const two = await open(name, content, { rows: 2 });
  expect(two).toMatchObject({ more: true, table: { rows: 2, columns: 2 } });
  expect(two.table.data).toEqual(Float64Array.from(values.slice(0, 4)));
});

test('a digest tells tables from each other', async () => {
  const digest = async (content: string, options = {}) => (await open('g.csv', content, options)).digest;
  const first = await digest('the,1,-2\ncat,0.5,4\n');
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  const others = ['the,1,-2\ncat,0.5,5\n', 'the,-1\ncat,0.5\n', 'the,1,-2\ncat,0.5,4\nsat,3,8\n'];
  for (const other of others) expect(await digest(other), other).not.toBe(first);
  // The digest depends on the rows that were read and on the size of the file.
  expect(await digest(others[2] as string, { rows: 2 })).not.toBe(first);
});

test('a vector of numpy is one row', async () => {
  const oneTensor = await open('a.npy', npy('<f4', '(3,)', singles(1, 2, 3)));
  expect(oneTensor.table).toMatchObject({ rows: 1, columns: 3 });
  expect(oneTensor.layout).toBeUndefined();
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
      'numpy cut off in a row',
      'a.npy',
      npy('<f8', '(3, 2)', doubles.slice(0, 30)),
      'row 2 of 3: expected 16 bytes of numbers',
    ],
    ['numpy of whole numbers', 'a.npy', npy('<i8', '(3, 2)', doubles), 'dtype float16, float32 or float64'],
    ['numpy of columns', 'a.npy', npy('<f8', '(3, 2)', doubles, 'True'), 'np.ascontiguousarray'],
    ['numpy of three dimensions', 'a.npy', npy('<f8', '(1, 3, 2)', doubles), 'a shape of 1 or 2 extents'],
    [
      'numpy with more than its shape',
      'a.npy',
      npy('<f8', '(3, 2)', Uint8Array.of(...doubles, 0)),
      'after row 3: expected the end of the file, as its shape says; found 1 byte more.',
    ],
    ['numpy of Python 2', 'a.npy', npy('<f8', '(3L, 2L)', doubles), 'found "(3L, 2L)"'],
    [
      'numpy with an extent of two numbers',
      'a.npy',
      npy('<f8', '(3 2)', doubles),
      'a shape of 1 or 2 extents',
    ],
    ['numpy in name alone', 'a.npy', 'hello, world', 'byte 0: expected the beginning of a .npy file'],
    [
      'safetensors with two tables',
      'a.safetensors',
      fileOf({
        a: { dtype: 'F32', shape: [1, 1], bytes: singles(1) },
        b: { dtype: 'F32', shape: [1, 1], bytes: singles(1) },
      }),
      'tensor must name one of the tables in “a.safetensors”, "a", "b"; none is named.',
    ],
    [
      'safetensors without any',
      'a.safetensors',
      fileOf({ a: { dtype: 'F32', shape: [1], bytes: singles(1) } }),
      '“a.safetensors” has no table: none of its tensors has two extents.',
    ],
    [
      'safetensors with infinities',
      'a.safetensors',
      fileOf({ a: { dtype: 'F32', shape: [1, 1], bytes: singles(Infinity) } }),
      'must be finite',
    ],
  ])('%s', async (_, name, content, sentence) => {
    const opening = open(name, content);
    await expect(opening).rejects.toThrow(sentence);
    await expect(opening).rejects.toBeInstanceOf(RangeError);
  });
});

test('no more is read than the requested rows need', async () => {
  const text = bytesOf('-1.5,3,2,1\n'.repeat(40_000));
  let read = 0;
  const source: Slices = {
    name: 'g.csv',
    size: text.length,
    async read(from, length) {
      read += length;
      return text.slice(from, from + length);
    },
  };
  const { table, more } = await openTable(plain, source, { rows: 10 });
  expect([table.rows, more]).toEqual([10, true]);
  // The first 64 bytes are read to recognize the format.
  expect(read).toBe(64 + 2 ** 18);
  await expect(openTable(plain, source, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  let last = 0;
  await openTable(plain, source, {
    rows: 40_000,
    progress(done, of) {
      last = done / of;
    },
  });
  expect(last).toBe(1);
});

test('wrong arguments', async () => {
  const source = slices('g.csv', 'the,1\n');
  await expect(openTable(plain, source, { signal: {} as never })).rejects.toThrow(
    new TypeError('signal must be an AbortSignal; it is an object.'),
  );
  await expect(openTable(plain, source, { progress: 5 as never })).rejects.toThrow(
    new TypeError('progress must be a function; it is 5.'),
  );
  await expect(openTable(plain, source, { rows: 0 })).rejects.toThrow('rows must be a whole number');
  await expect(openTable(plain, [source, slices('b.csv', '')])).rejects.toThrow('one file');
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

/** The sentence of the error, which must be a RangeError. */
const refusal = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'It was taken.',
    (error: Error) => (error instanceof RangeError ? error.message : `It is no RangeError: ${error}`),
  );
const header = (text: string, version = 1) =>
  joined(
    Uint8Array.of(0x93),
    'NUMPY',
    Uint8Array.of(version, 0, text.length % 256, text.length >> 8, ...(version === 1 ? [] : [0, 0])),
    text,
  );
const rows = '1.5,2\n'.repeat(200);
const endless = new Uint8Array(2 ** 21 + 1).fill(97);
const tooLong = 'expected at most 2097152 characters; found more.';
const shape = (actual: string) =>
  `its header: expected a shape of 1 or 2 extents, with 1 to 65536 columns; found "${actual}".`;
const beginning = 'byte 0: expected the beginning of a .npy file of version 1 to 3; found something else.';
const dtype = (actual: string) =>
  `its header: expected dtype float16, float32 or float64 ('<f2', '<f4', '<f8'); found "${actual}".`;

test.each<[string, string, string | Uint8Array, string]>([
  [
    'a line of 65,537 numbers',
    'a.csv',
    `${'1,'.repeat(65_536)}1\n`,
    'line 1: expected 1 to 65536 numbers; found 65537.',
  ],
  ['CSV that is one line of 2 MB', 'a.csv', endless, `line 1: ${tooLong}`],
  // Faults that come after the rows that decide the layout.
  ['a word late', 'a.csv', `${rows}1,x\n`, 'line 201, column 2: expected a number; found "x".'],
  [
    'a quote late',
    'a.csv',
    `${rows}1,"2\n`,
    'line 201, column 2: expected the end of a quoted cell; found the end of the file.',
  ],
  [
    'a late cell of 2 MB',
    'a.csv',
    `${rows}"${'\n'.repeat(2 ** 22)}`,
    'line 201: expected at most 2097152 characters; found more, in a quoted cell.',
  ],
  ['numpy of 7 bytes', 'a.npy', header('').subarray(0, 7), beginning],
  ['numpy of version 0', 'a.npy', header('', 0), beginning],
  ['numpy of version 4', 'a.npy', header('', 4), beginning],
  ['another letter before NUMPY', 'a.npy', joined('x', header('').subarray(1)), beginning],
  [
    'numpy without the length of its header',
    'a.npy',
    header('').subarray(0, 8),
    'byte 8: expected a header of at most 65536 bytes; found one of 0.',
  ],
  [
    'numpy with half of that length',
    'a.npy',
    header('x'.repeat(64)).subarray(0, 9),
    'byte 8: expected a header of at most 65536 bytes; found one of 64.',
  ],
  [
    'numpy with a header of 65,537 bytes',
    'a.npy',
    joined(header('', 2).subarray(0, 8), Uint8Array.of(1, 0, 1, 0)),
    'byte 8: expected a header of at most 65536 bytes; found one of 65537.',
  ],
  ['numpy with an empty header', 'a.npy', header('{}\n'), dtype('{}')],
  ['numpy of bytes in no order', 'a.npy', header("{'descr': '|f8'}"), dtype("{'descr': '|f8'}")],
  ['numpy of three bytes a number', 'a.npy', header("{'descr': '<f3'}"), dtype("{'descr': '<f3'}")],
  ['numpy without a shape', 'a.npy', header("{'descr': '<f8'}"), shape('()')],
  ['numpy of a single number', 'a.npy', npy('<f8', '()', doubles), shape('()')],
  ['numpy of no rows', 'a.npy', npy('<f8', '(0, 2)', doubles), shape('(0, 2)')],
  ['numpy of no columns', 'a.npy', npy('<f8', '(3, 0)', doubles), shape('(3, 0)')],
  [
    'numpy of too many rows',
    'a.npy',
    npy('<f8', '(9007199254740992, 2)', doubles),
    shape('(9007199254740992, 2)'),
  ],
  ['numpy of 65,537 columns', 'a.npy', npy('<f8', '(1, 65537)', doubles), shape('(1, 65537)')],
  [
    'numpy of 65,536 columns without them',
    'a.npy',
    npy('<f8', '(1, 65536)', doubles),
    'row 1 of 1: expected 524288 bytes of numbers; found the end of the file.',
  ],
  [
    'numpy of columns',
    'a.npy',
    header("{'descr':'<f8','fortran_order':True,'shape':(3,2)}"),
    "its header: expected rows one after another ('fortran_order': False); found columns; save np.ascontiguousarray of it.",
  ],
  [
    'a tensor without rows',
    'a.safetensors',
    fileOf({ E: { dtype: 'F32', shape: [0, 2], bytes: new Uint8Array(0) } }),
    'tensor "E": expected at least one row and one column; found [0, 2].',
  ],
  [
    'a tensor without columns',
    'a.safetensors',
    fileOf({ E: { dtype: 'F32', shape: [2, 0], bytes: new Uint8Array(0) } }),
    'tensor "E": expected at least one row and one column; found [2, 0].',
  ],
])('%s: what is expected, and where', async (_, name, content, sentence) => {
  expect(await refusal(open(name, content))).toBe(`“${name}”, ${sentence}`);
});

test.each<[string, string, string | Uint8Array, number[], string[] | undefined]>([
  ['CSV with a mark before its first number', 'a.csv', '\uFEFF-1,2\n3,-4\n', [-1, 2, 3, -4], undefined],
  ['CSV with marks elsewhere, which are parts of labels', 'a.csv', 'a\uFEFFb,1\n', [1], ['a\uFEFFb']],
  ['CSV with lines of spaces', 'a.csv', '-1,2\n  \n3,-4\n', [-1, 2, 3, -4], undefined],
  [
    'CSV with quotes within labels, and spaces around numbers',
    'a.csv',
    'a"b",-1\n"c ""d""", 2 \n e ,3\n',
    [-1, 2, 3],
    ['a"b"', 'c "d"', 'e'],
  ],
  ['CSV whose labels have tabs after the first line', 'a.csv', 'a,-1\nb\tc,2\n', [-1, 2], ['a', 'b\tc']],
  ['a column', 'a.csv', '-1\n2\n', [-1, 2], undefined],
  ['numpy, version 3', 'a.npy', npy('<f8', '(3, 2)', doubles, 'False', 3), values, undefined],
  [
    'numpy with a header of more than 256 bytes',
    'a.npy',
    npy('<f8', `(3,${' '.repeat(300)}2)`, doubles),
    values,
    undefined,
  ],
  [
    'numpy with a header of 65,536 bytes',
    'a.npy',
    joined(
      header('', 2).subarray(0, 8),
      Uint8Array.of(0, 0, 1, 0),
      "{'descr': '<f8', 'shape': (3, 2)}".padEnd(2 ** 16),
      doubles,
    ),
    values,
    undefined,
  ],
  [
    'numpy without spaces',
    'a.npy',
    joined(header("{'descr':'<f8','fortran_order':False,'shape':(3,2)}"), doubles),
    values,
    undefined,
  ],
  [
    'numpy with several spaces',
    'a.npy',
    joined(header("{'descr':  '<f8', 'fortran_order':  False, 'shape':  (3,  2)}"), doubles),
    values,
    undefined,
  ],
  [
    'a vector whose extents end in a space',
    'a.npy',
    joined(header("{'descr': '<f8', 'shape': (6, )}"), doubles),
    values,
    undefined,
  ],
  [
    'halves, the smallest and the largest',
    'a.npy',
    npy('<f2', '(4,)', new Uint8Array(Uint16Array.of(1, 0x83ff, 0x0400, 0x7bff).buffer)),
    [2 ** -24, -1023 * 2 ** -24, 2 ** -14, 65_504],
    undefined,
  ],
])('%s', async (_, name, content, expected, labels) => {
  const opened = await open(name, content);
  expect([...opened.table.data]).toEqual(expected);
  expect(opened.words).toEqual(labels);
  expect(opened.more).toBe(false);
});

test('numbers that are not finite', async () => {
  const half = (bits: number) => npy('<f2', '(1,)', new Uint8Array(Uint16Array.of(bits).buffer));
  for (const [bits, shown] of [
    [0x7c00, 'Infinity'],
    [0xfc00, '-Infinity'],
    [0x7e00, 'NaN'],
  ] as const)
    expect(await refusal(open('a.npy', half(bits)))).toBe(
      `Tensor "a.npy" must be finite; value 0 is ${shown}.`,
    );
  expect((await open('g.csv', 'a,1e39\n')).table.data[0]).toBe(1e39);
});

test('a line of 65,536 numbers is a row', async () => {
  const { table } = await open('a.csv', `${'1,'.repeat(65_535)}1\n`);
  expect([table.rows, table.columns]).toEqual([1, 65_536]);
});

test('a table that would not fit in memory is refused before it is read', async () => {
  const rows = 2 ** 22;
  const large = (columns: number, megabytes: string) =>
    `4194304 rows of ${columns} columns would take ${megabytes} MB; at most 1,024 MB fit. Reduce one of the sizes above.`;
  const line = (columns: number) => new Array(columns).fill(1);
  expect(await refusal(open('a.csv', `${line(17)}\n`, { rows }))).toBe(large(17, '1,088'));
  expect(await refusal(open('a.csv', `${line(16)}\n`, { rows }))).toBe('It was taken.');
  const numpy = npy('<f8', `(${rows}, 17)`, doubles);
  const resized = { ...slices('a.npy', numpy), size: 128 + rows * 17 * 8 };
  expect(await refusal(openTable(plain, resized, { rows }))).toBe(large(17, '1,088'));
  expect(await refusal(open('a.npy', numpy, { rows: 1 }))).toMatch('row 1 of 4194304: expected 136 bytes');
});

test('a thousand rows are read, unless another number is given', async () => {
  const opened = await open('g.csv', '5,-1\n'.repeat(1001));
  expect([opened.table.rows, opened.more]).toEqual([1000, true]);
  const all = await open('g.csv', '5,-1\n'.repeat(1001), { rows: 1001 });
  expect([all.table.rows, all.more]).toEqual([1001, false]);
});

test('a digest is of the first 2¹⁷ numbers', async () => {
  const digest = async (last: number) => {
    const data = new Float32Array(2 ** 17 + 1);
    data[2 ** 17] = last;
    const file = npy('<f4', `(${data.length}, 1)`, new Uint8Array(data.buffer));
    return (await open('a.npy', file, { rows: 2 ** 20 })).digest;
  };
  expect(await digest(1)).toBe(await digest(0));
});

/** A file that records its reads and the calls of its progress function. */
function watched(name: string, content: string | Uint8Array) {
  const source = slices(name, content);
  const reads: [number, number][] = [];
  const calls: [number, number][] = [];
  const read: Slices['read'] = (from, length) => {
    reads.push([from, length]);
    return source.read(from, length);
  };
  const progress = (done: number, of: number) => calls.push([done, of]);
  return { source: { ...source, read }, reads, calls, progress };
}
/** 100,000 doubles in rows of one, after a header of 128 bytes. */
const column = npy('<f8', '(100000, 1)', new Uint8Array(800_000));

test('a text is read 256 KB at a time, numpy as far as its rows need, and progress is told', async () => {
  const text = watched('g.csv', '-1.5,3,2,1\n'.repeat(40_000));
  await openTable(plain, text.source, { rows: 30_000, progress: text.progress });
  // The first 64 bytes are read alone, to recognize the format.
  expect(text.reads).toEqual([
    [0, 64],
    [0, 2 ** 18],
    [2 ** 18, 440_000 - 2 ** 18],
  ]);
  expect(text.calls).toEqual([
    [2 ** 18, 440_000],
    [440_000, 440_000],
  ]);
  const numpy = watched('a.npy', column);
  await openTable(plain, numpy.source, { rows: 70_000, progress: numpy.progress });
  expect(numpy.reads).toEqual([
    [0, 64],
    [0, 12],
    [10, 118],
    [128, 560_000],
  ]);
  expect(numpy.calls).toEqual([[560_000, 560_000]]);
});

test('a signal ends the reading of a text, and of a tensor', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  for (const file of [watched('g.csv', 'a,1\n'), watched('a.npy', column)]) {
    await expect(openTable(plain, file.source, { signal })).rejects.toThrow('enough');
    expect(file.calls).toEqual([]);
  }
  await expect(open('a.safetensors', tensors, { signal })).rejects.toThrow('enough');
  const calls: number[][] = [];
  await open('a.safetensors', tensors, { progress: (...of: number[]) => calls.push(of) });
  expect(calls).toEqual([[24, 24]]);
});

test('a refusal names the tensors that can be chosen, at most five', async () => {
  const many = (count: number) =>
    fileOf(
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `t${at}`,
          { dtype: 'F32', shape: [1, 1], bytes: singles(at) },
        ]),
      ),
    );
  const sentence = (names: string, choice: string) =>
    `tensor must name one of the tables in “a.safetensors”, ${names}; ${choice}.`;
  const five = '"t0", "t1", "t2", "t3", "t4"';
  expect(await refusal(open('a.safetensors', many(5)))).toBe(sentence(five, 'none is named'));
  expect(await refusal(open('a.safetensors', many(6), { tensor: 'x' }))).toBe(
    sentence(`${five}, …`, 'it is "x"'),
  );
  expect((await open('a.safetensors', many(6), { tensor: 't5' })).table.data[0]).toBe(5);
  expect(await refusal(open('a.safetensors', tensors, { tensor: 'bias' }))).toBe(
    sentence('"E"', 'it is "bias"'),
  );
});

test.each([
  ['glove.6B.2d.txt', 'the 1 -2\ncat 0.5 4\n'],
  ['vectors.vec', '2 2\nthe 1 -2\ncat 0.5 4\n'],
  ['vectors.bin', '2 2\nthe '],
])('%s is refused, with what is read', async (name, content) => {
  expect(await refusal(open(name, content))).toBe(
    `“${name}” is not a table in a known format. Pass a .csv, .tsv, .npy or .safetensors file; if it is one of these, give it that name.`,
  );
});
