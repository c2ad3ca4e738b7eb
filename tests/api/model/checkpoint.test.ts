// The tensors of a model's files: which files have them, which bytes are read, and how checkpoints
// are distinguished.
import { openModel, openTable, type Slices } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { checkpointOf } from '../../../build/package/model/checkpoint.js';
import { digestOf } from '../../../build/package/model/slices.js';
import { counted } from '../../../build/package/model/watch.js';
import { plain } from '../support/builds.ts';
import { file, fileOf, singles } from '../support/files.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const named = (name: string, content: Uint8Array | string | object): Slices => {
  const bytes =
    content instanceof Uint8Array
      ? content
      : bytesOf(typeof content === 'string' ? content : JSON.stringify(content));
  return { name, size: bytes.length, read: async (from, length) => bytes.slice(from, from + length) };
};
/** A tensor of one column, with these values. */
const column = (...values: number[]) => ({
  dtype: 'F32',
  shape: [values.length, 1],
  bytes: singles(...values),
});
const [a, b] = [fileOf({ a: column(1, 2) }), fileOf({ b: column(3) })];
const checkpoint = (...files: Slices[]) =>
  checkpointOf(
    plain,
    new Map(files.map((slices) => [slices.name, slices])),
    files.length === 1 ? files[0]?.name : undefined,
  );
const names = async (...files: Slices[]) => {
  const { tensors } = await checkpoint(...files);
  return [...tensors.keys()];
};
const refusal = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'It was taken.',
    (error: Error) => (error instanceof RangeError ? error.message : `It is no RangeError: ${error}`),
  );
const index = 'model.safetensors.index.json';

test('the shards of an index are read, and other files are not', async () => {
  const map = { weight_map: { a: 'x.safetensors', b: 'y.safetensors' } };
  const files = [named('other.safetensors', a), named('x.safetensors', a), named('y.safetensors', b)];
  expect(await names(...files, named(index, map))).toEqual(['a', 'b']);
  const { size } = await checkpoint(...files, named(index, map));
  expect(size).toBe(a.length + b.length);
});

test('up to five missing shards are named, and so is a tensor that its shard lacks', async () => {
  const shards = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, `s${at}.safetensors`]));
  const sentence = (count: number) =>
    refusal(names(named('s0.safetensors', a), named(index, { weight_map: shards(count) })));
  expect(await sentence(2)).toBe(
    `Of the 2 shards that “${index}” names, this one is not beside it: s1.safetensors. Put all of them there.`,
  );
  expect(await sentence(3)).toMatch(
    / names, these 2 are not beside it: s1\.safetensors, s2\.safetensors\. Put/,
  );
  expect(await sentence(7)).toMatch(
    / these 6 are not beside it: s1\.safetensors, .*, s5\.safetensors …\. Put/,
  );
  const map = { weight_map: { a: 'x.safetensors', c: 'x.safetensors' } };
  expect(await refusal(names(named('x.safetensors', a), named(index, map)))).toBe(
    'The index has the tensor "c" in “x.safetensors”, which lacks it. Get the index and its shards anew, from one place.',
  );
  // A tensor that is not in the shard that the index names is refused, even if another shard has it.
  const swapped = { weight_map: { a: 'y.safetensors', b: 'x.safetensors' } };
  const two = [named('x.safetensors', a), named('y.safetensors', b)];
  expect(await refusal(names(...two, named(index, swapped)))).toMatch(
    'has the tensor "a" in “y.safetensors”',
  );
});

test('a named file is read alone, even beside an index', async () => {
  const files = [named('x.safetensors', a), named('y.safetensors', b)];
  const map = named(index, { weight_map: { a: 'x.safetensors', b: 'y.safetensors' } });
  const beside = new Map([...files, map].map((slices) => [slices.name, slices]));
  expect([...(await checkpointOf(plain, beside, 'y.safetensors')).tensors.keys()]).toEqual(['b']);
  expect([...(await checkpointOf(plain, beside, index)).tensors.keys()]).toEqual(['a', 'b']);
});

test('files of two models are refused', async () => {
  const map = { weight_map: { a: 'x.safetensors' } };
  const files = [named('x.safetensors', a), named(index, map)];
  expect(await refusal(names(...files, named('model.safetensors', b)))).toBe(
    `There are model.safetensors and “${index}”, which names other files: two models. Pass one of the two.`,
  );
  const other = 'model.fp16.safetensors.index.json';
  expect(await refusal(names(...files, named(other, map)))).toBe(
    `There are 2 indices; give one of ${index}, ${other}.`,
  );
  const adapted = [named('model.safetensors', a), named('adapter_config.json', '{}')];
  expect(await refusal(names(...adapted))).toMatch('There is an adapter_config.json: an adapter (LoRA)');
  const tensors = { weight_map: { a: 'model.safetensors' } };
  expect(await names(named('model.safetensors', a), named(index, tensors))).toEqual(['a']);
});

