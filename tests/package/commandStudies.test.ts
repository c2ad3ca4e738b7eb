// The command `decompose` over files of sentences, layers and heads: its numbers against single calls of the
// library and against numpy, its formats, what it refuses, and how `decompose` and `train` are interrupted.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  corpusSentences,
  load,
  loadMiniLM,
  openModel,
  type Scores,
  type SmallSuperpose,
} from 'add-or-concatenate';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { oneThread, python, withoutNumpy } from '../tools/support/numpy.ts';
import { execute, type Outcome, root } from './support/project.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'superpose-studies-'));
});
afterAll(() => rm(folder, { recursive: true }));

const command = join(root, 'build/package/node/command.js');
const superpose = (...args: string[]) => execute(process.execPath, [command, ...args], folder);
const made = (file: string) => readFile(join(folder, file));
const bert = join(root, 'tests/reference/checkpoints/bert');

/** The build that the command uses: Node 20 lacks relaxed SIMD unless these tests turn it on. */
const library = () => load(Number(process.versions.node.split('.')[0]) < 22 ? { simd: 'plain' } : {});

/** Sentences in numbers, for a model of 2 layers and 2 heads without a tokenizer. */
const idLines = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    Array.from({ length: 2 + (at % 5) }, (_, row) => 3 + ((at + 2 * row) % 9)),
  );
const written = (lines: readonly (readonly number[])[]) => lines.map((ids) => ids.join(', ')).join('\n\n');

interface Tensor {
  dtype: string;
  shape: number[];
  data: Float32Array;
}

/** The tensors and metadata of a file, read by the library's own reader. */
async function tensorsOf(superpose: SmallSuperpose, file: string) {
  const bytes = new Uint8Array(await made(file));
  const tensors: Record<string, Tensor> = {};
  for (const [name, { dtype, shape, begin, end }] of superpose.readSafetensorsHeader(bytes))
    tensors[name] = { dtype, shape: [...shape], data: new Float32Array(bytes.slice(begin, end).buffer) };
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return { tensors, metadata: header.__metadata__ as Record<string, string> };
}

/** Whether two arrays are equal bit by bit; toEqual() would take minutes for millions of numbers. */
const isSame = (a: Float32Array, b: Float32Array) =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));

/** Expects a file to have the numbers of single calls, sentence by sentence and layer by layer. */
function expectSame(
  { tensors, metadata }: Awaited<ReturnType<typeof tensorsOf>>,
  single: readonly (readonly Scores[])[],
): void {
  const [[first]] = single as [[Scores]];
  const extents = [single.length, single[0]?.length, first.heads.length];
  const pair = [first.parts.length, first.parts.length];
  for (const [name, shape] of [
    ['shares', [...extents, ...pair]],
    ['covariances', [...extents, ...pair]],
    ['variances', extents],
    ['residuals', extents],
  ] as const) {
    const wanted = single.flatMap((layers) => layers.flatMap((scores) => [...scores[name]]));
    expect(tensors[name]).toEqual({ dtype: 'F32', shape, data: Float32Array.from(wanted) });
  }
  for (const [at, layers] of single.entries()) {
    const { n } = layers[0] as Scores;
    for (const [name, shape] of [
      ['terms', [...extents.slice(1), ...pair, n, n]],
      ['logits', [...extents.slice(1), n, n]],
    ] as const) {
      const tensor = tensors[`${name}.${at}`] as Tensor;
      expect(tensor.shape).toEqual(shape);
      const each = tensor.data.length / layers.length;
      for (const [layer, scores] of layers.entries())
        expect(isSame(tensor.data.subarray(layer * each, (layer + 1) * each), scores[name])).toBe(true);
    }
  }
  expect(JSON.parse(metadata.parts as string)).toEqual(first.parts);
  expect(JSON.parse(metadata.heads as string)).toEqual(first.heads);
  expect(JSON.parse(metadata.axes as string).terms).toEqual([
    'layer',
    'head',
    'query part',
    'key part',
    'query',
    'key',
  ]);
}

