// Runs in each runtime, in browsers and in Node: checks what every engine answers, and times those that are right.
import { Bench } from 'tinybench';
import { load, supportedSimd } from '../../build/package/index.js';
import { forward } from './forward.js';
import { fourTerms } from './fourTerms.js';
import { training } from './training.js';

/**
 * The jobs that the bench times. Each has its shapes, its input, the engines that do it, and the allowed distance from a
 * reference in double. An engine's prepare(input) takes what stays the same (weights, graphs, memory) and returns run(),
 * which is timed, and release().
 */
export const jobs = { fourTerms, forward, training };

/** What jobs' enginesOf() take: the builds that the runtime can run, the fastest last, and its peers. */
export async function modulesOf(runtime) {
  const builds = supportedSimd() === 'relaxed' ? ['plain', 'relaxed'] : ['plain'];
  const superpose = await Promise.all(builds.map((simd) => load({ simd })));
  return { superpose, ...(await runtime.peers()) };
}

/** A runtime's peers() as a function that times a job at a shape: a row for each engine, wrong ones without times. */
export function clientOf(runtime) {
  let modules;
  return async ({ job: name, shape, time = 1000 }) => {
    modules ??= await modulesOf(runtime);
    const job = jobs[name];
    const input = job.inputOf(shape);
    const reference = job.referenceOf(input, modules);
    // A run of the largest shapes takes a second, so that few are enough.
    const few = { iterations: 3, warmupIterations: 1 };
    const bench = new Bench({ time, warmupTime: time / 10, ...few, throws: true });
    const rows = [];
    const right = [];
    for (const engine of job.enginesOf(modules)) {
      if (engine.takes && !engine.takes(shape)) continue;
      const row = { engine: engine.name, peer: !!engine.peer };
      rows.push(row);
      try {
        const prepared = await engine.prepare(input);
        const error = job.errorOf(await prepared.run(), reference, input);
        if (error <= job.allowed) right.push({ row, ...prepared });
        else row.wrong = `off by ${error} of the largest value`;
      } catch (error) {
        row.wrong = String(error?.message ?? error).slice(0, 200);
      }
    }
    for (const { row, run } of right) bench.add(row.engine, run);
    await bench.run();
    for (const { row, release } of right) {
      const { mean, min, p75, p99, rme } = bench.getTask(row.engine).result;
      Object.assign(row, { mean, min, p75, p99, rme });
      release?.();
    }
    const best = Math.min(...rows.filter((row) => row.peer && row.mean).map(({ mean }) => mean));
    return rows.map((row) => ({ ...row, ratio: best / row.mean }));
  };
}
