// node tools/bench/sentences.mjs: embeddings of 100 sentences by MiniLM, on one thread and on several.
// Each thread has a model of its own, loaded before the clock starts. Sentences are independent, so a free thread takes
// the next.
import { once } from 'node:events';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { max, median, min, sum } from 'd3-array';
import { corpusSentences, load, loadMiniLM } from '../../build/package/index.js';
import { table } from './report.js';

const [count, atOnce, rounds] = [100, 4, 15];

async function serve() {
  const model = await loadMiniLM(await load());
  await model.forward('Read all layers.', { scores: false });
  parentPort.on('message', async (texts) => {
    const sums = [];
    for (const text of texts) sums.push(sum((await model.forward(text, { scores: false })).embedding));
    parentPort.postMessage(sums);
  });
  parentPort.postMessage('ready');
}

/** The milliseconds, and one number for each sentence, in order. */
async function run(workers, parts) {
  const found = [];
  const left = parts.entries();
  const start = performance.now();
  await Promise.all(
    workers.map(async (worker) => {
      for (const [place, texts] of left) {
        worker.postMessage(texts);
        [found[place]] = await once(worker, 'message');
      }
    }),
  );
  return { time: performance.now() - start, found: found.flat() };
}

async function main() {
  const parts = Array.from({ length: count / atOnce }, (_, part) =>
    corpusSentences.slice(part * atOnce, (part + 1) * atOnce),
  );
  const many = Math.max(2, availableParallelism());
  const workers = Array.from({ length: many }, () => new Worker(new URL(import.meta.url)));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  // Warm up: threads first run slower, unoptimized code.
  for (const worker of workers) await run([worker], parts.slice(0, 5));
  const rows = [1, many].map((threads) => ({ threads, times: [] }));
  let exact;
  for (let round = 0; round < rounds; round++) {
    for (const { threads, times } of rows) {
      const { time, found } = await run(workers.slice(0, threads), parts);
      times.push(time);
      exact ??= found;
      if (found.some((one, text) => one !== exact[text])) throw new Error('Threads gave other embeddings.');
    }
  }
  const [one, all] = rows.map(({ times }) => times);
  const ratios = one.map((time, round) => time / all[round]);
  const [best, middle, least, most] = [min(one) / min(all), median(ratios), min(ratios), max(ratios)].map(
    (ratio) => ratio.toFixed(2),
  );
  const machine = `${cpus()[0]?.model}, ${availableParallelism()} processors`;
  const load = loadavg().map((one) => one.toFixed(1));
  console.log(
    `${count} sentences, Node ${process.versions.node}, ${machine}, ${rounds} rounds in turn, load ${load.join(' ')}\n`,
  );
  const columns = {
    threads: ({ threads }) => threads,
    'best ms': ({ times }) => min(times).toFixed(0),
    'median ms': ({ times }) => median(times).toFixed(0),
  };
  console.log(table(1, rows, columns));
  console.log(
    `${many} threads against one: best against best ${best}×, rounds' median ${middle}× (${least}–${most}).`,
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
}

await (isMainThread ? main() : serve());
