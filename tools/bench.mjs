// npm run bench: the four-term decomposition by every engine in every runtime, and other things a reader
// waits for, as Markdown to paste.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { group } from 'd3-array';
import { others } from './bench/alone.js';
import { browsers, onPage, withPage } from './bench/browsers.mjs';
import { central, sliderSteps } from './bench/figures.mjs';
import { forward, rates } from './bench/forward.js';
import { fourTerms } from './bench/fourTerms.js';
import { measure, peakMemory, stepsMemory, summary } from './bench/measure.js';
import * as report from './bench/report.js';
import { buildPage, runtimeNames, startRuntimes } from './bench/runtimes.mjs';
import { training } from './bench/training.js';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, usageError } from './steps.mjs';

const quickRuntimes = ['chromium', 'node', 'native'];

const help = `npm run bench -- [--quick] [--json FILE] [--rounds N] [--runtimes NAME,...] [--only PART,...]
  --quick          small shapes in ${quickRuntimes.join(', ')}: within a minute
  --json FILE      every row: job, engine, runtime, n, d, heads, median_ms, p95_ms, ratio_to_best_peer and more
  --rounds N       rounds of each shape; default 15, and 5 with --quick
  --runtimes       some of ${runtimeNames.join(', ')}
  --only           some of four, forward, others, training, load, slider, memory`;
const wrongUsage = (why) => usageError(`${why}\n${help}`);

