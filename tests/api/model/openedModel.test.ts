// The options of an opened model, its refusals, and what it keeps in memory, on the tiny checkpoints.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type FamilyId,
  type Floats,
  type ModelInput,
  type OpenedModel,
  openModel,
  type Slices,
  termOf,
} from 'add-or-concatenate';
import { expect, test } from 'vitest';
import families from '../../reference/families.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { wordPieceTokenizer } from '../support/files.ts';
import { largestDifference } from '../support/numbers.ts';
import { residentBytes } from './tinyMinilm.ts';

const folderOf = (name: string) =>
  fileURLToPath(new URL(`../../reference/checkpoints/${name}`, import.meta.url));
const open = (name: string, options = {}) => openModel(plain, folderOf(name), options);
const memoized = new Map<string, Uint8Array>();
const bytesOf = (name: string) => {
  const bytes = memoized.get(name) ?? new Uint8Array(readFileSync(join(folderOf(name), 'model.safetensors')));
  memoized.set(name, bytes);
  return bytes;
};
const inMemory = (name: string, content: Uint8Array | object): Slices => {
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(JSON.stringify(content));
  return { name, size: bytes.length, read: async (from, length) => bytes.slice(from, from + length) };
};
/** A checkpoint with these files beside it instead of those of its folder. */
const beside = (name: string, files: Record<string, object>, options = {}) =>
  openModel(
    plain,
    [
      inMemory('model.safetensors', bytesOf(name)),
      ...Object.entries(files).map(([file, content]) => inMemory(file, content)),
    ],
    { family: families.cases.find((model) => model.name === name)?.family as FamilyId, ...options },
  );
const bertConfig = { num_attention_heads: 2, layer_norm_eps: 0.01 };
const input = { ids: families.ids };
const vocab = Object.fromEntries(
  ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'the', 'cat', 'sat', '##s', '.', 'a', 'b', 'c'].map((item, id) => [
    item,
    id,
  ]),
);
const texts = { 'config.json': bertConfig, 'tokenizer.json': wordPieceTokenizer(vocab) };
const outcomeOf = async (work: Promise<unknown> | (() => unknown)): Promise<unknown> => {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  return 'It was taken.';
};

test.each<[string, object, object, Error | string]>([
  [
    'bert',
    { num_attention_heads: 3 },
    {},
    new RangeError('num_attention_heads in config.json must divide the model’s width 8; 3 does not.'),
  ],
  ['bert', bertConfig, { heads: 3 }, new RangeError('heads must divide the model’s width 8; 3 does not.')],
  [
    'bert',
    { num_attention_heads: 0 },
    {},
    new RangeError('num_attention_heads in config.json must be a whole number from 1 to 4194304; it is 0.'),
  ],
  [
    'bert',
    { num_attention_heads: '2' },
    {},
    new TypeError('num_attention_heads in config.json must be a whole number; it is "2".'),
  ],
  [
    'bert',
    { layer_norm_eps: '1e-12' },
    {},
    new TypeError('layer_norm_eps in config.json must be a number; it is "1e-12".'),
  ],
  [
    'bert',
    { layer_norm_eps: -1 },
    {},
    new RangeError('layer_norm_eps in config.json must be at least 0; it is -1.'),
  ],
  ['bert', {}, { epsilon: -1 }, new RangeError('epsilon must be at least 0; it is -1.')],
  ['bert', bertConfig, { epsilon: -1 }, new RangeError('epsilon must be at least 0; it is -1.')],
  ['bert', bertConfig, { epsilon: '0' }, new TypeError('epsilon must be a number; it is "0".')],
  ['bert', bertConfig, { epsilon: 0 }, 'It was taken.'],
  ['bert', { ...bertConfig, layer_norm_eps: -1 }, { epsilon: 1 }, 'It was taken.'],
  ['bert', { num_attention_heads: 3 }, { heads: 4 }, 'It was taken.'],
  // With RoPE, heads need not divide the width of the model.
  ['qwen2', { num_attention_heads: 3 }, {}, 'It was taken.'],
])('%s with a config.json of %j and options %j', async (name, config, options, expected) => {
  const error = await outcomeOf(beside(name, { 'config.json': config }, options));
  expect(error).toEqual(expected);
  if (expected instanceof Error) expect(error).toBeInstanceOf(expected.constructor);
});

