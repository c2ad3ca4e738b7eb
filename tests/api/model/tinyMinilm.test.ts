// A tiny MiniLM of two layers, all in memory: what its functions compute, read and refuse.
import {
  type CorpusMeans,
  corpusSentences,
  loadMiniLM,
  type MiniLMOptions,
  type Superpose,
} from 'add-or-concatenate';
import { afterAll, describe, expect, test } from 'vitest';
import { gatherMeans } from '../../../build/package/model/corpusMeans.js';
import { internalsOf, type PassInternals } from '../../../build/package/model/forwardPass.js';
import { plain } from '../support/builds.ts';
import { largestDifference, rowOf, rowsOf, sumOf } from '../support/numbers.ts';
import {
  files,
  json,
  layerBytes,
  loadTiny,
  ofCorpus,
  residentBytes,
  shape,
  tiny,
  tinyStack,
  words,
} from './tinyMinilm.ts';

const { d_model: d, positions } = shape;
const text = 'The cats sat on a mat.';
const other = 'A cat slept and the river was in it.';
const hand = await tinyStack();
afterAll(() => hand.delete());

const outcomeOf = (run: Promise<unknown> | (() => unknown)) =>
  (typeof run === 'function' ? new Promise((go) => go(run())) : run).then(
    () => 'It did not fail.',
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('rows and weights', () => {
  test('are those of the files', async () => {
    const { minilm } = await loadTiny();
    const { ids, tokens, dropped } = await minilm.tokenize(text);
    expect(tokens).toEqual(['[CLS]', 'the', 'cat', '##s', 'sat', 'on', 'a', 'mat', '.', '[SEP]']);
    expect(ids).toEqual(tokens.map((token) => words.indexOf(token)));
    expect(dropped).toBe(0);
    const { token, position, token_type } = await minilm.rows({ ids, tokens });
    expect(rowsOf(token)).toEqual(ids.map((id) => rowOf(tiny.words, id)));
    expect(rowsOf(position)).toEqual(ids.map((_, place) => rowOf(tiny.positions, place)));
    expect(rowsOf(token_type)).toEqual(ids.map(() => rowOf(tiny.segments, 0)));
    const layer = await minilm.layer();
    const [{ query, key }] = tiny.layers as [(typeof tiny.layers)[0]];
    expect(layer).toEqual({
      normalization: tiny.embeddingNorm,
      query,
      key,
      heads: shape.heads,
      causal: false,
    });
    // The layer is decoded only once.
    expect((await minilm.layer()).key.weight.data).toBe(layer.key.weight.data);
  });

  test('pieces are read when a row is needed, and once', async () => {
    const { minilm, requests } = await loadTiny();
    expect(requests.sort()).toEqual(['config.json', 'layer-0.bin', 'manifest.json', 'tokenizer.json']);
    const of = (...ids: number[]) => ({ ids });
    await minilm.rows(of(3, 12));
    expect(requests.slice(4).sort()).toEqual(['positions-0.bin', 'words-0.bin', 'words-1.bin']);
    await minilm.rows(of(13, 4));
    expect(requests).toHaveLength(7);
    await minilm.rows(of(23));
    expect(requests.slice(7)).toEqual(['words-2.bin']);
  });

  test('a sentence is as long as the table of positions at most', async () => {
    const { minilm } = await loadTiny();
    const of = (count: number) => ({ ids: Array<number>(count).fill(3) });
    expect((await minilm.rows(of(positions))).position.data).toEqual(tiny.positions.data);
    expect(await outcomeOf(minilm.rows(of(positions + 1)))).toBe(
      'RangeError: A sentence needs from 1 to 140 tokens; got 141.',
    );
    expect(await outcomeOf(() => minilm.pieces([24]))).toContain('from 0 to 23; it is 24.');
    expect(await minilm.pieces([23, 0])).toEqual(['at', '[UNK]']);
    expect((await minilm.tokenize(text, 10)).dropped).toBe(0);
    expect(await minilm.tokenize(text, 9)).toMatchObject({
      dropped: 1,
      tokens: expect.arrayContaining(['[SEP]']),
    });
    expect(await outcomeOf(() => minilm.tokenize(text, 1))).toBe(
      'RangeError: most must be a whole number from 2 to 140; it is 1.',
    );
    expect(await outcomeOf(() => minilm.tokenize(text, 141))).toContain('from 2 to 140; it is 141.');
    expect(await outcomeOf(() => minilm.tokenize('a'.repeat(100_001)))).toBe(
      'RangeError: The text needs at most 100000 characters; got 100001.',
    );
  });

  test('first scores, also with an undefined layer, have the default gauge', async () => {
    const { minilm, requests } = await loadTiny();
    const scores = await minilm.decompose(text);
    expect(scores.parts).toEqual(['token', 'position', 'token_type', 'constant']);
    expect([scores.gauge, scores.excludedRows]).toEqual(['canonical', [0]]);
    expect(scores.terms).toBeInstanceOf(Float32Array);
    const named = { layer: undefined, gauge: 'canonical', excludedRows: [0] } as const;
    expect(await minilm.decompose(await minilm.tokenize(text), named as object)).toEqual(scores);
    const raw = { gauge: 'raw', excludedRows: [0] } as const;
    expect(await minilm.decompose(text, { gauge: 'raw' })).toMatchObject(raw);
    expect((await minilm.decompose(text, { excludedRows: [1, 2] })).excludedRows).toEqual([1, 2]);
    expect(requests.filter((file) => file.startsWith('encoder'))).toEqual([]);
  });
});

describe('files', () => {
  /** Options that read these files, and a list of the requests and whether they bypass caches. */
  const reading = (replaced: Record<string, Uint8Array | Error>) => {
    const requests: [string, boolean | undefined][] = [];
    const read: MiniLMOptions['read'] = async (file, afresh) => {
      requests.push([file, afresh]);
      const bytes = replaced[file] ?? files[file];
      if (bytes instanceof Uint8Array) return bytes;
      throw bytes ?? new Error(`There is no ${file}.`);
    };
    return { requests, options: { read } };
  };

  test('a damaged file is read again past the cache; a file that cannot be read is not', async () => {
    const { requests, options } = reading({ 'layer-0.bin': json('portal') });
    const error = (await loadMiniLM(plain, options).catch((error) => error)) as Error;
    expect(error.message).toMatch(/^The MiniLM file layer-0\.bin is damaged; build it again\. ./);
    expect((error.cause as Error).message).toBe(error.message.replace(/^.*build it again\. /, ''));
    expect(requests.filter(([file]) => file === 'layer-0.bin')).toEqual([
      ['layer-0.bin', false],
      ['layer-0.bin', true],
    ]);
    const away = new Error('The line is cut.');
    const missing = reading({ 'tokenizer.json': away });
    expect(await loadMiniLM(plain, missing.options).catch((error) => error)).toBe(away);
    expect(missing.requests.filter(([file]) => file === 'tokenizer.json')).toHaveLength(1);
    const nothing = reading({ 'manifest.json': away });
    const result = (await loadMiniLM(plain, nothing.options).catch((error) => error)) as Error;
    expect(result.message).toMatch(/^The MiniLM files are not there\. /);
    expect(result.cause).toBe(away);
    expect(nothing.requests).toEqual([['manifest.json', false]]);
  });

  test('the cause of a refusal of text that is not JSON is the parser’s error', async () => {
    const { options } = reading({ 'manifest.json': new TextEncoder().encode('<html>') });
    const error = (await loadMiniLM(plain, options).catch((error) => error)) as Error;
    expect((error.cause as Error).message).toBe('It is not JSON.');
    expect((error.cause as Error).cause).toBeInstanceOf(SyntaxError);
  });

  test('a layer whose file is cut short; the first one’s has arrived, and is enough for it', async () => {
    const bytes = files['encoder-1.bin'] as Uint8Array;
    const { minilm } = await loadTiny({ 'encoder-1.bin': bytes.subarray(4) });
    expect(await outcomeOf(minilm.forward(text))).toBe(
      `Error: The MiniLM file encoder-1.bin is damaged; build it again. It has ${bytes.length - 4} bytes instead of ${bytes.length}.`,
    );
    expect((await minilm.forward(text, { layers: 1 })).layers).toBe(1);
  });

  test('a layer with a number that is not finite', async () => {
    const bytes = (files['encoder-1.bin'] as Uint8Array).slice().fill(255, 0, 4);
    const { minilm } = await loadTiny({ 'encoder-1.bin': bytes });
    expect(await outcomeOf(minilm.forward(text))).toBe(
      'RangeError: Tensor "encoder.layer.1.attention.self.query.wei…" must be finite; value 0 is NaN.',
    );
  });
});

describe('all layers', () => {
  test('states, scores and embedding are those of the same weights added by hand', async () => {
    const { minilm } = await loadTiny();
    const forward = await minilm.forward(text);
    expect(forward.sentence).toEqual(await minilm.tokenize(text));
    const expected = await hand.forward(await minilm.rows(forward.sentence));
    expect(forward.layers).toBe(2);
    for (const layers of [0, 1, 2]) expect(forward.state(layers)).toEqual(expected.state(layers));
    expect(forward.logits(1)).toEqual(expected.logits(1));
    expect(forward.embedding).toEqual(expected.embedding);
    const sentence = await minilm.tokenize(other);
    const fewer = await minilm.forward(sentence, { layers: 1, scores: false });
    expect(fewer.sentence).toEqual(sentence);
    expect(fewer.layers).toBe(1);
    expect(await outcomeOf(() => fewer.logits(0))).toContain('kept no scores');
    const rows = await minilm.rows(sentence);
    expect(fewer.state(1)).toEqual((await hand.forward(rows, { layers: 1 })).state(1));
    const replacedRun = await minilm.forward(text, { summands: { token: rows.token } });
    expect(replacedRun.state(2)).toEqual((await hand.forward({ token: rows.token })).state(2));
  });

  test('any layer is taken apart, in the canonical gauge by default', async () => {
    const { minilm } = await loadTiny();
    const run = await hand.forward(await minilm.rows(await minilm.tokenize(text)));
    for (const layer of [1, 0]) {
      const scores = await minilm.decompose(text, { layer });
      const { sentence, ...result } = scores;
      expect(sentence.ids).toHaveLength(10);
      expect(result).toEqual(run.decompose({ layer, gauge: 'canonical', excludedRows: [0] }));
      const { sentence: _, ...raw } = await minilm.decompose(sentence, { layer, gauge: 'raw' });
      expect(raw).toEqual(run.decompose({ layer, gauge: 'raw', excludedRows: [0] }));
      const options = { layer, way: 'streams', only: [1], excludedRows: [2] } as const;
      const { sentence: __, ...streams } = await minilm.decompose(text, options);
      expect(streams).toEqual(run.decompose(options));
    }
  });

  test('the refusal of the way `mean` without means says how to gather them', async () => {
    const { minilm } = await loadTiny();
    expect(await outcomeOf(minilm.decompose(text, { layer: 0, way: 'mean' }))).toBe(
      "TypeError: The way 'mean' needs the means of BERT’s states over a corpus. Gather them first: const means = await model.corpusMeans({ layers: 0 }); await model.decompose(input, { layer: 0, way: 'mean', means }). The ways 'direct' and 'streams' need none.",
    );
  });

  /** A copy of the library that records each forward pass by its number of layers. */
  const counting = () => {
    const runs: (number | undefined)[] = [];
    const transformerStack = ((options: Parameters<Superpose['transformerStack']>[0]) => {
      const stack = plain.transformerStack(options);
      const { forward } = stack;
      stack.forward = (rows, forwardInput) => {
        runs.push(forwardInput?.layers);
        return forward(rows, forwardInput);
      };
      return stack;
    }) as Superpose['transformerStack'];
    return { runs, superpose: { ...plain, transformerStack } };
  };

  test('a sentence is run once for the scores of all layers in memory', async () => {
    const { runs, superpose } = counting();
    const { minilm, requests } = await loadTiny({}, { superpose });
    const ask = (of: string, layer: number, more: object = {}) => minilm.decompose(of, { layer, ...more });
    await ask(text, 0);
    await ask(text, 0, { gauge: 'raw' });
    expect(runs).toEqual([1]);
    expect(requests.filter((file) => file.startsWith('encoder'))).toEqual(['encoder-0.bin']);
    await ask(text, 1);
    expect(requests.filter((file) => file.startsWith('encoder'))).toHaveLength(2);
    await ask(text, 0);
    expect(runs).toEqual([1, 2]);
    await ask(other, 0);
    await ask(other, 1);
    expect(runs).toEqual([1, 2, 2]);
    const before = await ask(other, 0);
    // A forward pass replaces the last one, so the next decomposition runs the layers again.
    await minilm.forward(other);
    expect((await ask(other, 0)).terms).toEqual(before.terms);
    expect(runs).toHaveLength(5);
  });

  test('files are read when a layer is needed, and once', async () => {
    const { minilm, requests } = await loadTiny();
    const came = () => requests.filter((file) => file.startsWith('encoder')).map((file) => Number(file[8]));
    await minilm.forward(text, { layers: 0 });
    expect(came()).toEqual([]);
    await minilm.forward(text, { layers: 1 });
    await minilm.forward(other, { layers: 1 });
    expect(came()).toEqual([0]);
    await minilm.forward(text);
    await minilm.forward(text, { layers: 1 });
    expect(came()).toEqual([0, 1]);
    // Two calls at once wait for one another.
    const { minilm: fresh, requests: again } = await loadTiny();
    const results = await Promise.all([fresh.forward(text, { layers: 1 }), fresh.forward(text)]);
    expect(results.map(({ layers }) => layers)).toEqual([1, 2]);
    expect(again.filter((file) => file.startsWith('encoder'))).toHaveLength(2);
  });

  test('progress counts the bytes of what was missing, up to all of them', async () => {
    const [first, second] = layerBytes as [number, number];
    const withProgress = async (extra: number) => {
      const { minilm } = await loadTiny(
        {},
        {
          read: async (file, _, watch) => {
            const bytes = files[file] as Uint8Array;
            watch?.received?.(100);
            watch?.received?.(bytes.length - 100 + extra);
            return bytes;
          },
        },
      );
      const heard: [number, number][] = [];
      const run = (layers: number) =>
        minilm.forward(text, { layers, progress: (bytes, of) => heard.push([bytes, of]) });
      return { heard, run };
    };
    const { heard, run } = await withProgress(0);
    await run(1);
    // The first norm, queries and keys have been fetched already, but count too.
    const here = 8 * (d * d + 2 * d);
    const all = first + here;
    const steps = heard.splice(0);
    expect(steps.at(-1)).toEqual([all, all]);
    // The norm and the biases come before the layer's file.
    expect(steps.map(([bytes]) => bytes)).toEqual(expect.arrayContaining([16 * d + 100, 16 * d + first]));
    await run(2);
    expect(heard.splice(0)).toEqual([
      [100, second],
      [second, second],
    ]);
    await run(2);
    expect(heard).toEqual([]);
    // A file that arrives twice does not count beyond the total.
    const more = await withProgress(7);
    await more.run(2);
    expect(more.heard.at(-1)).toEqual([all + second, all + second]);
    expect(Math.max(...more.heard.map(([bytes]) => bytes))).toBe(all + second);
  });

  test('a signal ends reads with its reason; the next pass continues', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const requests: string[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const { minilm } = await loadTiny(
      {},
      {
        read: async (file, _, watch) => {
          if (!file.startsWith('encoder')) return files[file] as Uint8Array;
          requests.push(file);
          signals.push(watch?.signal);
          watch?.received?.(1);
          if (file === 'encoder-1.bin') stop.abort(reason);
          return files[file] as Uint8Array;
        },
      },
    );
    await expect(minilm.forward(text, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    // A head that does not exist is refused before any layer is requested.
    await expect(minilm.decompose(text, { layer: 1, only: [2] })).rejects.toThrow('from 0 to 1; it is 2');
    expect(requests).toEqual([]);
    await expect(minilm.forward(text, { signal: stop.signal })).rejects.toBe(reason);
    // Each fetch has its own signal, and the first fetch had already ended.
    expect(signals.map((signal) => [signal?.aborted, signal?.reason])).toEqual([
      [false, undefined],
      [true, reason],
    ]);
    // The second layer had arrived, and is not fetched again.
    const heard: [number, number][] = [];
    const progress = (bytes: number, of: number) => heard.push([bytes, of]);
    expect((await minilm.forward(text, { progress })).layers).toBe(2);
    expect(heard.at(-1)).toEqual([layerBytes[1], layerBytes[1]]);
    expect(requests).toEqual([0, 1].map((layer) => `encoder-${layer}.bin`));
  });
});

describe('the full module', () => {
  const { transformerStack: _, ...first } = plain;

  test('its absence is reported', async () => {
    const why = 'Error: Layers run only in the full module. Open the model with the result of load().';
    const { minilm } = await loadTiny({}, { superpose: first as unknown as Superpose });
    expect(await outcomeOf(minilm.forward(text))).toBe(why);
    expect((await minilm.decompose(text)).n).toBe(10);
  });

  test('is started when it is needed, and again after a failure', async () => {
    let started = 0;
    const { minilm } = await loadTiny(
      {},
      {
        superpose: first as unknown as Superpose,
        rest: async () => {
          started += 1;
          if (started === 1) throw new Error('The network is away.');
          return plain;
        },
      },
    );
    await minilm.decompose(text);
    expect(started).toBe(0);
    expect(await outcomeOf(minilm.forward(text))).toBe('Error: The network is away.');
    expect((await minilm.forward(text)).layers).toBe(2);
    expect(started).toBe(2);
    // The module is started once, however many calls follow.
    await Promise.all([minilm.forward(text), minilm.decompose(text, { layer: 1 })]);
    expect(started).toBe(2);
  });
});

describe('positions and order changed', async () => {
  const { minilm } = await loadTiny();
  const sentence = await minilm.tokenize('the river bank');
  const rows = await minilm.rows(sentence);
  const changed = (change: unknown) => minilm.changed(sentence, change as never);
  const n = 5;
  const tableRow = (place: number) => rowOf(tiny.positions, place);

  test('words in another order; positions as they were', async () => {
    const result = await changed({ order: [0, 3, 1, 2, 4] });
    expect(rowsOf(result.token)).toEqual([0, 3, 1, 2, 4].map((from) => rowOf(rows.token, from)));
    expect(result.position).toEqual(rows.position);
    expect(result.token_type).toEqual(rows.token_type);
    expect(await outcomeOf(changed({ order: [0, 1] }))).toBe(
      'RangeError: order must be an array of 5 numbers; it is an array of 2.',
    );
    expect(await outcomeOf(changed({ order: [0, 1, 1, 2, 3] }))).toBe(
      'RangeError: order must name each once; 1 is there twice.',
    );
    expect(await outcomeOf(changed({ order: [0, 1, 2, 3, 5] }))).toBe(
      'RangeError: an entry of order must be a whole number from 0 to 4; it is 5.',
    );
  });

  test('positions from further down the table, up to its end; row 0 stays', async () => {
    const places = async (change: object) => {
      const { token, position } = await changed(change);
      expect(token).toEqual(rows.token);
      return rowsOf(position);
    };
    const last = positions - n;
    expect(await places({ shift: 0 })).toEqual(rowsOf(rows.position));
    expect(await places({ shift: 7 })).toEqual([0, 8, 9, 10, 11].map(tableRow));
    expect(await places({ shift: last })).toEqual([0, 136, 137, 138, 139].map(tableRow));
    expect(await outcomeOf(changed({ shift: last + 1 }))).toBe(
      'RangeError: shift must be a whole number from 0 to 135; it is 136.',
    );
  });

  test('all positions the mean of the sentence or of the table', async () => {
    const meanOf = (from: number, to: number) => {
      const count = to - from;
      return sumOf(Array.from({ length: count }, (_, place) => tableRow(from + place))).map((x) => x / count);
    };
    for (const [kind, middle, begin] of [
      ['sentence', meanOf(1, n), 1],
      ['table', meanOf(0, positions), 0],
    ] as const) {
      const { token, position } = await changed({ mean: kind });
      expect(token).toEqual(rows.token);
      for (const [place, row] of rowsOf(position).entries())
        expect(largestDifference(row, place < begin ? tableRow(0) : middle), kind).toBeLessThan(1e-14);
    }
    expect(await outcomeOf(changed({ mean: 'all' }))).toBe(
      `RangeError: mean must be 'sentence' or 'table'; it is "all".`,
    );
    expect(await outcomeOf(changed(1))).toBe('TypeError: change must be an object; it is 1.');
  });
});

describe('means over a corpus', () => {
  const plainWords = words.slice(3, 13);
  /** A sentence of `count` words, each of which is one piece. */
  const sentenceOf = (count: number, seed: number) =>
    Array.from({ length: count }, (_, at) => plainWords[(at * at + seed * (at + 3)) % 10]).join(' ');
  const several = (count: number, length: number) =>
    Array.from({ length: count }, (_, seed) => sentenceOf(length, seed));
  const groups = { position: ['position'], rest: ['content', 'constant'] };

  test('by hand', async () => {
    const { minilm } = await loadTiny();
    const sentences = several(4, 15);
    const fractions: number[] = [];
    const result = await minilm.corpusMeans({
      sentences,
      done: (fraction) => fractions.push(fraction),
    });
    // A window begins every 7 pieces: of 60 pieces, at 0, 7, 14, 21 and 28.
    const { states } = await meansByHand(minilm, sentences, 2);
    expect(result.windows).toBe(5);
    expect(result.states).toEqual(states);
    expect(fractions).toEqual(Array.from({ length: 9 }, (_, step) => (step + 1) / 9));
    expect(result.sentencesOfHeads).toBe(4);
    expect([result.heads.rows, result.heads.columns]).toEqual([2, 2]);
    expect(result.heads.data).toEqual(await headsByHand(minilm, result, sentences));
  });

  /** Computes the means over the windows of these sentences, run through this number of layers. */
  async function meansByHand(
    minilm: Awaited<ReturnType<typeof loadTiny>>['minilm'],
    sentences: readonly string[],
    layers: number,
  ) {
    const cut = await Promise.all(sentences.map((sentence) => minilm.tokenize(sentence)));
    const pieces = cut.flatMap(({ ids }) => ids.slice(1, -1));
    let means: ReturnType<typeof gatherMeans> | undefined;
    let windows = 0;
    for (let from = 0; from + 30 <= pieces.length; from += 7) {
      const sentence = { ids: [1, ...pieces.slice(from, from + 30), 2] };
      const run = await hand.forward(await minilm.rows(sentence), { layers, scores: false });
      const pass = internalsOf.get(run) as PassInternals;
      means ??= gatherMeans(pass, { positions: 30, first: 1 }, { layers });
      means.add(pass);
      windows += 1;
    }
    const states = means?.states() ?? [];
    means?.delete();
    return { states, windows };
  }

  /** The share of position → position in each layer and head, pooled over these sentences. */
  async function headsByHand(
    minilm: Awaited<ReturnType<typeof loadTiny>>['minilm'],
    means: CorpusMeans,
    sentences: readonly string[],
  ) {
    const shares: number[] = [];
    for (const layer of [0, 1]) {
      const scores = [];
      for (const sentence of sentences)
        scores.push(await minilm.decompose(sentence, { layer, way: 'mean', means, groups }));
      const { heads } = plain.poolShares(scores, [0, 1, 1, 1]);
      shares.push(heads[0] as number, heads[2] as number);
    }
    return Float64Array.from(shares);
  }

  test('32 of the short sentences, evenly spaced, are taken for the heads', async () => {
    const { minilm } = await loadTiny();
    // 29 words and two special tokens fit into a window; 30 words do not.
    const sentences = [sentenceOf(30, 50), ...several(32, 3), sentenceOf(29, 51)];
    const result = await minilm.corpusMeans({ sentences });
    expect(result.sentencesOfHeads).toBe(32);
    // Of the 33 short sentences, the second is left out.
    const chosen = sentences.slice(1).filter((_, place) => place !== 1);
    const expected = await headsByHand(minilm, result, chosen);
    expect(result.heads.data).toEqual(expected);
    const first = await headsByHand(minilm, result, sentences.slice(2));
    expect(largestDifference(first, expected)).toBeGreaterThan(1e-9);
  });

  test('without a short sentence there are no heads', async () => {
    const { minilm } = await loadTiny();
    const before = residentBytes();
    const result = await minilm.corpusMeans({ sentences: [sentenceOf(30, 1), sentenceOf(31, 2)] });
    expect([result.windows, result.sentencesOfHeads]).toEqual([5, 0]);
    expect([...result.heads.data]).toEqual(Array(4).fill(Number.NaN));
    // The means have been freed: only two layers and the last forward pass are in memory now.
    const again = residentBytes();
    await minilm.corpusMeans({ sentences: [sentenceOf(30, 1), sentenceOf(31, 2)] });
    expect(residentBytes()).toBe(again);
    expect(again).toBeGreaterThan(before);
  });

  test('51 pieces are the least', async () => {
    const { minilm } = await loadTiny();
    const run = (options: object) => outcomeOf(minilm.corpusMeans(options));
    expect((await minilm.corpusMeans({ sentences: several(3, 17) })).windows).toBe(4);
    expect(await run({ sentences: several(5, 10) })).toBe(
      'RangeError: The sentences must have at least 51 pieces, four windows; they have 50.',
    );
    expect(await run({ sentences: [] })).toBe(
      'RangeError: The sentences must have at least 51 pieces, four windows; they have 0.',
    );
  });

  test('a signal ends it between two windows, and all memory is freed', async () => {
    const { minilm } = await loadTiny();
    const sentences = several(4, 15);
    await minilm.corpusMeans({ sentences });
    const before = residentBytes();
    const stop = new AbortController();
    const reason = new Error('enough');
    const fractions: number[] = [];
    const done = (fraction: number) => {
      fractions.push(fraction);
      if (fractions.length === 2) stop.abort(reason);
    };
    await expect(minilm.corpusMeans({ sentences, done, signal: stop.signal })).rejects.toBe(reason);
    expect(fractions).toHaveLength(2);
    await minilm.corpusMeans({ sentences });
    expect(residentBytes()).toBe(before);
  });

  test('they can be passed to decompose(), which checks their number of layers', async () => {
    const { minilm } = await loadTiny();
    const means = await minilm.corpusMeans({ sentences: several(4, 15) });
    const result = await minilm.decompose(text, { layer: 1, way: 'mean', means });
    expect(result.parts).toEqual(['position', 'content', 'constant']);
    const fewer = { states: means.states.slice(0, 1) };
    expect(await outcomeOf(minilm.decompose(text, { layer: 1, way: 'mean', means: fewer }))).toBe(
      'RangeError: layer must be a whole number from 0 to 0; it is 1.',
    );
  });

  test('the words of corpusSentences come in one file, and give the same means', async () => {
    const { minilm: unread } = await loadTiny();
    const cut = await Promise.all(corpusSentences.map((text) => unread.tokenize(text)));
    expect([...new Set(cut.flatMap(({ ids }) => ids))].sort((a, b) => a - b)).toEqual(ofCorpus);
    const { minilm, requests } = await loadTiny();
    const byDefault = await minilm.corpusMeans();
    expect(requests).toContain('corpus.bin');
    expect(requests.filter((file) => file.startsWith('words'))).toEqual([]);
    const { states, windows } = await meansByHand(unread, corpusSentences, 0);
    expect(byDefault.states[0]).toEqual(states[0]);
    expect([byDefault.windows, byDefault.sentencesOfHeads]).toEqual([windows, 32]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const watched = await loadTiny(
      {},
      {
        read: async (file, _, watch) => {
          if (file !== 'corpus.bin') return files[file] as Uint8Array;
          stop.abort(reason);
          throw watch?.signal?.reason;
        },
      },
    );
    await expect(watched.minilm.corpusMeans({ signal: stop.signal })).rejects.toBe(reason);
    const short = await loadTiny({ 'corpus.bin': files['corpus.bin']?.subarray(16) as Uint8Array });
    expect(await outcomeOf(short.minilm.corpusMeans())).toBe(
      `Error: The MiniLM file corpus.bin is damaged; build it again. It has ${16 * (ofCorpus.length - 1)} bytes instead of ${16 * ofCorpus.length}.`,
    );
  });
});
