// npm run bench: the four-term decomposition by every engine in every runtime, and other things a reader
// waits for, as Markdown to paste.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { onPage, sliderSteps, withPage } from './bench/figures.mjs';
import { forward, fourTerms, jobs, others, rates } from './bench/jobs.js';
import { measure } from './bench/measure.js';
import { peakMemory, stepsMemory } from './bench/memory.js';
import * as report from './bench/report.js';
import { browsers, buildPage, buildStraight, runtimeNames, startRuntimes } from './bench/runtimes.mjs';
import { summary } from './bench/statistics.js';
import { training } from './bench/training.js';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, usageError } from './steps.mjs';

const quickRuntimes = ['chromium', 'node', 'native'];

const help = `npm run bench -- [--quick] [--json FILE] [--markdown FILE] [--rounds N] [--runtimes NAME,...] [--only PART,...]
  --quick          small shapes in ${quickRuntimes.join(', ')}: within a minute
  --json FILE      every row: job, engine, runtime, n, d, heads, median_ms, p95_ms, ratio_to_best_peer and more
  --markdown FILE  the tables that are printed, without what the build says
  --rounds N       rounds of each shape; default 15, and 5 with --quick
  --runtimes       some of ${runtimeNames.join(', ')}
  --only           some of four, forward, others, training, load, slider, memory`;

