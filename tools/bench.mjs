// npm run bench: the four terms, a forward of MiniLM's shape and steps of training, by the library and by its peers, in
// every runtime that is here, as Markdown to paste. tools/bench/figures.mjs measures the page.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { jobs } from './bench/client.js';
import { buildPage, runtimeNames, startRuntime } from './bench/runtimes.mjs';
import { table, times } from './bench/table.js';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, usageError } from './steps.mjs';

const help = `npm run bench -- [--only=PART,...] [--runtimes=NAME,...] [--time=MS]
  --only       some of ${Object.keys(jobs).join(', ')}
  --runtimes   some of ${runtimeNames.join(', ')}
  --time       how long each engine runs; default 1000`;

function parsed(args) {
  const options = Object.fromEntries(['only', 'runtimes', 'time'].map((name) => [name, { type: 'string' }]));
  let values;
  try {
    ({ values } = parseArgs({ args, options: { ...options, help: { type: 'boolean' } } }));
  } catch (error) {
    throw usageError(`${error.message}\n${help}`);
  }
  const some = (given, all) => {
    const wanted = given?.split(',') ?? all;
    const unknown = wanted.find((name) => !all.includes(name));
    if (unknown !== undefined) throw usageError(`There is no ${unknown}.\n${help}`);
    return wanted;
  };
  const time = Number(values.time ?? 1000);
  if (!(time > 0)) throw usageError(`--time takes milliseconds.\n${help}`);
  const names = some(values.runtimes, runtimeNames);
  return { help: values.help, time, names, only: some(values.only, Object.keys(jobs)) };
}

/** The date, the machine and the versions. */
function heading() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root }).toString().trim();
  const peers = ['onnxruntime-web', '@tensorflow/tfjs-backend-wasm'];
  const versions = peers.map((name) => `${name} ${devDependencies[name]}`).join(', ');
  const cpu = `${cpus()[0].model}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`;
  return `- ${new Date().toISOString().slice(0, 10)}, at ${commit}\n- ${cpu}\n- Node ${process.versions.node}; ${versions}, one thread\n`;
}

async function main(args) {
  const { help: asked, time, names, only } = parsed(args);
  if (asked) {
    console.log(help);
    return 0;
  }
  await build(await setUp('wasm'));
  await buildPage();
  console.log(heading());
  const rows = [];
  for (const name of names) {
    const runtime = await startRuntime(name);
    if (!runtime) continue;
    try {
      for (const job of only) {
        for (const shape of jobs[job].shapes) {
          const started = performance.now();
          process.stderr.write(`${name}: ${jobs[job].name}, ${Object.values(shape).join(', ')} … `);
          const found = await runtime.order({ job, shape, time });
          process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`);
          rows.push(...found.map((row) => ({ ...row, job, runtime: name, shape })));
        }
      }
    } finally {
      await runtime.close();
    }
  }
  const shown = ({ shape: { n, d, heads } }) => [n, d, heads].join(', ');
  for (const job of only) {
    const right = rows.filter((row) => row.job === job && !row.wrong);
    const what = { runtime: ({ runtime }) => runtime, 'n, d, heads': shown, engine: ({ engine }) => engine };
    console.log(`### ${jobs[job].name}\n\n${table(3, right, { ...what, ...times })}`);
  }
  const wrong = rows.filter((row) => row.wrong);
  for (const { engine, runtime, job, wrong: why } of wrong)
    console.log(`Wrong, and so not timed: ${engine}, ${runtime}, ${job}: ${why}.`);
  return wrong.length > 0 ? 1 : 0;
}

await runTool(import.meta.url, main);
