// npm run bench: the four-term decomposition by every engine in every runtime, and what else a reader waits
// for. Engines take turns within a round, so that the machine's drift hits all alike; an engine whose terms
// are wrong is reported and not timed.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildPage, startRuntimes } from './bench/runtimes.mjs';
import { exponent, summary, withRatios } from './bench/statistics.js';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { runTool, usageError } from './steps.mjs';

const shapes = [
  { n: 32, d: 64, heads: 4 },
  { n: 128, d: 384, heads: 12 },
  { n: 128, d: 768, heads: 12 },
  { n: 512, d: 768, heads: 12 },
  { n: 512, d: 1024, heads: 16 },
];
const everywhere = ['chromium', 'firefox', 'webkit', 'node', 'node-26', 'native', 'native-avx2'];

const help = `npm run bench -- [--quick] [--json FILE] [--rounds N] [--runtimes NAME,...]
  --quick      small shapes, Chromium, Node and native code only: within a minute
  --json FILE  every row: job, engine, runtime, n, d, heads, median_ms, p95_ms, ratio_to_best_peer
  --rounds N   rounds of each shape; default 15, and 7 with --quick
  --runtimes   some of ${everywhere.join(', ')}`;

async function main(args) {
  const { values } = parsed(args);
  if (values.help) {
    console.log(help);
    return 0;
  }
  const wanted = values.runtimes?.split(',') ?? (values.quick ? ['chromium', 'node', 'native'] : everywhere);
  const unknown = wanted.find((name) => !everywhere.includes(name));
  if (unknown) throw usageError(`There is no runtime ${unknown}.\n${help}`);
  const rounds = Number(values.rounds ?? (values.quick ? 7 : 15));
  const env = await setUp('wasm');
  await build(env);
  await buildPage();
  const runtimes = await startRuntimes(wanted, env.SUPERPOSE_PREFIX);
  const rows = [];
  try {
    for (const shape of values.quick ? shapes.slice(0, 2) : shapes)
      rows.push(...(await decomposition(runtimes, shape, rounds)));
    if (!values.quick || values.others)
      rows.push(...(await others(runtimes, values.quick, Math.min(rounds, 5))));
  } finally {
    for (const runtime of runtimes) await runtime.close();
  }
  if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 1)}\n`);
  return rows.some((row) => row.wrong) ? 1 : 0;
}

function parsed(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  try {
    return parseArgs({
      args,
      options: { quick: flag, others: flag, help: flag, json: text, rounds: text, runtimes: text },
    });
  } catch (error) {
    throw usageError(`${error.message}\n${help}`);
  }
}

/** One shape: every engine is checked first, and then timed once in each round. */
async function decomposition(runtimes, shape, rounds) {
  const found = new Map();
  const rows = [];
  for (const runtime of runtimes) {
    for (const { engine, peer, right, error, why } of await runtime.order({ shape })) {
      const row = { job: 'four terms', engine, runtime: runtime.name, ...shape, peer };
      if (right) found.set(`${runtime.name} ${engine}`, { row, times: [] });
      else
        console.log(
          `Not timed: ${engine} in ${runtime.name} ${why ?? `is wrong by ${error} of the largest term`}`,
        );
      if (!right) rows.push({ ...row, wrong: true });
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const runtime of runtimes) {
      for (const [engine, time] of Object.entries(await runtime.order({ round: true }))) {
        found.get(`${runtime.name} ${engine}`).times.push(time);
      }
    }
  }
  const timed = withRatios([...found.values()].map(({ row, times }) => ({ ...row, ...summary(times) })));
  print(`Four-term decomposition, n = ${shape.n}, d = ${shape.d}, ${shape.heads} heads`, timed);
  return [...timed, ...rows];
}

/** The library's other jobs, and how they grow. */
async function others(runtimes, quick, turns) {
  const rows = [];
  for (const runtime of runtimes) {
    for (const { times, ...about } of await runtime.order({ other: turns, quick })) {
      rows.push({ ...about, runtime: runtime.name, ...summary(times), ratio_to_best_peer: null });
    }
  }
  print('What else is waited for', rows);
  const kinds = new Set(
    rows.filter(({ n }) => n > 0).map(({ job, engine, runtime }) => `${job} | ${engine} | ${runtime}`),
  );
  if (quick) return rows;
  console.log(
    '\n| job | engine | runtime | grows with n like | with d like |\n| --- | --- | --- | --- | --- |',
  );
  for (const kind of kinds) {
    const of = rows.filter(({ job, engine, runtime }) => `${job} | ${engine} | ${runtime}` === kind);
    const grown = (by, fixed) => {
      const counts = of.map((row) => of.filter((other) => other[fixed] === row[fixed]).length);
      const most = of[counts.indexOf(Math.max(...counts))][fixed];
      const points = of.filter((row) => row[fixed] === most).map((row) => [row[by], row.median_ms]);
      return points.length > 1 ? `${by}^${exponent(points).toFixed(2)}` : '';
    };
    console.log(`| ${kind} | ${grown('n', 'd')} | ${grown('d', 'n')} |`);
  }
  return rows;
}

function print(title, rows) {
  const heading = [
    'runtime',
    'engine',
    'n, d',
    'median ms',
    'p95 ms',
    '±',
    'best ms',
    'median against the best peer',
    'best against its best',
  ];
  console.log(`\n${title}\n\n| ${heading.join(' | ')} |\n| --- | --- | --- |${' ---: |'.repeat(6)}`);
  const ratio = (value) => (value ? `${value.toFixed(2)}×` : '');
  for (const row of rows) {
    const cells = [
      row.runtime,
      row.job === 'four terms' ? row.engine : `${row.job}, ${row.engine}`,
      `${row.n}, ${row.d}`,
      ...[row.median_ms, row.p95_ms].map((time) => time.toPrecision(3)),
      `${Math.round(row.spread * 100)} %`,
      row.best_ms.toPrecision(3),
      ratio(row.ratio_to_best_peer),
      ratio(row.ratio_of_best_times),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

await runTool(import.meta.url, main);
