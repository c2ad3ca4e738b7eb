// Trains the models that figures show, computes what some figures show of MiniLM's layers, and writes both
// into web/figures/recorded/. Tests compute some of it again and compare.
import { createHash, randomInt } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { root, runTool, usageError } from './steps.mjs';

const help = `npm run record -- [--part=K/N] [--state=FILE] [--write] [--check] [--seconds]
  after npm run build. Trains what figures show, five seeds of each model: about three hours on one core.
  Begun again after it was ended, it goes on after the last model that was done.
  --part      one of N equal parts, for a process each; when all are done, --write puts them together
  --state     what is done so far, a line a model; default build/record.jsonl
  --write     trains nothing: writes what is done
  --check     trains a dozen recorded runs, drawn at random, anew and compares: minutes
  --seconds   only what takes seconds: what MiniLM's layers make of a sentence, and models that learn in 200 steps`;

/** The ways for positions to get in whose scores keep token and position separate. */
const separate = ['concat-wide-without-cross-terms', 'add-without-cross-terms', 'tupe'];
const opening = [
  'add',
  'concat-half',
  'concat-quarter',
  'concat-wide',
  'add-wide',
  ...separate,
  'uniform-attention',
];
/** The ways whose runs are recorded; a figure trains any other when a reader asks for it. */
const ways = [...opening, 'rope', 'alibi', 't5', 'none', 'multiply'];
const small = { n: 10, d_model: 16, layers: 'one', norm: 'with', sigma: 0.1 };
const large = { ...small, n: 16, d_model: 32 };
const cellsOf = (shape, ways, tasks) => ways.flatMap((way) => tasks.map((task) => ({ shape, way, task })));
const without = (shape) => ({ ...shape, norm: 'without' });
const two = (shape) => ({ ...shape, layers: 'two' });
const mixed = ['lookup', 'roll'];
const four = [...mixed, 'badge', 'prev'];

/**
 * What is trained, the most needed models first, so that a record can be read when it is only partly done.
 */
const all = [
  // The table's first view, what the first screen opens with, and what claims and the text lead to.
  ...cellsOf(without(small), opening, four),
  ...four.flatMap((screen) => ['no', 'yes'].map((separate) => ({ screen, separate }))),
  ...cellsOf(
    small,
    ['add', 'concat-half', 'concat-quarter', 'add-without-cross-terms', 'add-sinusoid', 'none', 'rope'],
    four,
  ),
  ...cellsOf(
    small,
    ['add', 'add-to-queries-keys', 'project', 'multiply', 'uniform-attention'],
    [...four, 'where'],
  ),
  ...cellsOf(small, ['add-sinusoid-scaled', 'add-sinusoid-unscaled'], ['badge', 'prev']),
  ...cellsOf({ ...small, layers: 'causal' }, ['uniform-attention', 'none', 'add'], ['prev']),
  ...cellsOf(two(small), ['none', 'uniform-attention'], ['prev']),
  ...cellsOf(small, ['concat-wide-without-cross-terms', 'add-without-cross-terms'], four),
  ...[8, 12, 16, 24].flatMap((d_model) =>
    cellsOf(
      { ...large, d_model },
      ['add', 'concat-half', 'add-fixed', 'concat-fixed', 'uniform-attention'],
      ['lookup'],
    ),
  ),
  ...cellsOf(small, opening, four),
  // All ways, in models of one layer, of two, and of one layer in another size.
  ...[without(small), small].flatMap((shape) => cellsOf(shape, ways, mixed)),
  ...[two(small), two(without(small))].flatMap((shape) => cellsOf(shape, ways, mixed)),
  ...[without(large), large].flatMap((shape) => cellsOf(shape, ways, mixed)),
];
const keyOf = (job) => JSON.stringify(job);
const jobs = [...new Map(all.map((job) => [keyOf(job), job])).values()];

const seeds = [1, 2, 3, 4, 5];

/**
 * Trains a model on a task with each seed, to one of `lengths` after another until the mean stands still. If
 * the page says that a model did not learn a task (with ten tokens, in one layer without LayerNorm), the
 * model is trained to the last length in any case.
 */
