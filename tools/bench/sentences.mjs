// node tools/bench/sentences.mjs: embeddings of 100 sentences by MiniLM, on one thread and on several. Each
// thread has a model of its own, loaded before the clock starts. Sentences are independent, so a free thread
// takes the next.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { quantile } from './statistics.js';

const packaged = new URL('../../build/package/index.js', import.meta.url);
const count = 100;
const atOnce = 4;

const median = (list) =>
  quantile(
    [...list].sort((a, b) => a - b),
    0.5,
  );

async function serve() {
  const { load, loadMiniLM } = await import(packaged);
  const model = await loadMiniLM(await load());
  await model.forward('Read all layers.', { scores: false });
  parentPort.on('message', async (texts) => {
    const sums = [];
    for (const text of texts) {
      const { embedding } = await model.forward(text, { scores: false });
      sums.push(embedding.reduce((sum, one) => sum + one, 0));
    }
    parentPort.postMessage(sums);
  });
  parentPort.postMessage('ready');
}

/** A worker that fails ends the bench, by Node's rule for unhandled errors. */
const next = (worker) => new Promise((resolve) => worker.once('message', resolve));

/** The milliseconds, and one number for each sentence, in order. */
async function run(workers, parts) {
  const found = parts.map(() => undefined);
  let at = 0;
  const start = performance.now();
  await Promise.all(
    workers.map(async (worker) => {
      while (at < parts.length) {
        const part = at++;
        worker.postMessage(parts[part]);
        found[part] = await next(worker);
      }
    }),
  );
  return { time: performance.now() - start, found: found.flat() };
}

async function main() {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    console.error(`--rounds takes a whole number from 1, and got “${values.rounds}”.`);
    process.exit(2);
  }
  const { corpusSentences } = await import(packaged);
  const texts = corpusSentences.slice(0, count);
  const parts = Array.from({ length: texts.length / atOnce }, (_, part) =>
    texts.slice(part * atOnce, (part + 1) * atOnce),
  );
  const many = Math.max(2, availableParallelism());
  const workers = Array.from({ length: many }, () => new Worker(new URL(import.meta.url)));
  await Promise.all(workers.map(next));
  // Warm up: threads first run slower, unoptimized code.
  for (const worker of workers) await run([worker], parts.slice(0, 5));
  const times = { one: [], all: [] };
  let exact;
  for (let round = 0; round < rounds; round++) {
    for (const [name, some] of [
      ['one', workers.slice(0, 1)],
      ['all', workers],
    ]) {
      const { time, found } = await run(some, parts);
      times[name].push(time);
      exact ??= found;
      if (found.some((sum, text) => sum !== exact[text])) throw new Error('Threads gave other embeddings.');
    }
  }
  const ratios = times.one.map((time, round) => time / times.all[round]);
  const least = (list) => Math.min(...list);
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const ms = (time) => time.toFixed(0);
  console.log(
    `${texts.length} sentences, Node ${process.versions.node}, ${cpus()[0]?.model}, ${availableParallelism()} processors, ${rounds} rounds in turn, load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}\n`,
  );
  console.log(row(['threads', 'best ms', 'median ms']));
  console.log(row(['---', '---:', '---:']));
  console.log(row(['1', ms(least(times.one)), ms(median(times.one))]));
  console.log(row([many, ms(least(times.all)), ms(median(times.all))]));
  console.log(
    `\n${many} threads against one: best against best ${(least(times.one) / least(times.all)).toFixed(2)}×, rounds' median ${median(ratios).toFixed(2)}× (${least(ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}).`,
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
}

if (!isMainThread) await serve();
else if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
