// Measures jobs at a shape, their times in every runtime and their memory, and what many measurements amount to.
import { greatest, group, mean, median, min, quantile, sum } from 'd3-array';
import { arraysOf } from './numbers.js';

/** An engine has been timed enough after this long and at least three rounds. */
const enoughMs = 2000;

/**
 * Rows for the table; a wrong engine's row has `wrong` and no times. Each engine is checked first, and the right ones
 * take turns within a round, so that drift of the machine affects all alike.
 */
export async function measure(runtimes, job, shape, rounds) {
  const rows = [];
  const timed = [];
  for (const runtime of runtimes) {
    for (const { engine, peer, right, error, why, time } of await runtime.order({ job: job.name, shape })) {
      const row = { job: job.name, engine, runtime: runtime.name, ...shape, peer };
      if (!right) rows.push({ ...row, wrong: why ?? `off by ${error} of the largest value` });
      else timed.push({ row, runtime, times: time === undefined ? [] : [time] });
    }
  }
  for (let round = 0; round < (job.once ? 0 : rounds); round++) {
    for (const runtime of runtimes) {
      const due = timed.filter(
        (one) => one.runtime === runtime && (one.times.length < 3 || sum(one.times) < enoughMs),
      );
      if (due.length === 0) continue;
      const times = await runtime.order({ round: due.map(({ row }) => row.engine) });
      for (const one of due) one.times.push(times[one.row.engine]);
    }
  }
  return [...withRatios(timed.map(({ row, times }) => ({ ...row, ...summary(times) }))), ...rows];
}

const bytesOf = (value) => sum(arraysOf(value), ({ byteLength }) => byteLength);

/**
 * The peak of the module's memory in a job, which WebAssembly never gives back, in a new module, which `fresh` loads;
 * and the size of the job's input and output.
 */
export async function peakMemory(fresh, job, shape) {
  const superpose = await fresh();
  const initial_bytes = superpose.memoryBytes();
  const input = job.inputOf(shape);
  const [engine] = job.enginesOf({ superpose: [superpose] });
  const result_bytes = bytesOf(await (await engine.prepare(input)).run());
  const bytes = {
    initial_bytes,
    peak_bytes: superpose.memoryBytes(),
    input_bytes: bytesOf(input),
    result_bytes,
  };
  return { job: job.name, engine: engine.name, ...shape, ...bytes };
}

/** For a trainer's module: bytes after the first step, and after `more` steps. */
export async function stepsMemory(fresh, { n, d, heads }, more = 2000) {
  const superpose = await fresh();
  const trainer = superpose.trainer({ task: 'lookup', n, d_model: d, heads });
  trainer.step();
  const first = superpose.memoryBytes();
  trainer.step(more);
  return { first, more, bytes: superpose.memoryBytes() };
}

export const summary = (times) => ({
  median_ms: median(times),
  p95_ms: quantile(times, 0.95),
  // What the machine can do when nothing else runs; on a shared machine this says more than the median.
  best_ms: min(times),
  // Half the interquartile range, as a share of the median.
  spread: (quantile(times, 0.75) - quantile(times, 0.25)) / 2 / median(times),
});

/** Rows of one job and shape, with the ratio to the best peer in the same runtime: above 1 is faster. */
export const withRatios = (rows) =>
  rows.map((row) => {
    const peers = rows.filter(({ peer, runtime }) => peer && runtime === row.runtime);
    const best = min(peers, ({ median_ms }) => median_ms);
    return { ...row, ratio_to_best_peer: best === undefined ? null : best / row.median_ms };
  });

/** The exponent b of times that grow like size^b, by least squares on logarithms. */
export function exponent(points) {
  const logs = points.map((point) => point.map(Math.log));
  const [x, y] = [0, 1].map((at) => mean(logs, (log) => log[at]));
  return sum(logs, (log) => (log[0] - x) * (log[1] - y)) / sum(logs, (log) => (log[0] - x) ** 2);
}

/** How rows of several shapes grow with `by`, at the most common value of `fixed`; or undefined. */
export function growth(rows, by, fixed) {
  const same = greatest(group(rows, (row) => row[fixed]).values(), ({ length }) => length);
  return same.length > 1 ? exponent(same.map((row) => [row[by], row.median_ms])) : undefined;
}
