import type { SafetensorsEntry } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { file, fileOf, floatFromHalf } from '../support/safetensors.ts';

const everyHalf = new Uint8Array(Uint16Array.from({ length: 65536 }, (_, bits) => bits).buffer);
/** The same bytes, one further on in a larger buffer: at an odd address. */
const misaligned = (bytes: Uint8Array) => {
  const moved = new Uint8Array(bytes.length + 1);
  moved.set(bytes, 1);
  return moved.subarray(1);
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
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

  test('a view into a larger buffer is read from its own beginning', () => {
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

  test('every half, in both precisions and at an odd address', () => {
    const expected = Float64Array.from({ length: 65536 }, (_, bits) => floatFromHalf(bits));
    const all = entry('F16', [256, 256]);
    const double = superpose.decodeSafetensors(all, misaligned(everyHalf));
    expect(double).toEqual({ data: expected, rows: 256, columns: 256 });
    // Every half is a float, so nothing is rounded.
    expect(superpose.decodeSafetensors(all, everyHalf, 'float32').data).toEqual(Float32Array.from(expected));
  });

  test('every bfloat16 is the upper half of a float', () => {
    const floats = new Float32Array(Uint32Array.from({ length: 65536 }, (_, bits) => bits << 16).buffer);
    const all = entry('BF16', [65536]);
    expect(superpose.decodeSafetensors(all, misaligned(everyHalf)).data).toEqual(Float64Array.from(floats));
    expect(superpose.decodeSafetensors(all, everyHalf, 'float32').data).toEqual(floats);
  });

  test.each([
    { shape: [], rows: 1, columns: 1 },
    { shape: [6], rows: 1, columns: 6 },
    { shape: [2, 3], rows: 2, columns: 3 },
    { shape: [3, 1, 2], rows: 3, columns: 2 },
    { shape: [0], rows: 1, columns: 0 },
    { shape: [0, 9], rows: 0, columns: 9 },
    { shape: [4, 0], rows: 4, columns: 0 },
  ])('shape $shape is a table of $rows × $columns', ({ shape, rows, columns }) => {
    const bytes = new Uint8Array(4 * rows * columns);
    const table = superpose.decodeSafetensors(entry('F32', shape), bytes);
    expect([table.rows, table.columns, table.data.length]).toEqual([rows, columns, rows * columns]);
  });

  const tensor = (fields: string) => `{"a":{${fields}}}`;
  test.each([
    ['nothing', new Uint8Array(0)],
    ['seven bytes', new Uint8Array(7)],
    ['a length and no header', file('', 0, 5)],
    ['a length beyond the file', file('{}', 0, 1000)],
    ['the largest length there is', file('{}', 0, 2n ** 64n - 1n)],
    ['no JSON', file('hello')],
    ['half of the JSON', file('{"a":')],
    ['a list', file('[]')],
    ['two objects', file('{} {}')],
    ['deep nesting', file('['.repeat(100_000))],
    ['no offsets', file(tensor('"dtype":"F32","shape":[2]'), 8)],
    ['offsets beyond the data', file(tensor('"dtype":"F32","shape":[2],"data_offsets":[0,8]'), 7)],
    ['offsets that run backwards', file(tensor('"dtype":"F32","shape":[2],"data_offsets":[8,0]'), 8)],
    ['data that no tensor claims', file(tensor('"dtype":"F32","shape":[1],"data_offsets":[0,4]'), 8)],
    ['a shape that disagrees', file(tensor('"dtype":"F32","shape":[3],"data_offsets":[0,8]'), 8)],
    [
      'a shape that overflows',
      file(tensor('"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]'), 8),
    ],
    ['a negative extent', file(tensor('"dtype":"F32","shape":[-2],"data_offsets":[0,8]'), 8)],
  ])('refused: %s', (_, bytes) => {
    expect(() => superpose.readSafetensorsHeader(bytes)).toThrow(
      /^Not a sound safetensors file: .{10,200}\.$/s,
    );
    expect(() => superpose.readSafetensorsHeader(bytes)).toThrow(RangeError);
  });

  test('the data of a large file do not go into the module to read its header', () => {
    const before = superpose.memoryBytes();
    const size = 128 * 2 ** 20;
    const header = tensor(`"dtype":"U8","shape":[${size}],"data_offsets":[0,${size}]`);
    expect(superpose.readSafetensorsHeader(file(header, size)).size).toBe(1);
    // Nor do those of a file that is something else, whose first bytes say that it is all header.
    const other = new Uint8Array(size).fill(32);
    expect(() => superpose.readSafetensorsHeader(other)).toThrow(RangeError);
    expect(superpose.memoryBytes()).toBe(before);
  });
});