/**
 * Reads the file by its format's specification, with nothing but numpy. From terms and logits alone it checks
 * that the terms add up, and computes their shares. Prints the largest differences.
 */
const oracle = `
import json, struct, sys
import numpy as np
data = open(sys.argv[1], "rb").read()
length = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + length])
meta = header.pop("__metadata__")
def read(name):
    begin, end = header[name]["data_offsets"]
    assert header[name]["dtype"] == "F32" and (8 + length + begin) % 4 == 0
    numbers = np.frombuffer(data[8 + length + begin:8 + length + end], "<f4")
    return numbers.reshape(header[name]["shape"]).astype(np.float64)
sums = shares = 0
sentences = json.loads(meta["sentences"])
for at, sentence in enumerate(sentences):
    terms, logits = read(f"terms.{at}"), read(f"logits.{at}")
    assert terms.shape[-1] == len(sentence["tokens"])
    sums = max(sums, np.abs(terms.sum((2, 3)) - logits).max())
    kept = [row for row in range(len(sentence["ids"])) if row not in sentence["excludedRows"]]
    part = lambda x: x[..., kept, :][..., kept]
    centred = lambda x: x - x.mean(-1, keepdims=True)
    a, t = centred(part(logits)), centred(part(terms))
    found = (t * a[:, :, None, None]).sum((-1, -2)) / (a * a).sum((-1, -2))[:, :, None, None]
    shares = max(shares, np.abs(found - read("shares")[at]).max())
print(json.dumps({"sentences": len(sentences), "sums": float(sums), "shares": float(shares)}))
`;