async function main(args) {
  const options = parsed(args);
  if (options.help) {
    console.log(help);
    return 0;
  }
  const env = await setUp('wasm');
  await build(env);
  await buildPage();
  await buildStraight(env);
  if (options.markdown) writeFileSync(options.markdown, '');
  const say = (text) => {
    console.log(text);
    if (options.markdown) appendFileSync(options.markdown, `${text}\n`);
  };
  const started = performance.now();
  const rows = await everything(options, env.SUPERPOSE_PREFIX ?? '/usr', say);
  say(`It took ${Math.round((performance.now() - started) / 1000)} s.`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`);
  return rows.some((row) => row.wrong) ? 1 : 0;
}

function parsed(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const names = {
    quick: flag,
    help: flag,
    json: text,
    markdown: text,
    rounds: text,
    runtimes: text,
    only: text,
  };
  let values;
  try {
    ({ values } = parseArgs({ args, options: names }));
  } catch (error) {
    throw usageError(`${error.message}\n${help}`);
  }
  const list = (given, usual, all) => {
    const wanted = given?.split(',') ?? usual;
    const unknown = wanted.find((name) => !all.includes(name));
    if (unknown !== undefined) throw usageError(`There is no ${unknown}.\n${help}`);
    return wanted;
  };
  const rounds = Number(values.rounds ?? (values.quick ? 5 : 15));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw usageError(`--rounds takes a whole number from 1 up.\n${help}`);
  return {
    ...values,
    rounds,
    runtimes: list(values.runtimes, values.quick ? quickRuntimes : runtimeNames, runtimeNames),
    only: list(values.only, Object.keys(parts), Object.keys(parts)),
    shapesOf: (job) => (values.quick ? job.shapes.slice(0, 2) : job.shapes),
    command: commandOf(values),
  };
}

/** The command line, without the names of files on this machine. */
function commandOf({ json, markdown, ...values }) {
  const given = Object.entries(values).map(
    ([name, value]) => `--${name}${value === true ? '' : `=${value}`}`,
  );
  return ['npm run bench', ...(given.length > 0 ? ['--', ...given] : [])].join(' ');
}

/** The parts of the bench. Each takes what the run has, prints its tables and returns its rows. */
const parts = {
  async four({ runtimes, options, say }) {
    const rows = [];
    for (const shape of options.shapesOf(fourTerms)) {
      const found = await measure(runtimes, fourTerms, shape, options.rounds);
      say(`### Four-term decomposition, n = ${shape.n}, d = ${shape.d}, ${shape.heads} heads\n`);
      say(report.engineTable(found) + report.wrongOnes(found));
      rows.push(...found);
    }
    if (!options.quick) say(`### How it grows\n\n${report.growthTable(rows)}`);
    return rows;
  },

  async forward({ runtimes, options, say }) {
    const rows = [];
    for (const shape of options.shapesOf(forward)) {
      const found = await measure(runtimes, forward, shape, options.rounds);
      say(`### Six layers of MiniLM’s shape, n = ${shape.n}\n`);
      say(report.engineTable(found) + report.valuesLines(found) + report.wrongOnes(found));
      rows.push(...found);
    }
    const found = [];
    for (const shape of options.quick ? [] : rates.shapes)
      found.push(...(await measure(runtimes, rates, shape, options.rounds)));
    if (found.length > 0)
      say(`### Two layers of 128 tokens\n\n${report.ratesTable(found)}${report.wrongOnes(found)}`);
    return [...rows, ...found];
  },

  async others({ runtimes, options, say }) {
    const rows = [];
    for (const job of others.filter((one) => !(options.quick && one.once))) {
      for (const shape of options.quick ? job.shapes.slice(0, 1) : job.shapes)
        rows.push(...(await measure(runtimes, job, shape, Math.min(options.rounds, options.quick ? 3 : 5))));
    }
    say(`### The library's other jobs\n\n${report.jobTable(rows)}${report.wrongOnes(rows)}`);
    if (!options.quick) say(`### How they grow\n\n${report.growthTable(rows)}`);
    return rows;
  },

  /** Training steps per second of a small model, by every engine that can train it. */
  async training({ runtimes, options, say }) {
    const rows = [];
    for (const shape of training.shapes)
      rows.push(...(await measure(runtimes, training, shape, 10 * options.rounds)));
    say(
      `### Steps of training (${Object.entries(training.shapes[0])
        .map((one) => one.join(' = '))
        .join(', ')})\n`,
    );
    say(report.trainingTable(rows) + report.wrongOnes(rows));
    const { load } = await import(join(root, 'build/package/index.js'));
    const { first, more, bytes } = await stepsMemory(() => load({ simd: 'plain' }), training.shapes[0]);
    say(
      `After its first step a trainer’s module has ${first} bytes of memory; over ${more} steps more it grew by ${bytes - first}. Native code counts what it takes in every round, and took nothing.\n`,
    );
    return rows;
  },

  /** Cold: the first load of a freshly started runtime. Warm: again in the same page or process. */
  async load({ options, eigen, say }) {
    const rows = [];
    for (const name of options.runtimes.filter((one) => !one.startsWith('native'))) {
      const times = { cold: [], warm: [] };
      let about;
      for (let start = 0; start < (options.quick ? 2 : 5); start++) {
        const [runtime] = await startRuntimes([name], eigen);
        if (!runtime) break;
        for (const one of ['cold', 'warm']) {
          const loaded = await runtime.order({ load: true });
          about = { engine: loaded.engine, runtime: runtime.name };
          times[one].push(loaded.times);
        }
        await runtime.close();
      }
      for (const [start, found] of about ? Object.entries(times) : []) {
        const steps = Object.fromEntries(
          Object.keys(found[0]).map((step) => [step, summary(found.map((one) => one[step]))]),
        );
        rows.push({ ...about, start, steps });
      }
    }
    say(`### From the file to the first terms (${Object.values(fourTerms.shapes[0]).join(', ')})\n`);
    say(report.loadTable(rows));
    return rows.flatMap(({ steps, start, ...about }) =>
      Object.entries(steps).map(([step, times]) => ({ job: `load, ${start}: ${step}`, ...about, ...times })),
    );
  },

  /** From the input event to the frame that shows the answer, on the page. */
  async slider({ options, say }) {
    const rows = [];
    await withPage(async (address) => {
      for (const name of options.runtimes.filter((one) => one in browsers)) {
        const found = await onPage(name, address, (browser) =>
          sliderSteps(browser, 'dot-products', 20),
        ).catch((error) => say(`Without the slider in ${name}: ${error.message}`));
        if (!found) continue;
        const about = { job: 'slider step', engine: `dot-products, ${found.slider}`, runtime: name };
        rows.push({ ...about, ...summary(found.times) });
      }
    });
    say(`### One step of a slider\n\n${report.sliderTable(rows)}`);
    return rows;
  },

  /** The same in every runtime, so it is measured in one. */
  async memory({ options, say }) {
    const { load } = await import(join(root, 'build/package/index.js'));
    const rows = [];
    for (const job of jobs.filter((one) => !one.once && ![training, forward, rates].includes(one))) {
      for (const shape of options.shapesOf(job))
        rows.push(await peakMemory(() => load({ simd: 'plain' }), job, shape));
    }
    say(`### Peak memory\n\n${report.memoryTable(rows)}`);
    return rows.map(({ job, ...row }) => ({ job: `peak memory: ${job}`, runtime: 'any', ...row }));
  },
};

async function everything(options, eigen, say) {
  const runtimes = await startRuntimes(options.runtimes, eigen);
  const rows = [];
  try {
    say(await heading(options, runtimes));
    for (const name of options.only) rows.push(...(await parts[name]({ runtimes, options, eigen, say })));
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
  for (const runtime of runtimes) lines.push(`${runtime.name}: ${version(await runtime.about())}`);
  return `${lines.map((line) => `- ${line}\n`).join('')}`;
}

await runTool(import.meta.url, main);