export async function ofModel(load, superpose, { shape, way, task }, some = seeds, steps = undefined) {
  const { modelOptions } = await load('figures/runs/tasks');
  const { lengths, standsStill, startedRun } = await load('figures/runs/trainingRun');
  const { learnedNumbers } = await load('figures/runs/recordedRuns');
  const { wayIn } = await load('figures/runs/ways');
  const options = some.map((seed) => modelOptions(task, way, { ...shape, seed }));
  const runs = options.map((model) => startedRun(superpose, model, wayIn(way).loudness));
  const isTold =
    shape.n === small.n && shape.layers === 'one' && shape.norm === 'without' && separate.includes(way);
  const least = isTold && ['lookup', 'roll'].includes(task) ? lengths.at(-1) : 0;
  try {
    let done = [];
    for (const length of steps ? [steps] : lengths) {
      for (const run of runs) await run.trainTo(length);
      done = runs.map((run) => run.result());
      if (length >= least && standsStill(superpose, done)) break;
    }
    const trainer = superpose.trainer(options[0]);
    const questions = trainer.evaluate().targets;
    trainer.delete();
    return {
      numbers: learnedNumbers(done[0].parameters, options[0]),
      questions,
      first: done.map((run) => run.stepsToAim),
      right: done.map((run) => run.right.map((part) => Math.round(part * questions))),
      ...(done[0].loudness && { loudness: done.map(({ loudness }) => loudness.map(toHundredths)) }),
      ...(done.some(({ diverged }) => diverged) && { diverged: true }),
    };
  } finally {
    for (const run of runs) run.delete();
  }
}

const toHundredths = (ratio) => Math.round(100 * ratio) / 100;

/** Rounds the numbers of a file to `digits` significant digits; a picture shows no more. */
const short = (data, digits) =>
  JSON.parse(
    JSON.stringify(data, (_, value) =>
      typeof value === 'number' ? Number(value.toPrecision(digits)) : value,
    ),
  );

/**
 * Returns a function that computes a figure in a state as a page would if nothing were recorded. `load`
 * imports a module of web/ by its path.
 */
async function computing(load, superpose, others = {}) {
  const { initialState } = await load('figures/controls');
  const { memoizer } = await load('worker/answers');
  const library = {
    memoize: memoizer(),
    small: async () => superpose,
    superpose: async () => superpose,
    ...others,
  };
  return async (name, settings) => {
    const { figure, compute } = await load(`figures/${name}`);
    const state = { ...initialState(figure.controls), ...settings };
    return compute(library, state, { ...jobOf(state), live: undefined });
  };
}

/** The results that the figures on all of MiniLM's layers open with: a text for each name of a file. */
export async function ofLayers(load, superpose, miniLM) {
  const computed = await computing(load, superpose, { miniLM: async () => miniLM });
  // Few tokens: their attention in every head is most of the file.
  const depth = await computed('depth', { layers: 'all', text: 'The dog bit the man.' });
  const needsPositions = {};
  const { figure, recordedAs } = await load('figures/needsPositions');
  const { view, pair } = Object.fromEntries(
    Object.entries(figure.controls).map(([name, control]) => [name, Object.keys(control.options ?? {})]),
  );
  const states = view.flatMap((view) => pair.map((pair) => ({ view, pair })));
  for (const state of states) {
    const result = await computed('needsPositions', { ...state, layers: 'all' });
    needsPositions[recordedAs(state)] = short(result, 5);
  }
  // Attention is only drawn, for which hundredths are enough.
  const attention = depth.attention.map((layer) => Array.from(layer, (weight) => Number(weight.toFixed(2))));
  return written({ depth: { ...short({ ...depth, attention: [] }, 6), attention }, needsPositions });
}