describe('one call for a study', () => {
  test.runIf(inject('withModel'))(
    'twenty sentences by six layers by twelve heads have the numbers of single calls',
    async () => {
      const texts = corpusSentences.slice(0, 20);
      await writeFile(join(folder, 'sentences.txt'), `${texts.join('\r\n')}\r\n`);
      const asked = ['decompose', '--file', 'sentences.txt', '--layer', 'all', '--head', 'all'];
      const { code, stdout, stderr } = await superpose(...asked, '--out', 'scores.safetensors');
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: 'scores.safetensors: 20 sentences by 6 layers by 12 heads.\n',
      });
      // A line for each tenth.
      const tenths = Array.from({ length: 10 }, (_, at) => `${2 * at + 2} of 20 sentences.\n`);
      expect(stderr).toBe(tenths.join(''));
      const full = await library();
      const model = await loadMiniLM(full);
      const single: Scores[][] = [];
      for (const text of texts) {
        const layers: Scores[] = [];
        for (let layer = 0; layer < 6; layer++) layers.push(await model.decompose(text, { layer }));
        single.push(layers);
      }
      const file = await tensorsOf(full, 'scores.safetensors');
      expectSame(file, single);
      expect(JSON.parse(file.metadata.sentences as string)[3].text).toBe(texts[3]);
      if (withoutNumpy) return;
      const args = ['-c', oracle, join(folder, 'scores.safetensors')];
      const checked = await execute(python, args, folder, oneThread);
      expect(checked).toMatchObject({ code: 0, stderr: '' });
      const { sentences, sums, shares } = JSON.parse(checked.stdout);
      expect(sentences).toBe(20);
      // The rounding of float32 at scores up to 20.
      expect(sums).toBeLessThan(1e-4);
      expect(shares).toBeLessThan(1e-4);
    },
  );

  test('ids of a model of one’s own, in every format', async () => {
    const lines = idLines(20);
    await writeFile(join(folder, 'ids.txt'), written(lines));
    const asked = ['decompose', '--model', bert, '--file', 'ids.txt', '--layer', '1,0', '--way', 'streams'];
    const gauge = ['--gauge', 'raw', '--excluded-rows', '0,last'];
    const full = await library();
    const model = await openModel(full, bert);
    const single = await Promise.all(
      lines.map(async (ids) => {
        const options = { way: 'streams', gauge: 'raw', excludedRows: [0, ids.length - 1] } as const;
        return [
          await model.decompose({ ids }, { layer: 1, ...options }),
          await model.decompose({ ids }, { layer: 0, ...options }),
        ];
      }),
    );
    await superpose(...asked, ...gauge, '--head', 'all', '--out', 'ids.safetensors');
    const file = await tensorsOf(full, 'ids.safetensors');
    expectSame(file, single);
    expect(file.metadata).toMatchObject({
      layers: '[1,0]',
      gauge: 'raw',
      way: 'streams',
      model: 'BERT',
      causal: 'false',
    });

    const csv = (await superpose(...asked, ...gauge, '--head', 'all', '--csv')).stdout.split('\r\n');
    const json = JSON.parse((await superpose(...asked, ...gauge, '--head', 'all', '--json')).stdout);
    expect(json.sentences[4]).toMatchObject({
      ids: lines[4],
      excludedRows: [0, (lines[4]?.length ?? 0) - 1],
    });
    expect(json.columns.slice(0, 7)).toEqual([
      'sentence',
      'layer',
      'head',
      'query',
      'key',
      'query token',
      'key token',
    ]);
    const rows = single.flatMap((layers, at) =>
      layers.flatMap(({ heads, n, logits, terms, parts }, place) =>
        heads.flatMap((head) =>
          Array.from({ length: n * n }, (_, cell) => [
            ...[at, 1 - place, head, Math.floor(cell / n), cell % n],
            ...[Math.floor(cell / n), cell % n].map((row) => String(lines[at]?.[row])),
            ...Array.from(
              { length: parts.length ** 2 },
              (_, term) => terms[(head * parts.length ** 2 + term) * n * n + cell],
            ),
            logits[head * n * n + cell],
          ]),
        ),
      ),
    );
    expect(json.rows).toEqual(rows);
    expect(csv[0]).toBe([...json.columns, 'gauge'].join(','));
    expect(csv.slice(1, -1)).toEqual(rows.map((row) => [...row, 'raw'].join(',')));

    // A file gets the same, and - stands for standard output and input.
    await superpose(...asked, ...gauge, '--head', 'all', '--out', 'ids.csv');
    expect((await made('ids.csv')).toString()).toBe(csv.join('\r\n'));
    const piped = ['decompose', '--model', bert, '--file', '-', ...asked.slice(5), ...gauge, '--head', 'all'];
    const shell = `"$0" "$@" < ids.txt`;
    expect(
      (await execute('sh', ['-c', shell, process.execPath, command, ...piped, '--out', '-', '--csv'], folder))
        .stdout,
    ).toBe(csv.join('\r\n'));
    const text = (await superpose(...asked, '--head', '1')).stdout;
    expect(text.match(/^Scores of head 1, .* layer [01] of BERT, canonical gauge/gm)).toHaveLength(40);
    expect(text).toContain(`\nSentence 19: ${lines[19]?.join(' ')}\n`);
  });

  test.skipIf(withoutNumpy)('numpy reads .npy: the shares of all, or the terms of one', async () => {
    const lines = idLines(7);
    await writeFile(join(folder, 'seven.txt'), written(lines));
    const layers = ['--model', bert, '--layer', 'all'];
    const many = await superpose('decompose', ...layers, '--file', 'seven.txt', '--out', 'shares.npy');
    expect(many.stdout).toBe(
      'shares.npy: shares [7, 2, 2, 6, 6] by sentence, layer, head, query part, key part; parts are token, position, token_type, attention, mlp, constant.\n',
    );
    await superpose('decompose', ...layers, '--ids', '3,7,2', '--head', '1', '--out', 'terms.npy');
    const script =
      'import json, numpy as np; print(json.dumps([[str(a.dtype), a.shape, a.ravel().tolist()] for a in (np.load("shares.npy"), np.load("terms.npy"))]))';
    const { stdout } = await execute(python, ['-c', script], folder, oneThread);
    // The shares of a head whose scores do not vary are NaN.
    const [shares, terms] = JSON.parse(stdout.replaceAll('NaN', 'null'));
    const model = await openModel(await library(), bert);
    const sharesOfCalls: (number | null)[] = [];
    for (const ids of lines) {
      for (const layer of [0, 1]) {
        const scores = await model.decompose({ ids }, { layer });
        sharesOfCalls.push(...Float32Array.from(scores.shares));
      }
    }
    const orNull = sharesOfCalls.map((share) => (Number.isNaN(share) ? null : share));
    expect(shares).toEqual(['float32', [7, 2, 2, 6, 6], orNull]);
    const termsOfCalls: number[] = [];
    for (const layer of [0, 1])
      termsOfCalls.push(...(await model.decompose({ ids: [3, 7, 2] }, { layer, only: [1] })).terms);
    expect(terms).toEqual(['float32', [2, 1, 6, 6, 3, 3], termsOfCalls]);
  });
});