test('heads and ε: the caller’s, before config.json’s', async () => {
  const model = await beside('bert', { 'config.json': bertConfig }, { heads: 4, epsilon: 0.5 });
  expect([model.heads, model.epsilon]).toEqual([4, 0.5]);
  const bare = await beside('bert', {});
  expect([bare.heads, bare.epsilon]).toEqual([undefined, undefined]);
  const advice = (option: string) => `Put the model’s config.json beside it, or give the option ${option}.`;
  expect(await outcomeOf(bare.decompose(input))).toEqual(
    new RangeError(`A .safetensors file does not say how many heads its layers have. ${advice('heads')}`),
  );
  expect(await outcomeOf((await beside('bert', {}, { heads: 2 })).decompose(input))).toEqual(
    new RangeError(`A .safetensors file does not say the ε of its norms. ${advice('epsilon')}`),
  );
  // The family fixes ε.
  expect((await (await beside('distilbert', {}, { heads: 2 })).decompose(input)).n).toBe(5);
});

const wrong: [string, string, (model: OpenedModel) => Promise<unknown>, Error][] = [
  [
    'no text',
    'bert',
    (model) => model.tokenize(5 as never),
    new TypeError('The text must be a string; it is 5.'),
  ],
  [
    'an id too large',
    'bert',
    (model) => model.decompose({ ids: [12] }),
    new RangeError('an entry of ids must be a whole number from 0 to 11; it is 12.'),
  ],
  [
    'no ids',
    'bert',
    (model) => model.decompose({ ids: [] }),
    new RangeError('A sentence needs from 1 to 8 tokens; got 0.'),
  ],
  [
    'nine ids',
    'bert',
    (model) => model.decompose({ ids: new Array(9).fill(3) }),
    new RangeError('A sentence needs from 1 to 8 tokens; got 9.'),
  ],
  [
    'names of another count',
    'bert',
    (model) => model.decompose({ ids: [3], tokens: ['a', 'b'] }),
    new RangeError('tokens needs 1 texts; got 2.'),
  ],
  [
    'a number',
    'bert',
    (model) => model.decompose(5 as never),
    new TypeError('input must be an object; it is 5.'),
  ],
  [
    'an object without ids',
    'bert',
    (model) => model.decompose({} as never),
    new TypeError('input must be a text or an object with ids; it is an object.'),
  ],
  [
    'padding',
    'roberta',
    (model) => model.decompose({ ids: [0, 1] }),
    new RangeError(
      'ids must not contain padding, which is id 1 in this RoBERTa: other tokens would attend to it. Leave it out.',
    ),
  ],
  [
    'a layer too many',
    'bert',
    (model) => model.decompose(input, { layer: 2 }),
    new RangeError('layer must be a whole number from 0 to 1; it is 2.'),
  ],
  [
    'layers too many',
    'bert',
    (model) => model.forward(input, { layers: 3 }),
    new RangeError('layers must be a whole number from 0 to 2; it is 3.'),
  ],
  [
    'a flag that is a number',
    'bert',
    (model) => model.corpusMeans({ scores: 3 as never }),
    new TypeError('scores must be true or false; it is 3.'),
  ],
  [
    'a text for sentences',
    'bert',
    (model) => model.corpusMeans({ sentences: 5 as never }),
    new TypeError('sentences must be a list of texts; it is 5.'),
  ],
];
test.each(wrong)('%s is refused', async (_, name, ask, expected) => {
  const error = await outcomeOf(ask(await open(name)));
  expect(error).toEqual(expected);
  expect(error).toBeInstanceOf(expected.constructor);
});

test('the padding id of one family is a word in another', async () => {
  expect((await (await open('bert')).decompose({ ids: [2, 1] })).n).toBe(2);
  expect((await (await open('gpt2')).decompose({ ids: [0, 1] })).n).toBe(2);
  await expect((await open('bert')).decompose({ ids: [2, 0] })).rejects.toThrow('id 0 in this BERT');
});

