// Trains the models that figures open with, and writes their runs into web/figures/recorded/: node
// tools/record-runs.mjs, after npm run build. A test trains them again and compares.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runnerImport } from 'vite';
import { root } from './steps.mjs';

const tasks = ['lookup', 'roll', 'badge', 'prev'];

/**
 * The text of each file by its name. `load` imports a module of web/figures by its name; `superpose` is a loaded
 * library.
 */
export async function recordings(load, superpose) {
  const { initialState } = await load('controls');
  const job = (state) => ({
    signal: new AbortController().signal,
    progress() {},
    run: { again: true, state: () => state, frame() {}, turn: async () => 'go' },
  });
  const library = { first: async () => superpose, superpose: async () => superpose };
  const trained = async (name, settings = {}) => {
    const { figure, compute } = await load(name);
    const state = { ...initialState(figure.controls), ...settings };
    return compute(library, state, job(state));
  };
  const files = {};
  const outcomes = {};
  for (const task of tasks) {
    const data = await trained('addOrConcatenate', { task });
    files[task] = data;
    outcomes[task] = { apart: data.models.apart.mean.at(-1) / data.questions };
  }
  files.outcomes = outcomes;
  const { trainedCells } = await load('cells');
  for (const name of ['schemesTasks', 'narrow', 'longer']) {
    const { asked } = (await load(name)).opening();
    files[name] = await trainedCells(library, asked, job({}), () => undefined);
  }
  return Object.fromEntries(Object.entries(files).map(([name, data]) => [name, `${JSON.stringify(data)}\n`]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const library = join(root, 'build/package/index.js');
  const { load } = await import(pathToFileURL(library).href);
  const figures = async (name) =>
    (
      await runnerImport(join(root, `web/figures/${name}.ts`), {
        configFile: false,
        logLevel: 'error',
        resolve: { alias: { superpose: library } },
      })
    ).module;
  const made = await recordings(figures, await load({ simd: 'plain' }));
  for (const [name, text] of Object.entries(made))
    writeFileSync(join(root, 'web/figures/recorded', `${name}.json`), text);
  process.exit();
}