test.each<[string[], string]>([
  [['--file', 'missing'], '--file takes a text file, and “missing” cannot be read.'],
  [['--file', 'blank.txt'], '--file takes a sentence a line, and “blank.txt” has none.'],
  [['--file', 'latin1.txt'], '--file takes a text file in UTF-8, and “latin1.txt” is in another encoding.'],
  [
    ['--file', 'some.txt', '--ids', '1'],
    'by one of --text "The cat sat on the mat.", --ids 101,2023,102 and --file',
  ],
  [['--file', '-', '--corpus', '-', '--way', 'mean'], 'Standard input is read once'],
  [
    ['--file', 'some.txt'],
    'Line 3 of “some.txt”: --file takes the numbers of tokens, from 0 up, with commas between them, such as 101,2023,102, and got “x”.',
  ],
  [['--file', 'far.txt'], 'Line 2 of “far.txt”: '],
  [
    ['--file', 'sound.txt', '--excluded-rows', '1'],
    'Line 2 of “sound.txt”: --excluded-rows takes a whole number from 0 to 0',
  ],
  [['--file', 'sound.txt', '--excluded-rows', '0,0'], '--excluded-rows names 0 more than once.'],
  [['--file', 'sound.txt', '--layer', '1,2'], '--layer takes a whole number from 0 to 1, and got “2”.'],
  [['--file', 'sound.txt', '--layer', '1,1'], '--layer names 1 more than once.'],
  [['--file', 'sound.txt', '--head', 'every'], '--head takes a whole number from 0 up, and got “every”.'],
  [['--file', 'sound.txt', '--head', 'all', '--npy'], 'the terms of 2 sentences are one for each'],
  [['--file', 'sound.txt', '--npy', '--safetensors'], 'Choose one of --npy and --safetensors.'],
  [
    ['--file', 'sound.txt', '--out', 'a.csv', '--csv'],
    '--csv is for standard output, and “a.csv” is a file.',
  ],
  [['--file', 'sound.txt', '--out', '-'], 'add --csv, --json, --npy or --safetensors.'],
  [['--file', 'sound.txt', '--out', 'a.txt'], '.csv, .json, .npy or .safetensors, and got “a.txt”.'],
  [['--file', 'sound.txt', '--out', 'missing/a.npy'], 'could not be written (ENOENT).'],
])('decompose %j is refused', async (args, sentence) => {
  await writeFile(join(folder, 'blank.txt'), ' \n\r\n');
  await writeFile(join(folder, 'latin1.txt'), Uint8Array.of(0x63, 0x61, 0x66, 0xe9));
  await writeFile(join(folder, 'some.txt'), '1,2\n\n3,x\n');
  await writeFile(join(folder, 'far.txt'), '1,2\n3,123456\n');
  await writeFile(join(folder, 'sound.txt'), '1,2\n3\n');
  const outcome = await superpose('decompose', '--model', bert, ...args);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain(sentence);
  expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
});