test('ids may be BigInts, in any array of whole numbers', async () => {
  const model = await open('bert');
  const reference = await model.decompose(input);
  const bigs = families.ids.map(BigInt);
  for (const ids of [bigs, BigInt64Array.from(bigs), Int32Array.from(families.ids)]) {
    // The ids in results are plain numbers, which JSON can hold.
    expect(await model.decompose({ ids })).toEqual(reference);
    expect(await model.pieces(ids)).toEqual(families.ids.map(String));
  }
  const meansOf = async (sentences: ModelInput[]) => (await model.corpusMeans({ sentences })).states[1]?.mean;
  expect(await meansOf(families.corpus.map((ids) => ({ ids: ids.map(BigInt) })))).toEqual(
    await meansOf(families.corpus.map((ids) => ({ ids }))),
  );
  await expect(model.pieces([3n, -1n])).rejects.toThrow(/^an entry of ids must be a whole number from 0/);
  await expect(model.decompose({ ids: '3' } as never)).rejects.toThrow(
    new TypeError('ids must be an array of whole numbers; it is "3".'),
  );
});

test('the rows that an input sums are rows of the tables', async () => {
  const model = await open('roberta');
  const rows = await model.rows(input);
  expect(Object.keys(rows)).toEqual(['token', 'position', 'token_type']);
  const entries = plain.readSafetensorsHeader(bytesOf('roberta'));
  const tableOf = (name: string) => {
    const entry = entries.get(`roberta.embeddings.${name}.weight`);
    if (!entry) throw new Error(`There is no ${name}.`);
    return plain.decodeSafetensors(entry, bytesOf('roberta').subarray(entry.begin, entry.end));
  };
  const taken = (name: string, places: number[]) =>
    Float64Array.from(places.flatMap((row) => [...tableOf(name).data.subarray(8 * row, 8 * row + 8)]));
  expect(rows.token).toEqual({ data: taken('word_embeddings', families.ids), rows: 5, columns: 8 });
  // The model's first position is in row 2 of the table.
  expect(rows.position?.data).toEqual(taken('position_embeddings', [2, 3, 4, 5, 6]));
  expect(rows.token_type?.data).toEqual(taken('token_type_embeddings', [0, 0, 0, 0, 0]));
  // Positions after the first are taken from two rows further down.
  const later = await model.changed(input, { shift: 2 });
  expect(later.position?.data.slice(8, 32)).toEqual(taken('position_embeddings', [5, 6, 7]));
  expect(later.token).toEqual(rows.token);
});

test('its digest, which links contain', async () => {
  // Computed without this library: the FNV-1a digest of the header, the size in digits, W_Q and W_K.
  expect(await (await open('bert')).digest()).toBe('2c1ee4d52cb627b3');
});

test('a layer’s scores are those of the forward pass, in the direct way by default', async () => {
  const model = await open('bert');
  const forward = await model.forward(input);
  expect(forward.sentence).toEqual({ ids: families.ids, tokens: families.ids.map(String), dropped: 0 });
  const [direct, streams] = (['direct', 'streams'] as const).map((way) =>
    forward.decompose({ layer: 1, way, excludedRows: [0] }),
  );
  const { terms } = await model.decompose(input, { layer: 1 });
  expect(largestDifference(terms, direct?.terms as Floats)).toBeLessThan(1e-12);
  expect(largestDifference(terms, streams?.terms as Floats)).toBeGreaterThan(1e-3);
  const headOne = await model.decompose(input, { layer: 1, only: [1] });
  expect(headOne.heads).toEqual([1]);
  expect(headOne.excludedRows).toEqual([0]);
  const rowsOf = async (change: object) =>
    (await model.decompose(input, { layer: 1, ...change })).excludedRows;
  expect(await rowsOf({ gauge: 'raw' })).toEqual([0]);
  expect(await rowsOf({ gauge: 'raw', excludedRows: [] })).toEqual([]);
  expect(await rowsOf({ excludedRows: [0, 4] })).toEqual([0, 4]);
  model.delete();
});

