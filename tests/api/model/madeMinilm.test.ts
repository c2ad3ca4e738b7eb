// A made-up MiniLM of two layers, whole in memory: what its functions compute, read and refuse.
import { type CorpusMeans, corpusSentences, loadMiniLM, type MiniLMOptions, type Superpose } from 'superpose';
import { afterAll, describe, expect, test } from 'vitest';
import { gatherMeans } from '../../../build/package/model/corpusMeans.js';
import { internalsOf, type PassInternals } from '../../../build/package/model/forwardPass.js';
import { plain } from '../support/builds.ts';
import { largestDifference, rowOf, rowsOf, sumOf } from '../support/numbers.ts';
import {
  files,
  heldBytes,
  json,
  layerBytes,
  loadMade,
  made,
  madeStack,
  ofCorpus,
  shape,
  words,
} from './made.ts';

const { d_model: d, positions } = shape;
const text = 'The cats sat on a mat.';
const other = 'A cat slept and the river was in it.';
const hand = await madeStack();
afterAll(() => hand.delete());

const told = (run: Promise<unknown> | (() => unknown)) =>
  (typeof run === 'function' ? new Promise((go) => go(run())) : run).then(
    () => 'It did not fail.',
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('rows and weights', () => {
  test('are those of the files', async () => {
    const { minilm } = await loadMade();
    const { ids, tokens, dropped } = await minilm.tokenize(text);
    expect(tokens).toEqual(['[CLS]', 'the', 'cat', '##s', 'sat', 'on', 'a', 'mat', '.', '[SEP]']);
    expect(ids).toEqual(tokens.map((token) => words.indexOf(token)));
    expect(dropped).toBe(0);
    const { token, position, token_type } = await minilm.rows({ ids, tokens });
    expect(rowsOf(token)).toEqual(ids.map((id) => rowOf(made.words, id)));
    expect(rowsOf(position)).toEqual(ids.map((_, place) => rowOf(made.positions, place)));
    expect(rowsOf(token_type)).toEqual(ids.map(() => rowOf(made.segments, 0)));
    const layer = await minilm.layer();
    const [{ query, key }] = made.layers as [(typeof made.layers)[0]];
    expect(layer).toEqual({
      normalization: made.embeddingNorm,
      query,
      key,
      heads: shape.heads,
      causal: false,
    });
    // Decoded once.
    expect((await minilm.layer()).key.weight.data).toBe(layer.key.weight.data);
  });

  test('shards are read when a row is needed, and once', async () => {
    const { minilm, asked } = await loadMade();
    expect(asked.sort()).toEqual(['config.json', 'layer-0.bin', 'manifest.json', 'tokenizer.json']);
    const of = (...ids: number[]) => ({ ids });
    await minilm.rows(of(3, 12));
    expect(asked.slice(4).sort()).toEqual(['positions-0.bin', 'words-0.bin', 'words-1.bin']);
    await minilm.rows(of(13, 4));
    expect(asked).toHaveLength(7);
    await minilm.rows(of(23));
    expect(asked.slice(7)).toEqual(['words-2.bin']);
  });

  test('a sentence is as long as the table of positions at most', async () => {
    const { minilm } = await loadMade();
    const of = (count: number) => ({ ids: Array<number>(count).fill(3) });
    expect((await minilm.rows(of(positions))).position.data).toEqual(made.positions.data);
    expect(await told(minilm.rows(of(positions + 1)))).toBe(
      'RangeError: A sentence must have from 1 to 140 tokens; it has 141.',
    );
    expect(await told(() => minilm.pieces([24]))).toContain('from 0 to 23; it is 24.');
    expect(await minilm.pieces([23, 0])).toEqual(['at', '[UNK]']);
    expect((await minilm.tokenize(text, 10)).dropped).toBe(0);
    expect(await minilm.tokenize(text, 9)).toMatchObject({
      dropped: 1,
      tokens: expect.arrayContaining(['[SEP]']),
    });
    expect(await told(() => minilm.tokenize(text, 1))).toBe(
      'RangeError: most must be a whole number from 2 to 140; it is 1.',
    );
    expect(await told(() => minilm.tokenize(text, 141))).toContain('from 2 to 140; it is 141.');
    expect(await told(() => minilm.tokenize('a'.repeat(100_001)))).toBe(
      'RangeError: The text must have at most 100000 characters; it has 100001.',
    );
  });

  test('first scores, with an undefined layer too, are of the default gauge', async () => {
    const { minilm, asked } = await loadMade();
    const scores = await minilm.decompose(text);
    expect(scores.parts).toEqual(['token', 'position', 'token_type', 'constant']);
    expect([scores.gauge, scores.excludedRows]).toEqual(['canonical', [0]]);
    expect(scores.terms).toBeInstanceOf(Float32Array);
    const named = { layer: undefined, gauge: 'canonical', excludedRows: [0] } as const;
    expect(await minilm.decompose(await minilm.tokenize(text), named as object)).toEqual(scores);
    const raw = { gauge: 'raw', excludedRows: [0] } as const;
    expect(await minilm.decompose(text, { gauge: 'raw' })).toMatchObject(raw);
    expect((await minilm.decompose(text, { excludedRows: [1, 2] })).excludedRows).toEqual([1, 2]);
    expect(asked.filter((file) => file.startsWith('encoder'))).toEqual([]);
  });
});

describe('files', () => {
  /** Reads these files, and notes which were asked for and whether afresh. */
  const reading = (given: Record<string, Uint8Array | Error>) => {
    const asked: [string, boolean | undefined][] = [];
    const read: MiniLMOptions['read'] = async (file, afresh) => {
      asked.push([file, afresh]);
      const found = given[file] ?? files[file];
      if (found instanceof Uint8Array) return found;
      throw found ?? new Error(`There is no ${file}.`);
    };
    return { asked, options: { read } };
  };

  test('what a cache may hold is read again, past it; what cannot be read is not', async () => {
    const { asked, options } = reading({ 'layer-0.bin': json('portal') });
    const error = (await loadMiniLM(plain, options).catch((one) => one)) as Error;
    expect(error.message).toMatch(/^The MiniLM file layer-0\.bin is damaged; build it again\. ./);
    expect((error.cause as Error).message).toBe(error.message.replace(/^.*build it again\. /, ''));
    expect(asked.filter(([file]) => file === 'layer-0.bin')).toEqual([
      ['layer-0.bin', false],
      ['layer-0.bin', true],
    ]);
    const away = new Error('The line is cut.');
    const missing = reading({ 'tokenizer.json': away });
    expect(await loadMiniLM(plain, missing.options).catch((one) => one)).toBe(away);
    expect(missing.asked.filter(([file]) => file === 'tokenizer.json')).toHaveLength(1);
    const nothing = reading({ 'manifest.json': away });
    const found = (await loadMiniLM(plain, nothing.options).catch((one) => one)) as Error;
    expect(found.message).toMatch(/^The MiniLM files are not there\. /);
    expect(found.cause).toBe(away);
    expect(nothing.asked).toEqual([['manifest.json', false]]);
  });

  test('what is no JSON has the parser’s error for its cause', async () => {
    const { options } = reading({ 'manifest.json': new TextEncoder().encode('<html>') });
    const error = (await loadMiniLM(plain, options).catch((one) => one)) as Error;
    expect((error.cause as Error).message).toBe('It is not JSON.');
    expect((error.cause as Error).cause).toBeInstanceOf(SyntaxError);
  });

  test('a layer whose file is cut short; the first one’s has arrived, and is enough for it', async () => {
    const whole = files['encoder-1.bin'] as Uint8Array;
    const { minilm } = await loadMade({ 'encoder-1.bin': whole.subarray(4) });
    expect(await told(minilm.forward(text))).toBe(
      `Error: The MiniLM file encoder-1.bin is damaged; build it again. It has ${whole.length - 4} bytes instead of ${whole.length}.`,
    );
    expect((await minilm.forward(text, { layers: 1 })).layers).toBe(1);
  });

  test('a layer with a number that is none', async () => {
    const bytes = (files['encoder-1.bin'] as Uint8Array).slice().fill(255, 0, 4);
    const { minilm } = await loadMade({ 'encoder-1.bin': bytes });
    expect(await told(minilm.forward(text))).toBe(
      'RangeError: Tensor "encoder.layer.1.attention.self.query.wei…" must be finite; value 0 is NaN.',
    );
  });
});

describe('all layers', () => {
  test('states, scores and embedding are those of the same weights added by hand', async () => {
    const { minilm } = await loadMade();
    const forward = await minilm.forward(text);
    expect(forward.sentence).toEqual(await minilm.tokenize(text));
    const wanted = await hand.forward(await minilm.rows(forward.sentence));
    expect(forward.layers).toBe(2);
    for (const layers of [0, 1, 2]) expect(forward.state(layers)).toEqual(wanted.state(layers));
    expect(forward.logits(1)).toEqual(wanted.logits(1));
    expect(forward.embedding).toEqual(wanted.embedding);
    const sentence = await minilm.tokenize(other);
    const fewer = await minilm.forward(sentence, { layers: 1, scores: false });
    expect(fewer.sentence).toEqual(sentence);
    expect(fewer.layers).toBe(1);
    expect(await told(() => fewer.logits(0))).toContain('kept no scores');
    const rows = await minilm.rows(sentence);
    expect(fewer.state(1)).toEqual((await hand.forward(rows, { layers: 1 })).state(1));
    const own = await minilm.forward(text, { summands: { token: rows.token } });
    expect(own.state(2)).toEqual((await hand.forward({ token: rows.token })).state(2));
  });

  test('any layer is taken apart, canonical unless another gauge is named', async () => {
    const { minilm } = await loadMade();
    const run = await hand.forward(await minilm.rows(await minilm.tokenize(text)));
    for (const layer of [1, 0]) {
      const scores = await minilm.decompose(text, { layer });
      const { sentence, ...found } = scores;
      expect(sentence.ids).toHaveLength(10);
      expect(found).toEqual(run.decompose({ layer, gauge: 'canonical', excludedRows: [0] }));
      const { sentence: _, ...raw } = await minilm.decompose(sentence, { layer, gauge: 'raw' });
      expect(raw).toEqual(run.decompose({ layer, gauge: 'raw', excludedRows: [0] }));
      const asked = { layer, way: 'streams', only: [1], excludedRows: [2] } as const;
      const { sentence: __, ...streams } = await minilm.decompose(text, asked);
      expect(streams).toEqual(run.decompose(asked));
    }
  });

  test('the way by means says how to get them from a model that reads texts', async () => {
    const { minilm } = await loadMade();
    expect(await told(minilm.decompose(text, { layer: 0, way: 'mean' }))).toBe(
      "TypeError: The way 'mean' needs the means of BERT’s states over a corpus. Gather them first: const means = await model.corpusMeans(); await model.decompose(input, { way: 'mean', means }).",
    );
  });

  /** Runs through transformer stacks of this one are listed, by how many layers. */
  const counting = () => {
    const runs: (number | undefined)[] = [];
    const transformerStack = ((asked: Parameters<Superpose['transformerStack']>[0]) => {
      const real = plain.transformerStack(asked);
      const forward: typeof real.forward = (rows, given) => {
        runs.push(given?.layers);
        return real.forward(rows, given);
      };
      return Object.create(real, { forward: { value: forward } }) as typeof real;
    }) as Superpose['transformerStack'];
    return { runs, superpose: { ...plain, transformerStack } };
  };

  test('a sentence is run once for the scores of all layers that have come', async () => {
    const { runs, superpose } = counting();
    const { minilm, asked } = await loadMade({}, { superpose });
    const ask = (of: string, layer: number, more: object = {}) => minilm.decompose(of, { layer, ...more });
    await ask(text, 0);
    await ask(text, 0, { gauge: 'raw' });
    expect(runs).toEqual([1]);
    expect(asked.filter((file) => file.startsWith('encoder'))).toEqual(['encoder-0.bin']);
    await ask(text, 1);
    expect(asked.filter((file) => file.startsWith('encoder'))).toHaveLength(2);
    await ask(text, 0);
    expect(runs).toEqual([1, 2]);
    await ask(other, 0);
    await ask(other, 1);
    expect(runs).toEqual([1, 2, 2]);
    const before = await ask(other, 0);
    // A forward takes the stack, so the next question runs again.
    await minilm.forward(other);
    expect((await ask(other, 0)).terms).toEqual(before.terms);
    expect(runs).toHaveLength(5);
  });

  test('files come when a layer is needed, once', async () => {
    const { minilm, asked } = await loadMade();
    const came = () => asked.filter((file) => file.startsWith('encoder')).map((file) => Number(file[8]));
    await minilm.forward(text, { layers: 0 });
    expect(came()).toEqual([]);
    await minilm.forward(text, { layers: 1 });
    await minilm.forward(other, { layers: 1 });
    expect(came()).toEqual([0]);
    await minilm.forward(text);
    await minilm.forward(text, { layers: 1 });
    expect(came()).toEqual([0, 1]);
    // Two at once wait for one another.
    const { minilm: fresh, asked: again } = await loadMade();
    const both = await Promise.all([fresh.forward(text, { layers: 1 }), fresh.forward(text)]);
    expect(both.map(({ layers }) => layers)).toEqual([1, 2]);
    expect(again.filter((file) => file.startsWith('encoder'))).toHaveLength(2);
  });

  test('progress counts the bytes of what was missing, up to all of them', async () => {
    const [first, second] = layerBytes as [number, number];
    const withProgress = async (extra: number) => {
      const { minilm } = await loadMade(
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
    // The first norm, queries and keys are here, and count too.
    const here = 8 * (d * d + 2 * d);
    const all = first + here;
    const told = heard.splice(0);
    expect(told.at(-1)).toEqual([all, all]);
    // The norm and the biases come before what is in the layer’s own file.
    expect(told.map(([bytes]) => bytes)).toEqual(expect.arrayContaining([16 * d + 100, 16 * d + first]));
    await run(2);
    expect(heard.splice(0)).toEqual([
      [100, second],
      [second, second],
    ]);
    await run(2);
    expect(heard).toEqual([]);
    // A file that comes twice is not counted beyond all.
    const more = await withProgress(7);
    await more.run(2);
    expect(more.heard.at(-1)).toEqual([all + second, all + second]);
    expect(Math.max(...more.heard.map(([bytes]) => bytes))).toBe(all + second);
  });

  test('a signal ends the fetching with its reason; the next forward goes on', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const asked: string[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const { minilm } = await loadMade(
      {},
      {
        read: async (file, _, watch) => {
          if (!file.startsWith('encoder')) return files[file] as Uint8Array;
          asked.push(file);
          signals.push(watch?.signal);
          watch?.received?.(1);
          if (file === 'encoder-1.bin') stop.abort(reason);
          return files[file] as Uint8Array;
        },
      },
    );
    await expect(minilm.forward(text, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    // A head that is not there is refused before any layer is asked for.
    await expect(minilm.decompose(text, { layer: 1, only: [2] })).rejects.toThrow('from 0 to 1; it is 2');
    expect(asked).toEqual([]);
    await expect(minilm.forward(text, { signal: stop.signal })).rejects.toBe(reason);
    // Each fetch has a signal of its own; the first had ended by then.
    expect(signals.map((one) => [one?.aborted, one?.reason])).toEqual([
      [false, undefined],
      [true, reason],
    ]);
    // The second layer had come, and is not fetched again.
    const heard: [number, number][] = [];
    const progress = (bytes: number, of: number) => heard.push([bytes, of]);
    expect((await minilm.forward(text, { progress })).layers).toBe(2);
    expect(heard.at(-1)).toEqual([layerBytes[1], layerBytes[1]]);
    expect(asked).toEqual([0, 1].map((layer) => `encoder-${layer}.bin`));
  });
});

describe('the whole module', () => {
  const { transformerStack: _, ...first } = plain;

  test('is missed by name', async () => {
    const why =
      'Error: The layers after the first scores run in the whole module; open the model over load().';
    const { minilm } = await loadMade({}, { superpose: first as unknown as Superpose });
    expect(await told(minilm.forward(text))).toBe(why);
    expect((await minilm.decompose(text)).n).toBe(10);
  });

  test('is started when it is needed, and again after it did not come', async () => {
    let started = 0;
    const { minilm } = await loadMade(
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
    expect(await told(minilm.forward(text))).toBe('Error: The network is away.');
    expect((await minilm.forward(text)).layers).toBe(2);
    expect(started).toBe(2);
    // It is started once, however many calls follow.
    await Promise.all([minilm.forward(text), minilm.decompose(text, { layer: 1 })]);
    expect(started).toBe(2);
  });
});

describe('positions and order changed', async () => {
  const { minilm } = await loadMade();
  const sentence = await minilm.tokenize('the river bank');
  const rows = await minilm.rows(sentence);
  const changed = (change: unknown) => minilm.changed(sentence, change as never);
  const n = 5;
  const tableRow = (place: number) => rowOf(made.positions, place);

  test('words in another order; positions as they were', async () => {
    const found = await changed({ order: [0, 3, 1, 2, 4] });
    expect(rowsOf(found.token)).toEqual([0, 3, 1, 2, 4].map((from) => rowOf(rows.token, from)));
    expect(found.position).toEqual(rows.position);
    expect(found.token_type).toEqual(rows.token_type);
    expect(await told(changed({ order: [0, 1] }))).toBe(
      'RangeError: order must be an array of 5 numbers; it is an array of 2.',
    );
    expect(await told(changed({ order: [0, 1, 1, 2, 3] }))).toBe(
      'RangeError: order must name each once; 1 is there twice.',
    );
    expect(await told(changed({ order: [0, 1, 2, 3, 5] }))).toBe(
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
    expect(await told(changed({ shift: last + 1 }))).toBe(
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
    expect(await told(changed({ mean: 'all' }))).toBe(
      `RangeError: mean must be 'sentence' or 'table'; it is "all".`,
    );
    expect(await told(changed(1))).toBe('TypeError: change must be an object; it is 1.');
  });
});

describe('means over a corpus', () => {
  const plainWords = words.slice(3, 13);
  /** A sentence of so many words, each one piece. */
  const sentenceOf = (count: number, seed: number) =>
    Array.from({ length: count }, (_, at) => plainWords[(at * at + seed * (at + 3)) % 10]).join(' ');
  const several = (count: number, length: number) =>
    Array.from({ length: count }, (_, seed) => sentenceOf(length, seed));
  const groups = { position: ['position'], rest: ['content', 'constant'] };

  test('by hand', async () => {
    const { minilm } = await loadMade();
    const sentences = several(4, 15);
    const fractions: number[] = [];
    const found = await minilm.corpusMeans({
      sentences,
      done: (fraction) => fractions.push(fraction),
    });
    // Cut every 7 pieces: of 60 from 0, 7, 14, 21 and 28.
    const { states } = await meansByHand(minilm, sentences, 2);
    expect(found.windows).toBe(5);
    expect(found.states).toEqual(states);
    expect(fractions).toEqual(Array.from({ length: 9 }, (_, step) => (step + 1) / 9));
    expect(found.sentencesOfHeads).toBe(4);
    expect([found.heads.rows, found.heads.columns]).toEqual([2, 2]);
    expect(found.heads.data).toEqual(await headsByHand(minilm, found, sentences));
  });

  /** Means over the windows of these sentences, run through so many layers. */
  async function meansByHand(
    minilm: Awaited<ReturnType<typeof loadMade>>['minilm'],
    sentences: readonly string[],
    layers: number,
  ) {
    const cut = await Promise.all(sentences.map((one) => minilm.tokenize(one)));
    const pieces = cut.flatMap(({ ids }) => ids.slice(1, -1));
    let means: ReturnType<typeof gatherMeans> | undefined;
    let windows = 0;
    for (let from = 0; from + 30 <= pieces.length; from += 7) {
      const sentence = { ids: [1, ...pieces.slice(from, from + 30), 2] };
      const run = await hand.forward(await minilm.rows(sentence), { layers, scores: false });
      const own = internalsOf.get(run) as PassInternals;
      means ??= gatherMeans(own, { positions: 30, first: 1 }, { layers });
      means.add(own);
      windows += 1;
    }
    const states = means?.states() ?? [];
    means?.delete();
    return { states, windows };
  }

  /** Position → position of each layer and head, pooled over these sentences. */
  async function headsByHand(
    minilm: Awaited<ReturnType<typeof loadMade>>['minilm'],
    means: CorpusMeans,
    sentences: readonly string[],
  ) {
    const shares: number[] = [];
    for (const layer of [0, 1]) {
      const scores = [];
      for (const one of sentences)
        scores.push(await minilm.decompose(one, { layer, way: 'mean', means, groups }));
      const { heads } = plain.poolShares(scores, [0, 1, 1, 1]);
      shares.push(heads[0] as number, heads[2] as number);
    }
    return Float64Array.from(shares);
  }

  test('32 of the short sentences, evenly spaced, are taken for the heads', async () => {
    const { minilm } = await loadMade();
    // 29 words and two markers are short, 30 are not.
    const sentences = [sentenceOf(30, 50), ...several(32, 3), sentenceOf(29, 51)];
    const found = await minilm.corpusMeans({ sentences });
    expect(found.sentencesOfHeads).toBe(32);
    // Of 33, the second is left out.
    const chosen = sentences.slice(1).filter((_, place) => place !== 1);
    const wanted = await headsByHand(minilm, found, chosen);
    expect(found.heads.data).toEqual(wanted);
    const first = await headsByHand(minilm, found, sentences.slice(2));
    expect(largestDifference(first, wanted)).toBeGreaterThan(1e-9);
  });

  test('without a short sentence there are no heads', async () => {
    const { minilm } = await loadMade();
    const before = heldBytes();
    const found = await minilm.corpusMeans({ sentences: [sentenceOf(30, 1), sentenceOf(31, 2)] });
    expect([found.windows, found.sentencesOfHeads]).toEqual([5, 0]);
    expect([...found.heads.data]).toEqual(Array(4).fill(Number.NaN));
    // Nothing is left of the means: what is held now are two layers and the last forward.
    const again = heldBytes();
    await minilm.corpusMeans({ sentences: [sentenceOf(30, 1), sentenceOf(31, 2)] });
    expect(heldBytes()).toBe(again);
    expect(again).toBeGreaterThan(before);
  });

  test('51 pieces are the least', async () => {
    const { minilm } = await loadMade();
    const run = (options: object) => told(minilm.corpusMeans(options));
    expect((await minilm.corpusMeans({ sentences: several(3, 17) })).windows).toBe(4);
    expect(await run({ sentences: several(5, 10) })).toBe(
      'RangeError: The sentences must have at least 51 pieces, four windows; they have 50.',
    );
    expect(await run({ sentences: [] })).toBe(
      'RangeError: The sentences must have at least 51 pieces, four windows; they have 0.',
    );
  });

  test('a signal ends it between two windows, and nothing stays held', async () => {
    const { minilm } = await loadMade();
    const sentences = several(4, 15);
    await minilm.corpusMeans({ sentences });
    const before = heldBytes();
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
    expect(heldBytes()).toBe(before);
  });

  test('they serve a decomposition, and their layers are counted', async () => {
    const { minilm } = await loadMade();
    const means = await minilm.corpusMeans({ sentences: several(4, 15) });
    const found = await minilm.decompose(text, { layer: 1, way: 'mean', means });
    expect(found.parts).toEqual(['position', 'content', 'constant']);
    const fewer = { states: means.states.slice(0, 1) };
    expect(await told(minilm.decompose(text, { layer: 1, way: 'mean', means: fewer }))).toBe(
      'RangeError: layer must be a whole number from 0 to 0; it is 1.',
    );
  });

  test('the words of the project’s own sentences come in one file, and give the same means', async () => {
    const { minilm: unread } = await loadMade();
    const cut = await Promise.all(corpusSentences.map((one) => unread.tokenize(one)));
    expect([...new Set(cut.flatMap(({ ids }) => ids))].sort((a, b) => a - b)).toEqual(ofCorpus);
    const { minilm, asked } = await loadMade();
    const own = await minilm.corpusMeans();
    expect(asked).toContain('corpus.bin');
    expect(asked.filter((file) => file.startsWith('words'))).toEqual([]);
    const { states, windows } = await meansByHand(unread, corpusSentences, 0);
    expect(own.states[0]).toEqual(states[0]);
    expect([own.windows, own.sentencesOfHeads]).toEqual([windows, 32]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const watched = await loadMade(
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
    const short = await loadMade({ 'corpus.bin': files['corpus.bin']?.subarray(16) as Uint8Array });
    expect(await told(short.minilm.corpusMeans())).toBe(
      `Error: The MiniLM file corpus.bin is damaged; build it again. It has ${16 * (ofCorpus.length - 1)} bytes instead of ${16 * ofCorpus.length}.`,
    );
  });
});