test('without an index, model.safetensors is read, or the only file', async () => {
  const config = named('config.json', '{}');
  expect(await names(config, named('x.safetensors', a))).toEqual(['a']);
  const two = [named('a.safetensors', b), named('model.safetensors', a)];
  expect(await names(...two)).toEqual(['a']);
  expect((await checkpoint(...two)).files).toEqual(['model.safetensors']);
  expect(await names(named('x.bin', a))).toEqual(['a']);
  expect(await refusal(names(config, named('notes.txt', '')))).toBe(
    'There is no .safetensors file; give one, with config.json and tokenizer.json beside it where there are such.',
  );
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(`${name}.safetensors`, a));
  expect(await refusal(names(...six))).toBe(
    'There are 6 .safetensors files and no index of them; give one of a.safetensors, b.safetensors, c.safetensors, d.safetensors, e.safetensors ….',
  );
  const sixth = checkpointOf(plain, new Map(six.map((each) => [each.name, each])), 'd.safetensors');
  expect([...(await sixth).tensors.keys()]).toEqual(['a']);
});

test.each<[string, unknown]>([
  ['null', null],
  ['no weight_map', {}],
  ['a weight_map of null', { weight_map: null }],
  ['a weight_map that is text', { weight_map: 'x.safetensors' }],
  ['an empty weight_map', { weight_map: {} }],
  ['a number for a file', { weight_map: { a: 'x.safetensors', b: 3 } }],
  ['a file in another folder', { weight_map: { a: '../x.safetensors' } }],
  ['a file in another folder of Windows', { weight_map: { a: '..\\x.safetensors' } }],
  ['a file of another kind', { weight_map: { a: 'x.safetensors.bin' } }],
  ['a file without a name', { weight_map: { a: '.safetensors' } }],
])('an index with %s', async (what, content) => {
  const sentence = `“${index}” must have a weight_map from tensors to the names of .safetensors files beside it; it does not.`;
  const files = [named('x.safetensors', a), named(index, JSON.stringify(content))];
  expect(await refusal(names(...files)), what).toBe(sentence);
});

test('a tensor that two files have', async () => {
  const map = { weight_map: { a: 'x.safetensors', b: 'y.safetensors' } };
  const files = [named('x.safetensors', a), named('y.safetensors', a), named(index, map)];
  expect(await refusal(names(...files))).toBe(
    'Two of the files have a tensor "a"; give one model at a time.',
  );
});

/**
 * Reads rows of a table whose values count from 0. Returns the rows, and which of them each read was for.
 */
async function rows(count: number, expectedRows: number[]) {
  const bytes = fileOf({ a: column(...Array.from({ length: count }, (_, row) => row)) });
  const start = bytes.length - 4 * count;
  const reads: [number, number][] = [];
  const source: Slices = {
    name: 'a.safetensors',
    size: bytes.length,
    async read(from, length) {
      if (from >= start) reads.push([(from - start) / 4, length / 4]);
      return bytes.slice(from, from + length);
    },
  };
  const { data } = await (await checkpoint(source)).rows('a', expectedRows, counted({}));
  return { data: [...data], reads };
}

test('rows come in the requested order; each is read once, and neighbours are read together', async () => {
  expect(await rows(12, [9, 1, 0, 6, 5, 1, 9, 11])).toEqual({
    data: [9, 1, 0, 6, 5, 1, 9, 11],
    reads: [
      [0, 2],
      [5, 2],
      [9, 1],
      [11, 1],
    ],
  });
  expect(await rows(12, [10, 9, 2])).toEqual({
    data: [10, 9, 2],
    reads: [
      [2, 1],
      [9, 2],
    ],
  });
  expect(await rows(3, [])).toEqual({ data: [], reads: [] });
});

test('at most 2^20 numbers are read at a time, in complete rows', async () => {
  const [count, columns] = [10, 2 ** 17];
  const values = Float32Array.from({ length: count * columns }, (_, at) => at);
  const header = fileOf({
    a: { dtype: 'F32', shape: [count, columns], bytes: new Uint8Array(values.buffer) },
  });
  const lengths: number[] = [];
  const source: Slices = {
    name: 'a.safetensors',
    size: header.length,
    async read(from, length) {
      lengths.push(length);
      return header.slice(from, from + length);
    },
  };
  const opened = await checkpoint(source);
  const row = 4 * columns;
  lengths.length = 0;
  const result = await opened.rows('a', [...new Array(count).keys()], counted({}));
  expect(lengths).toEqual([8 * row, 2 * row]);
  expect(result.data).toEqual(Float64Array.from(values));
  lengths.length = 0;
  const blocks: [from: number, rows: number, first: number | undefined][] = [];
  await opened.blocks('a', counted({}), ({ rows, data }, from) => blocks.push([from, rows, data[0]]));
  expect(lengths).toEqual([8 * row, 2 * row]);
  expect(blocks).toEqual([
    [0, 8, 0],
    [8, 2, 8 * columns],
  ]);
});