test('a way without a layer is that of the first layer', async () => {
  const model = await open('bert');
  const parts = ['token', 'position', 'token_type', 'attention', 'mlp', 'constant'];
  const first = await model.decompose(input, { way: 'streams' });
  expect(first.parts).toEqual(parts);
  const forward = await model.forward(input);
  const streams = forward.decompose({ layer: 1, way: 'streams', excludedRows: [0] });
  const second = await model.decompose(input, { layer: 1, way: 'streams' });
  expect(largestDifference(second.terms, streams.terms)).toBeLessThan(1e-12);
  const groups = { token: ['token'], rest: parts.slice(1) };
  const last = await model.decompose(input, { layer: 1, groups });
  const before = await model.decompose(input, {
    layer: 1,
    groups: { rest: groups.rest, token: groups.token },
  });
  expect([last.parts, before.parts]).toEqual([
    ['token', 'rest'],
    ['rest', 'token'],
  ]);
  for (const head of last.heads) {
    for (const q of last.parts) {
      for (const k of last.parts) expect(termOf(before, head, q, k)).toEqual(termOf(last, head, q, k));
    }
  }
  model.delete();
});

/** A checkpoint whose reads are counted. */
async function watched(name: string) {
  const bytes = bytesOf(name);
  let read = 0;
  const source: Slices = {
    name: 'x.safetensors',
    size: bytes.length,
    async read(from, length) {
      read += length;
      return bytes.slice(from, from + length);
    },
  };
  const model = await openModel(plain, source, { family: 'bert', heads: 2, epsilon: 0.01 });
  /** Returns how many bytes a call reads. */
  const cost = async (work: () => Promise<unknown>) => {
    const before = read;
    await work();
    return read - before;
  };
  return { model, cost };
}

test.each<[object, string]>([
  [{ groups: { all: ['tokens'] } }, 'groups.all names "tokens"'],
  [{ layer: 1, groups: { all: ['tokens'] } }, 'groups.all names "tokens"'],
  [{ layer: 1, way: 'mean', groups: { all: ['token'] } }, 'groups.all names "token"'],
  [{ layer: 1, way: 'streams', groups: { all: ['token'] } }, 'Part position must be in exactly one group'],
  [{ layer: 1, way: 'means' }, "way must be 'direct' or 'streams' or 'mean'"],
  [{ layer: 1, way: 'mean' }, 'needs the means of BERT’s states'],
  [{ layer: 1, way: 'mechanism' }, 'corpusMeans({ layers: 1, sentences, scores: true })'],
  [{ layer: 1, way: 'mean', means: { states: [] } }, 'layer is 1, but there is none'],
  [{ layer: 1, way: 'mechanism', means: { states: [] } }, 'Gather them with scores: true'],
])('the options %j are refused before a byte is read', async (question, sentence) => {
  const { model, cost } = await watched('bert');
  const read = await cost(() => expect(model.decompose(input, question)).rejects.toThrow(sentence));
  expect(read).toBe(0);
  expect(await cost(() => model.decompose(input, { layer: 1 }))).toBeGreaterThan(0);
  model.delete();
});

test('layers stay in memory until delete(), and more are added when they are needed', async () => {
  const { model, cost } = await watched('bert');
  // The rows of five tokens, two of which are the same, of five positions and of one segment, of eight
  // numbers each.
  const rows = 4 * 8 * (4 + 5 + 1);
  const forward = (options: object) => () => model.forward(input, options);
  const firstCost = await cost(forward({ layers: 1 }));
  expect(firstCost).toBeGreaterThan(rows);
  expect(await cost(forward({ layers: 1 }))).toBe(rows);
  expect(await cost(forward({ layers: 0 }))).toBe(rows);
  // Only the second layer is read: neither the first again, nor the norm of the embeddings.
  const second = await cost(forward({}));
  const embedding = 4 * (8 + 8);
  expect(second).toBe(firstCost - embedding);
  const allCost = firstCost + second - rows;
  expect(await cost(forward({ layers: 2 }))).toBe(rows);
  expect(await cost(forward({ layers: 1 }))).toBe(rows);
  const run = await model.forward(input);
  expect(run.state(2).data).toBeInstanceOf(Float64Array);
  model.delete();
  expect(() => run.state(2)).toThrow('has been deleted');
  expect(await cost(forward({}))).toBe(allCost);
  model.delete();
});