/** The results that the two figures of learning models open with, in the states that the page leads to. */
export async function ofLearning(load, superpose) {
  const computed = await computing(load, superpose);
  const { recordedOf, recordedSeed: seed, recordedTerms: terms } = await load('figures/fourTasksRuns');
  const { constantRate, fourTasks, n, steps } = await load('figures/runs/tasks');
  const floors = fourTasks.map(({ task }) => {
    const trainer = superpose.trainer({ task, n, seed, steps: constantRate, zeroScores: true });
    trainer.step(steps);
    const floor = trainer.evaluate().accuracy;
    trainer.delete();
    return floor;
  });
  const of = async (settings) => {
    const data = await computed('fourTasks', settings);
    for (const [k, panel] of data.panels.entries()) panel.floor = floors[k];
    return short(recordedOf(data), 4);
  };
  const all = await of();
  const [after, during] = [await of({ terms, when: 'after' }), await of({ terms, when: 'during' })];
  const keepApart = await computed('keepApart');
  // Rows are only drawn, for which every fifth plan and three digits are enough.
  const plans = keepApart.plans.map((plan, point) => (point % 5 === 0 ? short(plan, 3) : null));
  return written({ keepApart: { ...short(keepApart, 4), plans }, fourTasks: { all, after, during } });
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const inLines = (lines, [open, close]) => `${open}\n${lines.join(',\n')}\n${close}`;
const entries = (data, text) =>
  Object.entries(data).map(([name, value]) => `${JSON.stringify(name)}:${text(value)}`);

/** A list of objects, or an object of objects, takes a line for each. */
function lined(data) {
  if (Array.isArray(data) && data.some(isObject))
    return inLines(
      data.map((entry) => JSON.stringify(entry)),
      '[]',
    );
  const isMany = isObject(data) && Object.values(data).some(isObject);
  return isMany ? inLines(entries(data, JSON.stringify), '{}') : JSON.stringify(data);
}

/** In this form, a model takes one line. */
const textOf = (data) => `${inLines(entries(data, lined), '{}')}\n`;
const written = (files) =>
  Object.fromEntries(Object.entries(files).map(([name, data]) => [name, textOf(data)]));

const jobOf = (state) => ({
  signal: new AbortController().signal,
  progress() {},
  live: { again: true, state: () => state, frame() {}, turn: async () => 'go' },
});

/** The result that the first screen opens with. `load` imports a module of web/ by its path. */
export async function ofTask(load, superpose, task, separate = 'no') {
  const { initialState } = await load('figures/controls');
  const { compute, trainedControls } = await load('figures/addOrConcatenateRuns');
  const state = { ...initialState(trainedControls), task, separate };
  const { memoizer } = await load('worker/answers');
  return compute({ memoize: memoizer(), superpose: async () => superpose }, state, jobOf(state));
}

const library = join(root, 'build/package/index.js');
const folder = join(root, 'web/figures/recorded');

const imported = new Map();
function importing(name) {
  const options = {
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { 'add-or-concatenate': library } },
  };
  if (!imported.has(name)) imported.set(name, runnerImport(join(root, `web/${name}.ts`), options));
  return imported.get(name).then(({ module }) => module);
}

async function loaded() {
  const superpose = await import(pathToFileURL(library).href);
  return { ...superpose, module: await superpose.load({ simd: 'plain' }) };
}

/** Identifies the module that a state comes from: the last digits of another module's results differ. */
const trainer = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'build/package/wasm/superpose-plain.wasm')))
    .digest('hex');

/** What is done so far, by job. A line that was cut short does not count as done. */
function readState(file) {
  const first = JSON.stringify({ trainer: trainer() });
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, first);
  const [head, ...lines] = readFileSync(file, 'utf8').split('\n');
  if (head !== first)
    throw usageError(`${file} was trained by another module than the one in build/. Give another --state.`);
  const done = new Map();
  for (const line of lines) {
    try {
      const { job, result } = JSON.parse(line);
      done.set(keyOf(job), result);
    } catch {
      console.log('A line was cut short; its model is trained again.');
    }
  }
  return done;
}

/** The text of each recorded file, from what is done so far. */
async function filesOf(done) {
  const { recordVersion } = await importing('figures/runs/recordedRuns');
  const byShape = new Map();
  const files = {};
  for (const job of jobs) {
    const result = done.get(keyOf(job));
    if (!result) continue;
    if (job.screen) files[job.separate === 'yes' ? `${job.screen}Separate` : job.screen] = textOf(result);
    else {
      const shape = JSON.stringify(job.shape);
      if (!byShape.has(shape)) byShape.set(shape, {});
      const runs = byShape.get(shape);
      runs[job.way] = { ...runs[job.way], [job.task]: result };
    }
  }
  const texts = [...byShape].map(
    ([shape, runs]) => `{"shape":${shape},"runs":${inLines(entries(runs, JSON.stringify), '{}')}}`,
  );
  return { ...files, runs: `{"version":${recordVersion},"groups":${inLines(texts, '[]')}}\n` };
}

