// Safetensors files: headers that are read or refused, values of every dtype, and files that are written.
import type { SafetensorsEntry } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { file, fileOf, floatFromHalf } from '../support/files.ts';

const everyHalf = new Uint8Array(Uint16Array.from({ length: 65536 }, (_, bits) => bits).buffer);
/** The same bytes at an odd address: one byte further in a larger buffer. */
const misaligned = (bytes: Uint8Array) => {
  const moved = new Uint8Array(bytes.length + 1);
  moved.set(bytes, 1);
  return moved.subarray(1);
};

/** A header with an empty tensor of this shape, and a tensor that has all the data. */
const u8Empty = (shape: string) =>
  `{"none":{"dtype":"U8","shape":${shape},"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}`;

// Files are read in JavaScript, so both builds do the same.
describe('safetensors files', () => {
  const superpose = plain;
  const sound = fileOf({
    ids: { dtype: 'I64', shape: [2, 1], bytes: new Uint8Array(16) },
    w: { dtype: 'F32', shape: [2, 3], bytes: new Uint8Array(Float32Array.of(1, -2, 3.5, 0, 1e-3, 7).buffer) },
    scalar: { dtype: 'BF16', shape: [], bytes: Uint8Array.of(0xc0, 0x3f) },
  });

  const entry = (dtype: string, shape: number[]): SafetensorsEntry => ({
    name: 'w',
    dtype,
    shape,
    begin: 0,
    end: 0,
  });

  test('the header lists every tensor, with its place in the file', () => {
    const entries = superpose.readSafetensorsHeader(sound);
    expect([...entries.keys()]).toEqual(['ids', 'w', 'scalar']);
    expect(entries.get('w')).toMatchObject({ name: 'w', dtype: 'F32', shape: [2, 3] });
    const { begin, end } = entries.get('w') as SafetensorsEntry;
    expect(
      superpose.decodeSafetensors(entries.get('w') as SafetensorsEntry, sound.subarray(begin, end)),
    ).toEqual({
      data: Float64Array.of(1, -2, 3.5, 0, Math.fround(1e-3), 7),
      rows: 2,
      columns: 3,
    });
    expect((entries.get('scalar') as SafetensorsEntry).end).toBe(sound.length);
  });

  test('the beginning of a file is enough, with the size of all of it', () => {
    const data = 16 + 24 + 2;
    const head = sound.subarray(0, sound.length - data);
    expect(superpose.readSafetensorsHeader(head, sound.length)).toEqual(
      superpose.readSafetensorsHeader(sound),
    );
    expect(() => superpose.readSafetensorsHeader(head)).toThrow(RangeError);
  });

  test('a view into a larger buffer is read from the beginning of the view', () => {
    expect(superpose.readSafetensorsHeader(misaligned(sound))).toEqual(
      superpose.readSafetensorsHeader(sound),
    );
  });

  test('tensors named like the parts of every object', () => {
    const odd = fileOf(
      Object.fromEntries(
        ['__proto__', 'constructor', ''].map((name) => [
          name,
          { dtype: 'U8', shape: [1], bytes: Uint8Array.of(1) },
        ]),
      ),
    );
    expect([...superpose.readSafetensorsHeader(odd).keys()]).toEqual(['__proto__', 'constructor', '']);
  });

  test('an empty file of tensors is sound', () => {
    expect(superpose.readSafetensorsHeader(file('{}')).size).toBe(0);
  });

  test('every half, at an odd address', () => {
    const expected = Float64Array.from({ length: 65536 }, (_, bits) => floatFromHalf(bits));
    const all = entry('F16', [256, 256]);
    const double = superpose.decodeSafetensors(all, misaligned(everyHalf));
    expect(double).toEqual({ data: expected, rows: 256, columns: 256 });
  });

  test('every bfloat16 is the upper half of a float', () => {
    const floats = new Float32Array(Uint32Array.from({ length: 65536 }, (_, bits) => bits << 16).buffer);
    const all = entry('BF16', [65536]);
    expect(superpose.decodeSafetensors(all, misaligned(everyHalf)).data).toEqual(Float64Array.from(floats));
  });

  test.each([
    { shape: [], rows: 1, columns: 1 },
    { shape: [6], rows: 1, columns: 6 },
    { shape: [2, 3], rows: 2, columns: 3 },
    { shape: [3, 1, 2], rows: 3, columns: 2 },
    { shape: [0, 9], rows: 0, columns: 9 },
  ])('shape $shape is a table of $rows × $columns', ({ shape, rows, columns }) => {
    const bytes = new Uint8Array(4 * rows * columns);
    const table = superpose.decodeSafetensors(entry('F32', shape), bytes);
    expect([table.rows, table.columns, table.data.length]).toEqual([rows, columns, rows * columns]);
  });

  test.each([[[0]], [[5, 0]], [[0, 0]], [[3, 0, 2]]])(
    'shape %j has no columns, so it is no table',
    (shape) => {
      expect(() => superpose.decodeSafetensors(entry('F32', shape), new Uint8Array(0))).toThrow(
        new RangeError(`Tensor w has shape [${shape.join(', ')}]; a table has at least 1 column.`),
      );
    },
  );

  test('doubles stay doubles', () => {
    const values = Float64Array.of(1 / 3, -0, 2 ** -1074, Number.NaN, -Infinity, 1e300);
    const bytes = misaligned(new Uint8Array(values.buffer));
    const of = { ...entry('F64', [2, 3]), end: bytes.length };
    expect(superpose.decodeSafetensors(of, bytes)).toEqual({ data: values, rows: 2, columns: 3 });
    expect(() => superpose.decodeSafetensors(of, bytes.subarray(1))).toThrow('takes 48 bytes; 47 were given');
  });

  test('names and metadata that are not Unicode are refused', () => {
    const table = { data: Float64Array.of(1), rows: 1, columns: 1 };
    for (const [tables, metadata, what] of [
      [{ '\ud83d': table }, {}, 'A name of tensors'],
      [{ table }, { '\udc00x': '' }, 'A key of metadata'],
      [{ table }, { by: 'a\ud800' }, 'metadata.by'],
    ] as const)
      expect(() => superpose.encodeSafetensors(tables as never, metadata)).toThrow(
        new RegExp(`^${what} must be Unicode text; ".*" has half of a surrogate pair\\.$`),
      );
    expect(superpose.readSafetensorsHeader(superpose.encodeSafetensors({ '\u{1f600}': table })).size).toBe(1);
  });

  test('tensors of any rank, and whole numbers of every width, are written little-endian', () => {
    const tensors = {
      cube: { data: Float32Array.of(1, -2, 3, 0.5, 0, 7), shape: [1, 3, 2] },
      number: { data: Float64Array.of(Number.NaN), shape: [] },
      none: { data: new Int32Array(0), shape: [2, 0, 3] },
      table: { data: Float64Array.of(1, 2), rows: 2, columns: 1 },
      i8: Int8Array.of(-1, 127, 3),
      u8: Uint8Array.of(255),
      i16: Int16Array.of(-2),
      u16: Uint16Array.of(65535),
      i32: { data: Int32Array.of(-3, 258), shape: [2, 1] },
      u32: Uint32Array.of(2 ** 32 - 1),
      i64: BigInt64Array.of(-4n),
      u64: BigUint64Array.of(2n ** 64n - 1n),
    };
    const bytes = superpose.encodeSafetensors(tensors);
    const entries = superpose.readSafetensorsHeader(bytes);
    const listed = [...entries.values()].map(({ name, dtype, shape }) => [name, dtype, ...shape]);
    // The widest come first, so that every tensor is aligned, and those of equal width stay in their order.
    expect(listed).toEqual([
      ['number', 'F64'],
      ['table', 'F64', 2, 1],
      ['i64', 'I64', 1],
      ['u64', 'U64', 1],
      ['cube', 'F32', 1, 3, 2],
      ['none', 'I32', 2, 0, 3],
      ['i32', 'I32', 2, 1],
      ['u32', 'U32', 1],
      ['i16', 'I16', 1],
      ['u16', 'U16', 1],
      ['i8', 'I8', 3],
      ['u8', 'U8', 1],
    ]);
    const bytesOf = (name: string) => {
      const { begin, end } = entries.get(name) as SafetensorsEntry;
      return [...bytes.subarray(begin, end)];
    };
    expect(bytesOf('i32')).toEqual([0xfd, 0xff, 0xff, 0xff, 2, 1, 0, 0]);
    expect(bytesOf('i64')).toEqual([0xfc, ...Array(7).fill(0xff)]);
    expect(bytesOf('u16')).toEqual([0xff, 0xff]);
    expect(bytesOf('i8')).toEqual([0xff, 0x7f, 3]);
    // 1, −2 and 3 in binary32.
    expect(bytesOf('cube').slice(0, 12)).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x40, 0x40]);
  });

  test('tensors without values are listed, between others and after them', () => {
    const none = (shape: number[]) => ({ dtype: 'BF16', shape, bytes: new Uint8Array(0) });
    const single = { dtype: 'BF16', shape: [1], bytes: Uint8Array.of(0x80, 0x3f) };
    const entries = superpose.readSafetensorsHeader(
      fileOf({ first: none([0]), a: single, between: none([5, 0]), b: single, last: none([0, 2 ** 40]) }),
    );
    const lengths = [...entries.values()].map(({ name, begin, end }) => [name, end - begin]);
    expect(lengths).toEqual([
      ['first', 0],
      ['a', 2],
      ['between', 0],
      ['b', 2],
      ['last', 0],
    ]);
  });

  test('tensors come in the order of their data, with metadata and dtypes that are not known', () => {
    const header =
      '{"__metadata__":{"format":"pt","note":"a \\"quoted\\" one: {[,]}"},' +
      '"ids":{"dtype":"I64","shape":[1,2],"data_offsets":[8,24]},' +
      '"w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},' +
      '"odd \\u0022 \\\\":{"data_offsets":[24,25],"shape":[3],"dtype":"E2M1"}}   ';
    const entries = superpose.readSafetensorsHeader(file(header, 25));
    const start = 8 + header.length;
    expect([...entries.values()]).toEqual([
      { name: 'w', dtype: 'F16', shape: [2, 2], begin: start, end: start + 8 },
      { name: 'ids', dtype: 'I64', shape: [1, 2], begin: start + 8, end: start + 24 },
      { name: 'odd " \\', dtype: 'E2M1', shape: [3], begin: start + 24, end: start + 25 },
    ]);
  });

  test.each([
    [1, ['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2']],
    [2, ['I16', 'U16', 'F16', 'BF16']],
    [4, ['I32', 'U32', 'F32']],
    [8, ['I64', 'U64', 'F64']],
  ])('of %i bytes a number: %j', (width, dtypes) => {
    for (const dtype of dtypes) {
      const header = (bytes: number) =>
        file(JSON.stringify({ a: { dtype, shape: [3], data_offsets: [0, bytes] } }), bytes);
      expect(superpose.readSafetensorsHeader(header(3 * width)).size).toBe(1);
      for (const bytes of [3 * width - 1, 3 * width + 1])
        expect(() => superpose.readSafetensorsHeader(header(bytes)), dtype).toThrow(
          new RangeError(
            `This is not a sound safetensors file: the shape of tensor "a" does not fit its ${bytes} bytes of ${dtype}.`,
          ),
        );
    }
  });

  test('1.5, −2, infinity, NaN and the smallest number of each dtype', () => {
    const decoded = (dtype: string, bytes: number[]) => [
      ...superpose.decodeSafetensors(entry(dtype, [5]), misaligned(Uint8Array.from(bytes))).data,
    ];
    const known = [1.5, -2, Infinity, Number.NaN];
    expect(decoded('F16', [0, 0x3e, 0, 0xc0, 0, 0x7c, 1, 0x7e, 1, 0])).toEqual([...known, 2 ** -24]);
    expect(decoded('BF16', [0xc0, 0x3f, 0, 0xc0, 0x80, 0x7f, 0xc1, 0x7f, 1, 0])).toEqual([
      ...known,
      2 ** -133,
    ]);
    expect(
      decoded('F32', [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x80, 0x7f, 1, 0, 0xc0, 0x7f, 1, 0, 0, 0]),
    ).toEqual([...known, 2 ** -149]);
  });

  const refusal = (bytes: Uint8Array, size?: number): string => {
    try {
      superpose.readSafetensorsHeader(bytes, size);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      return (error as Error).message;
    }
    return 'It was not refused.';
  };
  const tensor = (fields: string) => `{"a":{${fields}}}`;
  const [dtype, shape, offsets] = ['"dtype":"F32",', '"shape":[2],', '"data_offsets":[0,8]'];
  const u8 = (
    name: string,
    begin: number | string,
    end: number | string,
    extent = Number(end) - Number(begin),
  ) => `"${name}":{"dtype":"U8","shape":[${extent}],"data_offsets":[${begin},${end}]}`;

  test('the refusal of a truncated file names the shorter of its two lengths', () => {
    const follow = 'follow: not a safetensors file, or a truncated one.';
    const unsound = 'This is not a sound safetensors file: the';
    expect(refusal(new Uint8Array(4), 20)).toBe(
      `${unsound} file has 4 bytes; a safetensors file begins with an 8-byte length.`,
    );
    expect(refusal(new Uint8Array(20), 4)).toBe(
      `${unsound} file has 4 bytes; a safetensors file begins with an 8-byte length.`,
    );
    const claims = file('{}', 8, 6);
    expect(refusal(claims.subarray(0, 10), 18)).toBe(`${unsound} header claims 6 bytes where 2 ${follow}`);
    expect(refusal(claims, 10)).toBe(`${unsound} header claims 6 bytes where 2 ${follow}`);
    expect(refusal(file('{}', 0, 100_000_000))).toBe(
      `${unsound} header claims 100000000 bytes where 2 ${follow}`,
    );
  });

  test('refusals count a tensor’s bytes, wherever they begin, and cut its name after 60 characters', () => {
    const [name, long] = ['n'.repeat(60), 'n'.repeat(61)];
    const second = (called: string) =>
      `{${u8('a', 0, 4)},"${called}":{"dtype":"F32","shape":[3],"data_offsets":[4,8]}}`;
    const sentence = (shown: string) =>
      `This is not a sound safetensors file: the shape of tensor "${shown}" does not fit its 4 bytes of F32.`;
    expect(refusal(file(second(name), 8))).toBe(sentence(name));
    expect(refusal(file(second(long), 8))).toBe(sentence(`${name}…`));
  });

  test('tensors without bytes come before those that begin at the same place, in any order of the header', () => {
    const empty = '"none":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}';
    const names = (header: string) => [...superpose.readSafetensorsHeader(file(header, 8)).keys()];
    expect(names(`{${u8('b', 4, 8)},${empty},${u8('a', 0, 4)}}`)).toEqual(['a', 'none', 'b']);
    expect(names(`{${u8('a', 0, 4)},${empty},${u8('b', 4, 8)}}`)).toEqual(['a', 'none', 'b']);
  });

  test('arguments that are not bytes, and values that would not fit in memory, are refused', () => {
    expect(() => superpose.readSafetensorsHeader([] as never)).toThrow(
      new TypeError('bytes must be a Uint8Array; it is an array of 0.'),
    );
    expect(() => superpose.decodeSafetensors(entry('F32', [1]), [] as never)).toThrow(
      new TypeError('bytes must be a Uint8Array; it is an array of 0.'),
    );
    // A byte array that claims a length but has no bytes.
    const claimed = (count: number) =>
      Object.defineProperty(new Uint8Array(), 'length', { value: 4 * count });
    const large = 'Tensor w would take 1,025 MB; at most 1,024 MB fit.';
    const over = Math.floor(2 ** 30 / 12) + 1;
    expect(() => superpose.decodeSafetensors(entry('F32', [over]), claimed(over))).toThrow(large);
  });

  test('a file that is written has metadata and tables, data at a multiple of eight, spaces before', () => {
    const rows = { data: Float32Array.of(1, 2), rows: 1, columns: 2 };
    for (const note of ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg']) {
      const bytes = superpose.encodeSafetensors({ rows }, { note });
      const length = new DataView(bytes.buffer).getUint32(0, true);
      expect(length % 8).toBe(0);
      expect(bytes.length).toBe(8 + length + 8);
      const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
      const header = `{"__metadata__":{"note":"${note}"},"rows":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}`;
      expect(text).toBe(header.padEnd(length));
      expect(text.length - header.length).toBeLessThan(8);
      // This also holds where the data are longer than the header.
      const long = { data: new Float64Array(200), rows: 1, columns: 200 };
      expect(superpose.readSafetensorsHeader(superpose.encodeSafetensors({ long }, { note })).size).toBe(1);
    }
    const none = superpose.encodeSafetensors({ rows });
    expect(new TextDecoder().decode(none.subarray(8, 28))).toBe('{"__metadata__":{},"');
  });

  test('a list is a tensor of one extent', () => {
    const list = Float32Array.of(1, -2, 3);
    const file = superpose.encodeSafetensors({ list, none: new Int8Array() });
    const [first, second] = [...superpose.readSafetensorsHeader(file).values()];
    expect(first).toMatchObject({ name: 'list', dtype: 'F32', shape: [3] });
    expect(second).toMatchObject({ name: 'none', dtype: 'I8', shape: [0] });
    const { begin, end } = first as NonNullable<typeof first>;
    const read = superpose.decodeSafetensors(first as NonNullable<typeof first>, file.subarray(begin, end));
    expect(read.data).toEqual(Float64Array.from(list));
  });

  test('the refusal names what cannot be written', () => {
    const rows = { data: Float32Array.of(1, 2), rows: 1, columns: 2 };
    for (const [tables, metadata, error] of [
      [5, {}, new TypeError('tensors must be an object; it is 5.')],
      [{ rows }, 5, new TypeError('metadata must be an object; it is 5.')],
      [{ rows }, { by: 5 }, new TypeError('metadata.by must be a text; it is 5.')],
      [
        { __metadata__: rows },
        {},
        new RangeError('tensors must not have one called __metadata__: the format has that name.'),
      ],
      [{ rows: { ...rows, rows: 2 } }, {}, new RangeError('tensors.rows.data needs 4 values; got 2.')],
      [
        { t: { data: Int8Array.of(1), shape: [1], rows: 1 } },
        {},
        new RangeError('Unknown option `tensors.t.rows`. Options: data, shape.'),
      ],
      [
        { t: { data: rows.data, shape: 2 } },
        {},
        new TypeError('tensors.t.shape must be an array of numbers; it is 2.'),
      ],
    ] as const) {
      const write = () => superpose.encodeSafetensors(tables as never, metadata as never);
      expect(write).toThrow(error);
      expect(write).toThrow(error.constructor as typeof RangeError);
    }
  });

  // Each file is wrong in one respect, around 8 bytes of data.
  test.each<[string, string | Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(0), /has 0 bytes/],
    ['seven bytes', new Uint8Array(7), /has 7 bytes/],
    ['a length and no header', file('', 0, 5), /claims 5 bytes where 0 follow/],
    ['a length of nothing', file('{}', 8, 0), /begin with an object/],
    ['a length beyond the file', file('{}', 0, 1000), /claims 1000 bytes where 2 follow/],
    [
      'a length of 100 MB and one byte',
      file('{}', 0, 100_000_001),
      /claims 100000001 bytes; the format allows/,
    ],
    ['a length of 2⁵³', file('{}', 0, 2 ** 53), /claims 9007199254740992 bytes/],
    [
      'a length that overflows with its own 8 bytes',
      file('{}', 0, 2n ** 64n - 8n),
      /claims 18446744073709551608/,
    ],
    ['the largest length there is', file('{}', 0, 2n ** 64n - 1n), /claims 18446744073709551615 bytes/],
    ['no JSON', 'hello', /begin with an object/],
    ['half of the JSON', '{"a":', /is not JSON/],
    ['a list', '[]', /begin with an object/],
    ['a number', '5', /begin with an object/],
    ['null', 'null', /begin with an object/],
    ['white space before it', ` {${u8('a', 0, 8)}}`, /begin with an object/],
    ['a byte order mark before it', `\uFEFF{${u8('a', 0, 8)}}`, /begin with an object/],
    ['two objects', '{} {}', /is not JSON/],
    ['NUL and more after the object', `{${u8('a', 0, 8)}}\0junk`, /is not JSON/],
    ['NUL after the object', `{${u8('a', 0, 8)}}\0`, /is not JSON/],
    ['a comment', `{${u8('a', 0, 8)}}//`, /is not JSON/],
    ['bytes that are not UTF-8', Uint8Array.of(4, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0xff, 0xfe, 0x7d), /not UTF-8/],
    ['half a character as a name', `{${u8('\\ud800', 0, 8)}}`, /no Unicode text/],
    ['deep nesting of lists', `{"a":${'['.repeat(200_000)}`, /is not JSON/],
    ['deep nesting of objects', '{"a":'.repeat(200_000), /is not JSON/],
    ['deep nesting that is sound', `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`, /not an object/],
    ['a tensor that is a number', '{"a":1}', /"a" a value that is not an object/],
    ['a tensor that is a list', '{"a":[]}', /"a" a value that is not an object/],
    ['a tensor that is null', '{"a":null}', /"a" a value that is not an object/],
    ['an empty tensor', '{"a":{}}', /no dtype/],
    ['no dtype', tensor(shape + offsets), /no dtype/],
    ['no shape', tensor(dtype + offsets), /the shape of tensor "a" is not a list/],
    [
      'no offsets',
      tensor('"dtype":"F32","shape":[2]'),
      /the data_offsets of tensor "a" is not a list|are not/,
    ],
    ['a dtype that is a number', tensor(`"dtype":7,${shape}${offsets}`), /no dtype/],
    ['a list of dtypes', tensor(`"dtype":["F32"],${shape}${offsets}`), /no dtype/],
    ['an unknown key', tensor(`${dtype}${shape}"extra":1,${offsets}`), /unknown key "extra"/],
    [
      'a key like objects’ own',
      tensor(`${dtype}${shape}"__proto__":1,${offsets}`),
      /unknown key "__proto__"/,
    ],
    ['a dtype twice', tensor(dtype + dtype + shape + offsets), /twice/],
    ['a shape twice, once with escapes', tensor(`${dtype}"sh\\u0061pe":[3],${shape}${offsets}`), /twice/],
    ['a name twice', `{${u8('a', 0, 4)},${u8('a', 4, 8)}}`, /twice/],
    ['a name twice, the first without bytes', `{${u8('a', 0, 0)},${u8('a', 0, 8)}}`, /twice/],
    ['a name twice, the first no tensor', `{"a":7,${u8('a', 0, 8)}}`, /twice/],
    ['metadata twice', `{"__metadata__":{},"__metadata__":{},${u8('a', 0, 8)}}`, /twice/],
    ['metadata with a key twice', `{"__metadata__":{"a":"","a":""},${u8('a', 0, 8)}}`, /twice/],
    ['metadata of numbers', `{"__metadata__":{"a":1},${u8('a', 0, 8)}}`, /metadata/],
    ['metadata of objects', `{"__metadata__":{"a":{}},${u8('a', 0, 8)}}`, /metadata/],
    ['metadata that are text', `{"__metadata__":"x",${u8('a', 0, 8)}}`, /metadata/],
    ['metadata that are null', `{"__metadata__":null,${u8('a', 0, 8)}}`, /metadata/],
    [
      'a shape that is a number',
      tensor(`${dtype}"shape":2,${offsets}`),
      /the shape of tensor "a" is not a list/,
    ],
    ['an extent written 2.0', tensor(`${dtype}"shape":[2.0],${offsets}`), /more than digits/],
    ['an extent written 2e0', tensor(`${dtype}"shape":[2e0],${offsets}`), /more than digits/],
    ['an offset of −0', tensor(`${dtype}${shape}"data_offsets":[-0,8]`), /more than digits/],
    ['an extent of 1.5', tensor(`${dtype}"shape":[1.5],${offsets}`), /whole numbers/],
    ['a negative extent', tensor(`${dtype}"shape":[-2],${offsets}`), /whole numbers/],
    ['an extent that is a list', tensor(`${dtype}"shape":[[2]],${offsets}`), /whole numbers/],
    ['an extent that is text', tensor(`${dtype}"shape":["2"],${offsets}`), /whole numbers/],
    ['an extent that is null', tensor(`${dtype}"shape":[null],${offsets}`), /whole numbers/],
    ['an extent of 2⁵³ + 1', tensor(`${dtype}"shape":[9007199254740993],${offsets}`), /2⁵³/],
    ['an extent of 2⁵³ + 1 in a tensor without values', u8Empty('[0,9007199254740993]'), /2⁵³/],
    ['an extent beyond 64 bits', tensor(`${dtype}"shape":[18446744073709551616],${offsets}`), /2⁵³/],
    ['an extent beyond doubles', tensor(`${dtype}"shape":[1${'0'.repeat(400)}],${offsets}`), /whole numbers/],
    ['a shape that disagrees', tensor(`${dtype}"shape":[3],${offsets}`), /does not fit its 8 bytes of F32/],
    [
      'a shape that overflows 64 bits',
      tensor(`${dtype}"shape":[4294967296,4294967296],${offsets}`),
      /does not fit/,
    ],
    ['a shape without values that has bytes', tensor(`${dtype}"shape":[0,2],${offsets}`), /does not fit/],
    [
      'offsets that run backwards',
      tensor(`${dtype}${shape}"data_offsets":[8,0]`),
      /claims bytes 8 to 0 of 8/,
    ],
    ['offsets beyond the data', tensor(`${dtype}${shape}"data_offsets":[0,9]`), /claims bytes 0 to 9 of 8/],
    ['one offset', tensor(`${dtype}${shape}"data_offsets":[0]`), /two numbers/],
    ['three offsets', tensor(`${dtype}${shape}"data_offsets":[0,4,8]`), /two numbers/],
    ['offsets in an object', tensor(`${dtype}${shape}"data_offsets":{"begin":0}`), /data_offsets/],
    ['offsets of 2⁵³ and more', `{${u8('a', '9007199254740992', '9007199254741000', 8)}}`, /2⁵³/],
    ['an offset of 2⁶⁴ − 1', tensor(`${dtype}${shape}"data_offsets":[0,18446744073709551615]`), /2⁵³/],
    ['data that no tensor claims', `{${u8('a', 0, 4)}}`, /cover 4 of 8 bytes/],
    ['data and no tensor', '{}', /cover 0 of 8 bytes/],
    ['a hole at the beginning', `{${u8('a', 1, 8)}}`, /begins at byte 1 where byte 0 was due/],
    ['a hole in between', `{${u8('a', 0, 4)},${u8('b', 5, 8)}}`, /"b" begins at byte 5 where byte 4 was due/],
    [
      'an overlap by a byte',
      `{${u8('a', 0, 5)},${u8('b', 4, 8)}}`,
      /"b" begins at byte 4 where byte 5 was due/,
    ],
    ['the same data twice', `{${u8('a', 0, 8)},${u8('b', 0, 8)}}`, /begins at byte 0 where byte 8 was due/],
    ['one within another', `{${u8('a', 0, 8)},${u8('b', 2, 4)}}`, /begins at byte 2 where byte 8 was due/],
    [
      'no bytes within another',
      `{${u8('a', 0, 8)},${u8('b', 4, 4)}}`,
      /begins at byte 4 where byte 8 was due/,
    ],
    ['a name of a million letters', `{${u8('n'.repeat(1e6), 0, 9)}}`, /n…" claims bytes/],
  ])('refused: %s', (_, header, why) => {
    const message = refusal(typeof header === 'string' ? file(header, 8) : header);
    expect(message).toMatch(/^This is not a sound safetensors file: .{10,200}\.$/s);
    expect(message).toMatch(why);
  });

  test('a header of 100 MB is read, since the format allows it', () => {
    const header = new Uint8Array(8 + 100_000_000).fill(0x20);
    header.set(file(`{${u8('a', 0, 1)}}`, 0, 100_000_000));
    expect([...superpose.readSafetensorsHeader(header, header.length + 1).keys()]).toEqual(['a']);
  });

  test('a file cut at any byte is refused', () => {
    for (let length = 0; length < sound.length; length++) {
      expect(refusal(sound.subarray(0, length))).toMatch(/^This is not a sound safetensors file/);
    }
    expect(refusal(sound, sound.length - 1)).toMatch(/claims bytes .* to 42 of 41/);
    expect(refusal(sound, sound.length + 1)).toMatch(/cover 42 of 43 bytes/);
  });

  test('neither header nor data go into the module', () => {
    const before = superpose.memoryBytes();
    const size = 128 * 2 ** 20;
    const large = file(tensor(`"dtype":"U8","shape":[${size}],"data_offsets":[0,${size}]`), size);
    expect(superpose.readSafetensorsHeader(large).size).toBe(1);
    // The bytes of another kind of file take no memory either, though the first of them claim that it is all
    // header.
    expect(refusal(new Uint8Array(size).fill(32))).toMatch(/this is something else/);
    const pointer = new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\n');
    expect(refusal(pointer)).toMatch(/this is a pointer of Git LFS: fetch the file itself/);
    expect(superpose.memoryBytes()).toBe(before);
  });
});