describe('a signal', () => {
  /** Starts the command and sends a signal when it first says something. */
  const interrupted = (signal: 'SIGINT' | 'SIGTERM', ...args: string[]) =>
    new Promise<Outcome>((done) => {
      const child = spawn(process.execPath, [command, ...args], { cwd: folder });
      const outcome = { code: 0, stdout: '', stderr: '' };
      child.stdout.on('data', (text) => {
        outcome.stdout += text;
      });
      child.stderr.on('data', (text) => {
        if (outcome.stderr === '') child.kill(signal);
        outcome.stderr += text;
      });
      child.on('close', (code) => done({ ...outcome, code: code ?? -1 }));
    });

  // Each run is short, and there are too many of them to be finished before the signal.
  const settings = ['n=3', 'd_model=4', 'sequences=2', 'evaluationSequences=4'];
  const long = [
    ...['train', '--task', 'prev', '--steps', '5', '--schemes', 'add,none'],
    ...settings.flatMap((setting) => ['--set', setting]),
  ];
  const runs = ['--seeds', '1000'];

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s leaves `train` with the runs that are finished', async (signal, exitCode) => {
    const { code, stdout, stderr } = await interrupted(signal, ...long, ...runs, '--json');
    expect(code).toBe(exitCode);
    const { rows, missing } = JSON.parse(stdout);
    const finished = rows.reduce((sum: number, row: { seeds: number }) => sum + row.seeds, 0);
    const left = missing.reduce((sum: number, cell: { seeds: number[] }) => sum + cell.seeds.length, 0);
    expect(finished).toBeGreaterThanOrEqual(200);
    expect(finished + left).toBe(2000);
    const last = stderr.trim().split('\n').at(-1);
    expect(last).toMatch(`Interrupted after ${finished} of 2000 runs. Missing: prev with `);
    expect(last).toMatch(
      /; prev with none, seeds \d+ to 1000\.$|Missing: prev with none, seeds? \d+( to 1000)?\.$/,
    );
    // The finished runs have the numbers of a call that asks for no more runs.
    const same = ['--seeds', String(rows[0].seeds), '--json'];
    expect(JSON.parse((await superpose(...long, ...same)).stdout).rows[0]).toEqual(rows[0]);
  });

  test('leaves them in a file too', async () => {
    const table = await interrupted('SIGINT', ...long, ...runs, '--out', 'runs.csv');
    expect(table).toMatchObject({ code: 130, stdout: '' });
    expect((await made('runs.csv')).toString()).toMatch(/^task,scheme,seeds,accuracy,.*\r\nprev,add,\d+,/);
  });

  test('ends standard output where the message says', async () => {
    await writeFile(join(folder, 'many.txt'), written(idLines(3000)));
    const asked = ['decompose', '--model', bert, '--file', 'many.txt', '--layer', 'all', '--csv'];
    const { code, stdout, stderr } = await interrupted('SIGINT', ...asked);
    expect(code).toBe(130);
    const [sentence, layer] = stdout.trim().split('\r\n').at(-1)?.split(',') ?? [];
    const isWhole = layer === '1';
    const finished = Number(sentence) + (isWhole ? 1 : 0);
    const end = isWhole
      ? 'The answer ends there.'
      : `The answer ends with layer ${layer} of sentence ${sentence}, whose other layers are missing.`;
    expect(stderr.trim().split('\n').at(-1)).toBe(`Interrupted after ${finished} of 3000 sentences. ${end}`);
  });

  test('leaves no half of a file of `decompose`, nor what stood beside it', async () => {
    await writeFile(join(folder, 'many.txt'), written(idLines(3000)));
    await writeFile(join(folder, 'old.csv'), 'old');
    const asked = ['decompose', '--model', bert, '--file', 'many.txt', '--layer', 'all', '--out', 'old.csv'];
    const { code, stdout, stderr } = await interrupted('SIGINT', ...asked);
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toMatch(/\nInterrupted after \d+ of 3000 sentences\. old\.csv was not written\.\n$/);
    expect((await made('old.csv')).toString()).toBe('old');
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