function write(files) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.json`), text);
  console.log(`${Object.keys(files).length} files written.`);
  return 0;
}

/** Trains those models of a part that are not done yet, and appends a line to `file` for each. */
async function train(file, part, parts) {
  const { module } = await loaded();
  const done = readState(file);
  const lacking = jobs.filter((job, at) => at % parts === part - 1 && !done.has(keyOf(job)));
  const began = Date.now();
  for (const [at, job] of lacking.entries()) {
    const result = job.screen
      ? await ofTask(importing, module, job.screen, job.separate)
      : await ofModel(importing, module, job);
    appendFileSync(file, `\n${JSON.stringify({ job, result })}`);
    const minutes = ((Date.now() - began) / 60_000).toFixed(1);
    console.log(`${at + 1} of ${lacking.length}, ${minutes} min: ${keyOf(job)}`);
  }
  return readState(file);
}

const recorded = () => JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8'));

/** Trains `count` recorded runs again, drawn at random; returns 1 if the result of any of them differs. */
async function check(count) {
  const { module } = await loaded();
  const all = recorded().groups.flatMap(({ shape, runs }) =>
    Object.entries(runs).flatMap(([way, tasks]) =>
      Object.entries(tasks).flatMap(([task, cell]) =>
        seeds.map((seed) => ({ shape, way, task, seed, cell })),
      ),
    ),
  );
  let wrong = 0;
  for (let drawn = 0; drawn < count; drawn += 1) {
    const run = all[randomInt(all.length)];
    const same = await isSame(importing, module, run);
    if (!same) wrong = 1;
    const { shape, way, task, seed } = run;
    const name = `${way}, ${task}, seed ${seed}, ${JSON.stringify(shape)}`;
    console.log(`${same ? 'the same' : 'DIFFERENT'}: ${name}`);
  }
  return wrong;
}

/** Whether a recorded run gives the recorded result when it is trained again. */
export async function isSame(load, superpose, { shape, way, task, seed, cell }) {
  const { checkpointsTo, lengths } = await load('figures/runs/trainingRun');
  const right = cell.right[seed - 1];
  const steps = lengths.find((length) => checkpointsTo(length).length === right.length);
  const again = await ofModel(load, superpose, { shape, way, task }, [seed], steps);
  const { numbers, questions } = cell;
  const expected = { numbers, questions, first: cell.first[seed - 1], right };
  return (
    JSON.stringify({ ...expected, loud: cell.loudness?.[seed - 1] }) ===
    JSON.stringify({
      numbers: again.numbers,
      questions: again.questions,
      first: again.first[0],
      right: again.right[0],
      loud: again.loudness?.[0],
    })
  );
}

async function main(args) {
  const options = { part: { type: 'string' }, state: { type: 'string' } };
  const names = ['write', 'check', 'seconds', 'help'];
  const flags = Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]));
  const { values } = parseArgs({ args, options: { ...options, ...flags } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (values.check) return check(12);
  if (values.seconds) {
    const { module, loadMiniLM } = await loaded();
    const layers = await ofLayers(importing, module, await loadMiniLM(module));
    return write({ ...layers, ...(await ofLearning(importing, module)) });
  }
  const file = values.state ?? join(root, 'build/record.jsonl');
  const [, part, parts] = (values.part ?? '1/1').match(/^(\d+)\/(\d+)$/) ?? [];
  if (!(part >= 1 && +part <= parts)) throw usageError(`--part is K/N, such as 1/2, and not ${values.part}.`);
  const done = values.write ? readState(file) : await train(file, Number(part), Number(parts));
  if (values.write || done.size === jobs.length) return write(await filesOf(done));
  console.log(`${jobs.length - done.size} models are still to be trained, in other parts.`);
}

await runTool(import.meta.url, main);
