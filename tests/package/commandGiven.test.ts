// What typing errors and strangers give the command: options that would be dropped, paths that cannot be
// written, files that never end, and texts that would steer a terminal.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'add-or-concatenate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Library } from '../../web/figures/figure.ts';
import { rendererOf } from '../../web/node/render.ts';
import { execute, root } from './support/project.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'superpose-given-'));
});
afterAll(() => rm(folder, { recursive: true }));

const command = join(root, 'build/package/node/command.js');
const superpose = (...args: string[]) => execute(process.execPath, [command, ...args], folder);
const refusalOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await superpose(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n')).toHaveLength(1);
  return stderr.trim();
};

const train = (...more: string[]) => ['train', '--task', 'prev', '--steps', '1', ...more];
const figure = (...more: string[]) => ['figure', 'dot-products', '--out', 'a.svg', ...more];
const bert = join(root, 'tests/reference/checkpoints/bert');

// `npx add-or-concatenate` runs the file directly in a clone that has been built again.
test('the built command is a program by itself', async () => {
  expect(await execute(command, ['--help'], folder)).toMatchObject({ code: 0, stderr: '' });
});

describe('an option is not dropped in silence', () => {
  test.each<[string[], string]>([
    [['decompose', '--text', 'a', '--text', 'b'], '--text takes one value, and is given more than once.'],
    [['decompose', '--text', 'a', '--head', '1', '--head', '2'], '--head takes one value'],
    [train('--out', 'a.safetensors', '--out', 'b.safetensors'), '--out takes one value'],
    [train('--task', 'roll'), '--task takes one value'],
    [train('--set', 'n=4', '--set', 'n=5'), '--set sets “n” more than once.'],
    [figure('--set', 'd=64', '--set', 'd=128'), '--set sets “d” more than once.'],
    [figure('--state', 'd=64&d=128'), '--state sets “d” more than once.'],
    [figure('--width', '400', '--width', '500'), '--width takes one value'],
    [['figure', 'dot-products', '--out', 'a.csv', '--width', '400'], '--width is for pictures'],
    [['figure', 'dot-products', '--out', 'a.json', '--theme', 'dark'], '--theme is for pictures'],
    [train('--schemes', 'add,'), 'Unknown scheme ``. Schemes: add, concat-half, concat-quarter,'],
    [train('--schemes', 'concat-8'), 'Did you mean `concat-half`?'],
    [train('--schemes', 'rope-sinusoid'), 'Unknown scheme `rope-sinusoid`. Schemes: add,'],
  ])('%j', async (args, sentence) => {
    expect(await refusalOf(...args)).toContain(sentence);
  });

  test('what has a meaning is taken', async () => {
    const { stdout } = await superpose(
      ...train(
        '--schemes',
        'add-sinusoid,concat-quarter,uniform-attention,concat-wide-without-cross-terms',
        '--csv',
      ),
    );
    expect(stdout.split('\r\n').map((row) => row.split(',')[1])).toEqual([
      'scheme',
      'add-sinusoid',
      'concat-quarter',
      'uniform-attention',
      'concat-wide-without-cross-terms',
      undefined,
    ]);
  });
});

describe('a refusal quotes what was given and says what is allowed', () => {
  test.each<[string[], string]>([
    [train('--set', 'd_model=abc'), '--set d_model= takes a number, true or false, and got “abc”.'],
    [train('--set', 'd_model='), 'and got “”.'],
    [train('--set', 'd_model=0x10'), 'and got “0x10”.'],
    [['model', bert, '--heads', 'abc'], '--heads takes a number, and got “abc”.'],
    [['model', bert, '--epsilon', ''], '--epsilon takes a number, and got “”.'],
    [
      ['decompose', '--model', bert, '--ids', '1,a,2'],
      '--ids takes the numbers of tokens, from 0 up, with commas between them, such as 101,2023,102, and got “a”.',
    ],
    [figure('--width', 'wide'), '--width takes a whole number from 280 to 2000, and got “wide”.'],
    [['decompose', '--text', 'Hi', '--head', '-1'], '--head takes a whole number from 0 up, and got “-1”.'],
    [['decompose', '--text', 'Hi', '--layer', '-1'], 'from 0 up, and got “-1”.'],
    [train('--seeds', '-3'), '--seeds takes a whole number from 1 to 1000, and got “-3”.'],
    [['decompose', '--text', '--csv'], '--text takes a value, and “--csv” follows it.'],
    [['decompose', '--text'], '--text takes a value, and nothing follows it.'],
    [['decompose', '--text', 'Hi', '--csv=no'], '--csv takes no value, and got “no”.'],
    [['decompose', 'Hi'], 'This command takes options alone, and got “Hi”.'],
    [['decompose', '-t', 'Hi'], 'Unknown option `-t`. Options: --text, --ids,'],
    [
      ['decompose', '--guage', 'raw'],
      '--safetensors. Did you mean `--gauge`? add-or-concatenate --help has examples.',
    ],
    [['list', '--__proto__'], 'Unknown option `--__proto__`. Options: none.'],
    [figure('--set', 'ds=5'), 'Did you mean `d`? add-or-concatenate list dot-products has all settings.'],
    [train('--set', 'learninRate=1'), 'Unknown option `learninRate`. Options: n, sequences,'],
    [train('--set', 'learninRate=1'), 'Did you mean `learningRate`?'],
  ])('%j', async (args, sentence) => {
    expect(await refusalOf(...args)).toContain(sentence);
  });
});

