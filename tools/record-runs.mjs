// Trains the models that figures open with, computes what MiniLM's layers make of a sentence, and writes both into
// web/figures/recorded/: node tools/record-runs.mjs, after npm run build. A test does some of it again and compares.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runnerImport } from 'vite';
import { root } from './steps.mjs';

const tasks = ['lookup', 'roll', 'badge', 'prev'];

/** Numbers in a file, so many digits each; a picture shows no more. */
const short = (data, digits) =>
  JSON.parse(
    JSON.stringify(data, (_, value) =>
      typeof value === 'number' ? Number(value.toPrecision(digits)) : value,
    ),
  );

/** What figures on all of MiniLM's layers open with, by the name of the file. */
export async function ofLayers(load, superpose, miniLM) {
  const { initialState } = await load('controls');
  const { keeping } = await load('../worker/kept');
  const library = {
    kept: keeping(),
    small: async () => superpose,
    superpose: async () => superpose,
    miniLM: async () => miniLM,
  };
  const job = { signal: new AbortController().signal, progress() {} };
  const computed = async (name, settings) => {
    const { figure, compute } = await load(name);
    return compute(library, { ...initialState(figure.controls), ...settings, layers: 'all' }, job);
  };
  // Few tokens: their attention in every head is most of the file.
  const depth = await computed('depth', { text: 'The dog bit the man.' });
  const needsPositions = {};
  const { figure, recordedAs } = await load('needsPositions');
  const { view, pair } = Object.fromEntries(
    Object.entries(figure.controls).map(([name, control]) => [name, Object.keys(control.options ?? {})]),
  );
  const states = view.flatMap((view) => pair.map((pair) => ({ view, pair })));
  for (const state of states)
    needsPositions[recordedAs(state)] = short(await computed('needsPositions', state), 5);
  // Attention is only drawn, in steps of a hundredth.
  const attention = depth.attention.map((layer) => Array.from(layer, (weight) => Number(weight.toFixed(2))));
  return written({ depth: { ...short({ ...depth, attention: [] }, 6), attention }, needsPositions });
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const inLines = (lines, [open, close]) => `${open}\n${lines.join(',\n')}\n${close}`;
const entries = (data, text) =>
  Object.entries(data).map(([name, one]) => `${JSON.stringify(name)}:${text(one)}`);

/** A list of objects, or an object of objects, takes a line for each. */
function lined(data) {
  if (Array.isArray(data) && data.some(isObject))
    return inLines(
      data.map((one) => JSON.stringify(one)),
      '[]',
    );
  const isMany = isObject(data) && Object.values(data).some(isObject);
  return isMany ? inLines(entries(data, JSON.stringify), '{}') : JSON.stringify(data);
}

/** So a run, or a model, takes one line. */
const written = (files) =>
  Object.fromEntries(
    Object.entries(files).map(([name, data]) => [
      name,
      `${isObject(data) ? inLines(entries(data, lined), '{}') : lined(data)}\n`,
    ]),
  );

const jobOf = (state) => ({
  signal: new AbortController().signal,
  progress() {},
  run: { again: true, state: () => state, frame() {}, turn: async () => 'go' },
});

/** What the first screen opens with. `load` imports a module of web/figures by its name. */
export async function ofTask(load, superpose, task) {
  const { initialState } = await load('controls');
  const { compute, trainedControls } = await load('smallModels');
  const state = { ...initialState(trainedControls), task };
  const { keeping } = await load('../worker/kept');
  return compute({ kept: keeping(), superpose: async () => superpose }, state, jobOf(state));
}

/** What a table of trained models opens with; `some` may choose from the runs that are asked for. */
export async function ofCells(load, superpose, name, some = (asked) => asked) {
  const { trainedCells } = await load('cells');
  const { asked } = (await load(name)).opening();
  const { keeping } = await load('../worker/kept');
  const library = { kept: keeping(), small: async () => superpose, superpose: async () => superpose };
  return trainedCells(library, some(asked), jobOf({}), () => undefined);
}

/** The text of each file of runs by its name. */
async function recordings(load, superpose) {
  const files = { outcomes: {} };
  for (const task of tasks) {
    files[task] = await ofTask(load, superpose, task);
    const { models, questions } = files[task];
    files.outcomes[task] = { apart: models.apart.mean.at(-1) / questions };
  }
  for (const name of ['schemesTasks', 'narrow']) files[name] = await ofCells(load, superpose, name);
  return written(files);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const library = join(root, 'build/package/index.js');
  const { load, loadMiniLM } = await import(pathToFileURL(library).href);
  const figures = async (name) =>
    (
      await runnerImport(join(root, `web/figures/${name}.ts`), {
        configFile: false,
        logLevel: 'error',
        resolve: { alias: { superpose: library } },
      })
    ).module;
  const superpose = await load({ simd: 'plain' });
  const only = process.argv[2] === '--layers';
  const made = {
    ...(await ofLayers(figures, superpose, await loadMiniLM(superpose))),
    ...(only ? {} : await recordings(figures, superpose)),
  };
  for (const [name, text] of Object.entries(made))
    writeFileSync(join(root, 'web/figures/recorded', `${name}.json`), text);
  process.exit();
}