test('rows that would not fit in memory are refused before they are read', async () => {
  const sentence = (columns: number) => {
    const bytes = 4 * 1024 * columns;
    const header = file(
      JSON.stringify({ a: { dtype: 'F32', shape: [1024, columns], data_offsets: [0, bytes] } }),
    );
    return openTable(
      plain,
      {
        name: 'a.safetensors',
        size: header.length + bytes,
        async read(from, length) {
          if (from >= header.length) throw new Error('The data are read.');
          return header.slice(from, from + length);
        },
      },
      { rows: 1024 },
    );
  };
  await expect(sentence(87_381)).rejects.toThrow('The data are read.');
  await expect(sentence(87_382)).rejects.toThrow(
    /^1024 rows of 87382 columns would take 1,025 MB; at most 1,024 MB fit\./,
  );
});

test('a value that is not finite is refused with the name of its tensor', async () => {
  const tensors = fileOf({ a: column(1, Number.NaN) });
  expect(await refusal(openTable(plain, named('a.safetensors', tensors)))).toBe(
    'Tensor "a" must be finite; value 1 is NaN.',
  );
});

test('of a file that is not a model, no more is read than its header claims', async () => {
  const claimed = async (length: number) => {
    const bytes = file('x'.repeat(992), 0, length);
    let read = 0;
    const opening = openModel(plain, {
      name: 'x.safetensors',
      size: bytes.length,
      async read(from, count) {
        read += count;
        return bytes.slice(from, from + count);
      },
    });
    return [await refusal(opening), read];
  };
  const unsound = 'This is not a sound safetensors file: the header claims';
  const truncated = 'follow: not a safetensors file, or a truncated one.';
  expect(await claimed(1001)).toEqual([`${unsound} 1001 bytes where 0 ${truncated}`, 16]);
  expect(await claimed(1000)).toEqual([`${unsound} 1000 bytes where 992 ${truncated}`, 1008]);
  expect(await claimed(993)).toEqual([`${unsound} 993 bytes where 992 ${truncated}`, 1008]);
});

test('a digest is FNV-1a in two lanes: known values, and always 16 digits', () => {
  const digest = (text: string) => digestOf([bytesOf(text)]);
  // The published 32-bit test vectors.
  expect(digest('').slice(0, 8)).toBe('811c9dc5');
  expect(digest('a').slice(0, 8)).toBe('e40c292c');
  expect(digest('foobar').slice(0, 8)).toBe('bf9cf968');
  expect(digestOf([bytesOf('foo'), bytesOf('bar')])).toBe(digest('foobar'));
  const many = Array.from({ length: 300 }, (_, at) => digest(String(at)));
  for (const text of many) expect(text).toMatch(/^[0-9a-f]{16}$/);
  expect(many.some((text) => text[0] === '0')).toBe(true);
  expect(many.some((text) => text[8] === '0')).toBe(true);
});

test('a model’s digest covers its headers, its files’ sizes and the named tensors', async () => {
  const digest = async (content: Parameters<typeof fileOf>[0], ...of: string[]) =>
    (await checkpoint(named('x.safetensors', fileOf(content)))).digest(of);
  const tensors = { a: column(1, 2), b: column(3) };
  const first = await digest(tensors, 'a');
  expect(await digest({ ...tensors, b: column(4) }, 'a')).toBe(first);
  expect(await digest(tensors, 'b')).not.toBe(first);
  expect(await digest({ ...tensors, a: column(1, 5) }, 'a')).not.toBe(first);
  expect(await digest({ ...tensors, c: column(1) }, 'a')).not.toBe(first);
  expect(await digest({ ...tensors, b: { ...column(3), shape: [1, 1, 1] } }, 'a')).not.toBe(first);
  // Only the first 2²⁰ bytes of a large tensor count.
  const large = (last: number) => {
    const values = new Float32Array(2 ** 18 + 1);
    values[2 ** 18] = last;
    return { a: { dtype: 'F32', shape: [values.length], bytes: new Uint8Array(values.buffer) } };
  };
  expect(await digest(large(1), 'a')).toBe(await digest(large(0), 'a'));
});