describe('a path is tried before the work', () => {
  // A training so long that nobody would wait for its end.
  const long = ['train', '--task', 'prev', '--steps', '100000', '--set', 'd_model=512', '--set', 'layers=12'];
  test.each<[string, string[]]>([
    ['ENOENT', [...long, '--out', 'missing/m.safetensors']],
    ['EISDIR', [...long, '--out', 'folder.safetensors']],
    ['it is no file', [...long, '--out', 'pipe.safetensors']],
    ['ENOENT', ['figure', 'schemes-tasks', '--out', 'missing/a.csv']],
    ['EISDIR', ['figure', 'schemes-tasks', '--out', 'folder.csv']],
  ])('%s: %j', async (why, args) => {
    await mkdir(join(folder, 'folder.safetensors'), { recursive: true });
    await mkdir(join(folder, 'folder.csv'), { recursive: true });
    await execute('mkfifo', ['pipe.safetensors'], folder);
    expect(await refusalOf(...args)).toContain(`could not be written (${why}).`);
  });

  test('and is left as it is until there is something to write', async () => {
    await mkdir(join(folder, 'kept'));
    await writeFile(join(folder, 'kept/old.svg'), 'old');
    for (const file of ['old.svg', 'new.svg'])
      await refusalOf('figure', 'dot-products', '--set', 'd=5', '--out', `kept/${file}`);
    expect(await readdir(join(folder, 'kept'))).toEqual(['old.svg']);
    expect(await readFile(join(folder, 'kept/old.svg'), 'utf8')).toBe('old');
  });
});

test('a setting that is refused is known before anything is computed', async () => {
  const reads: (string | symbol)[] = [];
  const library = new Proxy({} as Library, { get: (_, name) => reads.push(name) && undefined });
  const heed = (refused: readonly string[]) => {
    throw new Error(refused.join(' '));
  };
  const render = rendererOf(library);
  await expect(render('schemes-tasks', [['size', 'huge']], heed)).rejects.toThrow('huge');
  expect(reads).toEqual([]);
});

describe('what is no file is not waited for', () => {
  test.each(['config.json', 'model.safetensors'])(
    '%s of a model that is a folder or a pipe',
    async (name) => {
      const model = join(folder, 'model');
      for (const [kind, make] of [
        ['a folder', (path: string) => mkdir(path)],
        ['a pipe or a device', (path: string) => execute('mkfifo', [path], folder)],
      ] as const) {
        await rm(model, { recursive: true, force: true });
        await mkdir(model);
        for (const file of await readdir(bert)) {
          if (file !== name) await writeFile(join(model, file), await readFile(join(bert, file)));
        }
        await make(join(model, name));
        const sentence = `“${model}/${name}” could not be read: it is ${kind}, and must be a file.`;
        expect(await refusalOf('model', model)).toBe(sentence);
      }
    },
  );
});