test('concurrent calls take turns: each gets its own result, and all memory is freed', async () => {
  const { model, cost } = await watched('bert');
  const before = residentBytes();
  const alone = async (run: (model: OpenedModel) => Promise<Floats>) => {
    const other = await open('bert');
    const results = await run(other);
    other.delete();
    return results;
  };
  // Each call reads its forward pass as soon as the pass has ended, whatever other calls wait.
  const calls: ((model: OpenedModel) => Promise<Floats>)[] = [
    ...[0, 1, 2].map(
      (layers) => async (opened: OpenedModel) => (await opened.forward(input, { layers })).state(layers).data,
    ),
    async (opened) => (await opened.forward(input)).logits(1),
    async (opened) => (await opened.forward({ ids: [3, 4, 5] })).attention(0),
    ...([0, 1] as const).map(
      (layer) => async (opened: OpenedModel) => (await opened.decompose(input, { layer })).terms,
    ),
    async (opened) => (await opened.decompose(input, { layer: 1 })).terms,
    async (opened) => (await opened.decompose(input, { layer: 1, way: 'streams' })).terms,
    async (opened) => (await opened.decompose({ ids: [5, 4] })).terms,
    async (opened) => (await opened.decompose({ ids: [5, 4, 3] })).terms,
    async (opened) => (await opened.forward(input)).embedding,
  ];
  const references = [];
  for (const call of calls) references.push(await alone(call));
  // The calls start in every rotation of their order, so that each is the first once.
  for (let turn = 0; turn < calls.length; turn++) {
    const order = calls.map((_, at) => (at + turn) % calls.length);
    const results = await Promise.all(order.map((at) => (calls[at] as (typeof calls)[0])(model)));
    for (const [place, at] of order.entries()) expect(results[place]).toEqual(references[at]);
  }
  // Twelve calls at once read each layer only once, beside the rows of each call, and keep in memory what
  // one call keeps.
  model.delete();
  await model.forward(input);
  const residentOfOne = residentBytes();
  model.delete();
  expect(residentBytes()).toBe(before);
  const rows = 4 * 8 * (4 + 5 + 1);
  const readCost = await cost(() => model.forward(input));
  model.delete();
  expect(await cost(() => Promise.all(Array.from({ length: 12 }, () => model.forward(input))))).toBe(
    readCost + 11 * rows,
  );
  expect(residentBytes()).toBe(residentOfOne);
  model.delete();
  expect(residentBytes()).toBe(before);
});

test('calls during delete() end with an error that says so, and all memory is freed', async () => {
  const sentences = families.corpus.map((item) => ({ ids: item }));
  const calls: Record<string, (model: OpenedModel) => Promise<unknown>> = {
    forward: (model) => model.forward(input),
    'decompose, the first layer': (model) => model.decompose(input),
    'decompose, the second layer': (model) => model.decompose(input, { layer: 1 }),
    corpusMeans: (model) => model.corpusMeans({ sentences }),
    'forward beside decompose': (model) =>
      Promise.all([model.forward(input), model.decompose(input, { layer: 1 }), model.decompose(input)]),
  };
  const before = residentBytes();
  for (const [name, call] of Object.entries(calls)) {
    // The model is deleted at the first read of the call, then at the second and so on, until the call ends
    // before that.
    for (let at = 0, over = false; !over; at++) {
      const bytes = bytesOf('bert');
      let reads = 0;
      let opened: OpenedModel | undefined;
      const model = await openModel(
        plain,
        {
          name: 'x.safetensors',
          size: bytes.length,
          async read(from, length) {
            if (opened && reads++ === at) opened.delete();
            await Promise.resolve();
            return bytes.slice(from, from + length);
          },
        },
        { family: 'bert', heads: 2, epsilon: 0.01 },
      );
      opened = model;
      const end = await outcomeOf(call(model));
      over = reads <= at;
      expect(end, `${name}, read ${at}`).toEqual(
        over ? 'It was taken.' : new Error('The model was deleted during this call. Call it again.'),
      );
      opened = undefined;
      // The model is as it was when it was opened, so memory that is still occupied could never be freed.
      if (over) model.delete();
      expect(residentBytes(), `${name}, read ${at}`).toBe(before);
      if (!over) expect((await model.forward(input)).layers).toBe(2);
      model.delete();
      // Later windows of a corpus are read like these.
      if (at > 40) over = true;
    }
  }
}, 120_000);