async function main(args) {
  const options = parsed(args);
  if (options.help) {
    console.log(help);
    return 0;
  }
  const env = await setUp('wasm');
  await build(env);
  await buildPage(env);
  const started = performance.now();
  const rows = await everything({ ...options, eigen: env.SUPERPOSE_PREFIX ?? '/usr' });
  console.log(`It took ${Math.round((performance.now() - started) / 1000)} s.`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`);
  return rows.some((row) => row.wrong) ? 1 : 0;
}

function parsed(args) {
  const types = { quick: 'boolean', help: 'boolean', json: 'string', rounds: 'string' };
  Object.assign(types, { runtimes: 'string', only: 'string' });
  const known = Object.entries(types).map(([name, type]) => [name, { type }]);
  let values;
  try {
    ({ values } = parseArgs({ args, options: Object.fromEntries(known) }));
  } catch (error) {
    throw wrongUsage(error.message);
  }
  const { json, ...shown } = values;
  const { quick, rounds = quick ? 5 : 15, runtimes, only } = shown;
  const some = (given, usual, all) => {
    const wanted = given?.split(',') ?? usual;
    const unknown = wanted.find((name) => !all.includes(name));
    if (unknown !== undefined) throw wrongUsage(`There is no ${unknown}.`);
    return wanted;
  };
  if (!/^[1-9]\d*$/.test(rounds)) throw wrongUsage('--rounds takes a whole number from 1 up.');
  const given = Object.entries(shown).map(([name, value]) => `--${name}${value === true ? '' : `=${value}`}`);
  return {
    ...values,
    rounds: Number(rounds),
    names: some(runtimes, quick ? quickRuntimes : runtimeNames, runtimeNames),
    only: some(only, Object.keys(parts), Object.keys(parts)),
    // Without the name of a file on this machine.
    command: ['npm run bench', ...(given.length > 0 ? ['--', ...given] : [])].join(' '),
  };
}

/** A module for what is the same in every runtime. */
async function fresh() {
  const { load } = await import(join(root, 'build/package/index.js'));
  return load({ simd: 'plain' });
}

/** Measures jobs in their shapes, with --quick in so many of them, and prints a table. */
async function measured({ runtimes, quick, rounds }, jobs, title, few = 2, tableOf = report.timesTable) {
  const rows = [];
  for (const job of jobs) {
    for (const shape of quick ? job.shapes.slice(0, few) : job.shapes)
      rows.push(...(await measure(runtimes, job, shape, rounds)));
  }
  console.log(`### ${title}\n\n${tableOf(rows)}${report.valuesLines(rows)}${report.wrongOnes(rows)}`);
  return rows;
}

/** The parts of the bench. Each prints its tables and returns its rows. */
const parts = {
  async four(run) {
    const rows = await measured(run, [fourTerms], 'Four-term decomposition');
    if (!run.quick) console.log(`### How it grows\n\n${report.growthTable(rows)}`);
    return rows;
  },

  async forward(run) {
    const rows = await measured(run, [forward], 'Six layers of MiniLM’s shape');
    if (run.quick) return rows;
    return [...rows, ...(await measured(run, [rates], 'Two layers of 128 tokens', 2, report.ratesTable))];
  },

  async others(run) {
    const jobs = others.filter(({ once }) => !(run.quick && once));
    const rounds = Math.min(run.rounds, run.quick ? 3 : 5);
    const rows = await measured({ ...run, rounds }, jobs, 'The library’s other jobs', 1);
    if (!run.quick) console.log(`### How they grow\n\n${report.growthTable(rows)}`);
    return rows;
  },

  /** Training steps per second of a small model, by every engine that can train it. */
  async training(run) {
    const [shape] = training.shapes;
    const sizes = Object.entries(shape).map((one) => one.join(' = '));
    const title = `Steps of training (${sizes.join(', ')})`;
    const often = { ...run, rounds: 10 * run.rounds };
    const rows = await measured(often, [training], title, 1, report.trainingTable);
    const { first, more, bytes } = await stepsMemory(fresh, shape);
    console.log(
      `After its first step a trainer’s module has ${first} bytes of memory; over ${more} steps more it grew by ${bytes - first}. Native code counts what it takes in every round, and took nothing.\n`,
    );
    return rows;
  },

  /** Cold: the first load of a freshly started runtime. Warm: again in the same page or process. */
  async load({ names, quick, eigen }) {
    const loads = [];
    for (const name of names.filter((one) => !one.startsWith('native'))) {
      for (let start = 0; start < (quick ? 2 : 5); start++) {
        const [runtime] = await startRuntimes([name], eigen);
        for (const kind of runtime ? ['cold', 'warm'] : []) {
          const { engine, times } = await runtime.order({ load: true });
          for (const [step, time] of Object.entries(times))
            loads.push({ job: `load, ${kind}: ${step}`, engine, runtime: runtime.name, time });
        }
        await runtime?.close();
      }
    }
    const same = [...group(loads, ({ job, runtime }) => job + runtime).values()];
    const rows = same.map(([{ time, ...about }, ...others]) => ({
      ...about,
      ...summary([time, ...others.map((one) => one.time)]),
    }));
    const shape = Object.values(fourTerms.shapes[0]).join(', ');
    console.log(`### From the file to the first terms (${shape})\n\n${report.timesTable(rows)}`);
    return rows;
  },

  /** From the input event to the frame that shows the answer, on the page. */
  async slider({ names }) {
    const rows = [];
    await withPage(async (address) => {
      for (const name of names.filter((one) => one in browsers)) {
        try {
          const { slider, times } = await onPage(name, central(address), sliderSteps);
          const engine = `dot-products, ${slider}`;
          rows.push({ job: 'slider step', engine, runtime: name, ...summary(times) });
        } catch (error) {
          console.log(`Without the slider in ${name}: ${error.message}`);
        }
      }
    });
    console.log(`### One step of a slider\n\n${report.timesTable(rows)}`);
    return rows;
  },

  async memory({ quick }) {
    const rows = [];
    for (const job of [fourTerms, ...others.filter(({ once }) => !once)]) {
      for (const shape of quick ? job.shapes.slice(0, 2) : job.shapes)
        rows.push(await peakMemory(fresh, job, shape));
    }
    console.log(`### Peak memory\n\n${report.memoryTable(rows)}`);
    return rows.map(({ job, ...row }) => ({ job: `peak memory: ${job}`, runtime: 'any', ...row }));
  },
};

async function everything(options) {
  const runtimes = await startRuntimes(options.names, options.eigen);
  const rows = [];
  try {
    console.log(await heading(options, runtimes));
    for (const name of options.only) rows.push(...(await parts[name]({ ...options, runtimes })));
  } finally {
    for (const runtime of runtimes) await runtime.close();
  }
  // Every row has these columns, whether it was timed or not.
  const asked = ['job', 'engine', 'runtime', 'n', 'd', 'heads', 'median_ms', 'p95_ms', 'ratio_to_best_peer'];
  const blank = Object.fromEntries(asked.map((name) => [name, null]));
  return rows.map((row) => ({ ...blank, ...row }));
}

/** The browser's name and version from its user agent; WebKitGTK names the Safari that it matches. */
const version = (about) =>
  about.match(/(Firefox|Chrome|Version)\/[\d.]+/)?.[0].replace('Version', 'Safari') ?? about;

/** The date, the machine, the versions and the command. */
async function heading({ command }, runtimes) {
  const date = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const system = readFileSync('/etc/os-release', 'utf8').match(/PRETTY_NAME="(.*)"/)?.[1];
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root }).toString().trim();
  const lines = [
    `${date}, \`${command}\`, at ${commit}`,
    `${cpus()[0].model}, ${cpus().length} cores; ${system}, Linux ${release()}; load at the start ${loadavg()[0].toFixed(1)}`,
    ...['onnxruntime-web', '@tensorflow/tfjs-backend-wasm'].map(
      (name) => `${name} ${devDependencies[name]}, one thread`,
    ),
  ];
  for (const { name, about, order } of runtimes)
    lines.push(`${name}: ${version(await (about ?? order)({ about: true }))}`);
  return `${lines.map((line) => `- ${line}\n`).join('')}`;
}

await runTool(import.meta.url, main);