describe('of a model’s folder', () => {
  const qwen2 = join(root, 'tests/reference/checkpoints/qwen2');
  /** A copy of the model with these members added to its config.json. */
  const copyOf = async (model: string, members: object) => {
    const copy = await mkdtemp(join(folder, 'copy-'));
    const config = JSON.parse(await readFile(join(model, 'config.json'), 'utf8'));
    await writeFile(join(copy, 'config.json'), JSON.stringify({ ...config, ...members }));
    await writeFile(join(copy, 'model.safetensors'), await readFile(join(model, 'model.safetensors')));
    return copy;
  };

  test('what is missing and what is not computed is named', async () => {
    expect(await refusalOf('model', await copyOf(qwen2, { rope_scaling: { type: 'yarn' } }))).toMatch(
      /^config\.json has the rope_type "yarn" in rope_scaling, whose angles are not computed here; those of default,/,
    );
    const shards = await copyOf(bert, {});
    await rename(join(shards, 'model.safetensors'), join(shards, 'm-00001-of-00002.safetensors'));
    const index = { weight_map: { a: 'm-00001-of-00002.safetensors', b: 'm-00002-of-00002.safetensors' } };
    await writeFile(join(shards, 'model.safetensors.index.json'), JSON.stringify(index));
    for (const args of [
      ['model', shards],
      ['decompose', '--ids', '1,2', '--model', shards],
    ])
      expect(await refusalOf(...args)).toBe(
        'Of the 2 shards that “model.safetensors.index.json” names, this one is not beside it: m-00002-of-00002.safetensors. Put all of them there.',
      );
  });

  test('a window is told, and a link that leads nowhere is passed over', async () => {
    const slides = {
      num_hidden_layers: 4,
      use_sliding_window: true,
      sliding_window: 7,
      max_window_layers: 2,
    };
    const model = await copyOf(qwen2, slides);
    await symlink(join(model, 'nothing'), join(model, 'tokenizer.json'));
    const { stdout } = await superpose('model', model);
    expect(stdout.split('\n', 1)[0]).toMatch(
      / In layers 2 to 3 a query sees 7 keys, itself and those before it/,
    );
    expect(stdout).toMatch(/^keys that a query sees in layers that slide +7$/m);
    const json = JSON.parse((await superpose('model', model, '--json')).stdout);
    expect(json.slidingWindow).toEqual({ keys: 7, layers: [2, 3] });
    const others = await superpose('model', qwen2);
    expect(others.stdout).not.toMatch(/slid/);
  });
});

describe('a stranger’s text does not steer the terminal', () => {
  // Colours, a title, C1's CSI, a carriage return, a reversal, and the end of a line.
  const hostile = 'a\u001b[31m\u001b]0;t\u0007\u009b2Jb\rc\u202ed\u2066e\u2028f\u007fg\nh';
  const escaped = 'a\\u001b[31m\\u001b]0;t\\u0007\\u009b2Jb\\u000dc\\u202ed\\u2066e\\u2028f\\u007fg\\u000ah';
  const unprintable = /(?!\n|\r\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

  test('in what was given, and where it is quoted', async () => {
    for (const args of [
      [hostile],
      ['list', hostile],
      ['list', `--${hostile}`],
      ['figure', hostile, '--out', 'a.svg'],
      ['figure', 'dot-products', '--out', `${hostile}.gif`],
      figure('--set', hostile),
      figure('--set', `${hostile}=1`),
      figure('--set', `d=${hostile}`),
      figure('--state', `#v=1&figure=${hostile}`),
      ['model', hostile],
      train('--schemes', hostile),
      train('--schemes', `add-${hostile}`),
      train('--task', hostile).filter((_, at) => at !== 1 && at !== 2),
    ]) {
      const sentence = await refusalOf(...args);
      expect(sentence, String(args)).not.toMatch(unprintable);
      expect(sentence, String(args)).toContain('a\\u001b[31m');
    }
  });

  test('in the names of a file’s tensors', async () => {
    const library = await load(process.version < 'v22' ? { simd: 'plain' } : {});
    const tensor = { data: new Float32Array(4), rows: 2, columns: 2 };
    const bytes = library.encodeSafetensors({ [hostile]: tensor });
    await writeFile(join(folder, 'hostile.safetensors'), bytes);
    const sentence = await refusalOf('model', 'hostile.safetensors');
    expect(sentence).toContain(escaped);
    expect(sentence).not.toMatch(unprintable);
  });
});

test('where writing fails, the old file is whole and nothing is left beside it', async () => {
  const { write } = await import('../../web/node/command/files.ts');
  const place = await mkdtemp(join(folder, 'full-'));
  const file = join(place, 'a.svg');
  await writeFile(file, 'old', { mode: 0o640 });
  const full = async function* () {
    yield 'new';
    throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  };
  await expect(write(file, full())).rejects.toThrow('could not be written (ENOSPC).');
  expect([await readFile(file, 'utf8'), await readdir(place)]).toEqual(['old', ['a.svg']]);
  await write(file, 'new');
  expect([await readFile(file, 'utf8'), await readdir(place)]).toEqual(['new', ['a.svg']]);
});