test('a forward pass keeps and runs only what its options say', async () => {
  const model = await open('bert');
  const bare = await model.forward(input, { scores: false });
  expect(() => bare.logits(0)).toThrow();
  const first = await model.forward(input, { layers: 1 });
  const all = await model.forward(input);
  expect(all.state(0).data).toBeInstanceOf(Float64Array);
  expect(largestDifference(first.embedding, all.embedding)).toBeGreaterThan(1e-3);
  expect(() => first.state(1)).toThrow();
  model.delete();
});

test('a signal ends every read, and progress is reported', async () => {
  const enough = { signal: AbortSignal.abort(new Error('enough')) };
  const model = await open('bert');
  const reports: number[][] = [];
  const progress = (...of: number[]) => reports.push(of);
  const sentences = families.corpus.slice(0, 6).map((ids) => ({ ids }));
  for (const ask of [
    () => model.forward(input, enough),
    () => model.decompose(input, enough),
    () => model.decompose(input, { ...enough, layer: 1 }),
    () => model.corpusMeans({ ...enough, sentences }),
  ])
    expect(await outcomeOf(ask)).toEqual(new Error('enough'));
  await model.decompose(input, { layer: 0, way: 'direct', progress });
  expect(reports.at(-1)?.[0]).toBe(reports.at(-1)?.[1]);
  // The layers are in memory now, but rows are still read.
  await model.forward(input);
  expect(await outcomeOf(model.forward(input, enough))).toEqual(new Error('enough'));
  model.delete();
  reports.length = 0;
  await model.corpusMeans({ sentences, progress });
  expect(reports.length).toBeGreaterThan(0);
  model.delete();
});

test('means over texts are those over their ids', async () => {
  const model = await beside('bert', texts);
  expect(model.readsText).toBe(true);
  const all = [
    'The cat sat.',
    'A cat.',
    'The b sat. A',
    'The cats sat.',
    'A b c.',
    'The cat sat.',
    'c b a',
    'the a',
  ];
  const ids = await Promise.all(all.map(async (text) => ({ ids: (await model.tokenize(text)).ids })));
  expect(ids[3]?.ids).toEqual([2, 4, 5, 7, 6, 8, 3]);
  const [ofTexts, ofIds] = [
    await model.corpusMeans({ sentences: all }),
    await model.corpusMeans({ sentences: ids }),
  ];
  expect(ofTexts).toEqual(ofIds);
  model.delete();
});

test('without a tokenizer a text is not read', async () => {
  const bare = await open('bert');
  expect(bare.readsText).toBe(false);
  expect(await outcomeOf(bare.tokenize('The'))).toEqual(
    new RangeError(
      'There is no tokenizer.json beside the weights, which a text needs. Put it there, or pass token ids: { ids: [101, 2023, 102] }.',
    ),
  );
});

test('a tokenizer.json that could not be read is read again, and one that cannot be parsed is refused', async () => {
  const sound = inMemory('tokenizer.json', wordPieceTokenizer(vocab));
  let tries = 0;
  const files = [
    inMemory('model.safetensors', bytesOf('bert')),
    {
      ...sound,
      async read(from: number, length: number) {
        tries += 1;
        if (tries === 1) throw new Error('The disk is asleep.');
        return sound.read(from, length);
      },
    },
  ];
  const model = await openModel(plain, files, { family: 'bert' });
  expect(await outcomeOf(model.tokenize('the'))).toEqual(new Error('The disk is asleep.'));
  expect((await model.tokenize('the')).ids).toEqual([2, 4, 3]);
  await model.tokenize('cat');
  expect(tries).toBe(2);
  const broken = await beside('bert', { 'tokenizer.json': { model: 3 } });
  const error = await outcomeOf(broken.tokenize('the'));
  expect(error).toEqual(
    new RangeError('tokenizer.json could not be parsed: model must be an object. Pass token ids instead.'),
  );
  expect((error as Error).cause).toBeInstanceOf(Error);
});
