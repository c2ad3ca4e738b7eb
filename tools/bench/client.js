// Runs in each runtime, in browsers and in Node: takes an order, carries it out and answers with its measurements.
import { readBytes } from '../../build/package/files.js';
import { load, supportedSimd, wasmAddress } from '../../build/package/index.js';
import { others } from './alone.js';
import { forward, rates } from './forward.js';
import { fourTerms } from './fourTerms.js';
import { training } from './training.js';

/**
 * The jobs that the bench times. Each has its shapes, its input, the engines that do it, and the allowed distance from a
 * reference in double. An engine's prepare(input) takes what stays the same (weights, graphs, memory) and returns run(),
 * which does the job once and returns JavaScript arrays, and maybe release().
 */
export const jobs = [fourTerms, forward, rates, ...others, training];

/** A step of performance.now(). */
function tick() {
  const start = performance.now();
  let now = start;
  while (now === start) now = performance.now();
  return now - start;
}

/** Milliseconds of one call, over as many calls as the clock needs, and the last answer. */
async function timed(run, calls = 1) {
  const start = performance.now();
  let answer;
  for (let call = 0; call < calls; call++) answer = await run();
  return [(performance.now() - start) / calls, answer];
}

/** Prepares an engine and checks its answer. With a wrong answer it is not made ready, so never timed. */
async function verdictOn(engine, job, input, reference) {
  const verdict = { engine: engine.name, peer: !!engine.peer, right: false };
  let prepared;
  try {
    prepared = await engine.prepare(input);
    const [took, answer] = await timed(prepared.run);
    verdict.error = job.errorOf(answer, reference, input, engine);
    verdict.right = verdict.error <= job.allowed;
    if (verdict.right) return { verdict, prepared, took };
  } catch (error) {
    verdict.why = String(error?.message ?? error).slice(0, 200);
  }
  prepared?.release?.();
  return { verdict };
}

/** From the files to the first terms, which are checked: milliseconds to fetch, compile and start, and compute. */
async function loading() {
  const simd = supportedSimd();
  const fetchOf = (part) => readBytes(wasmAddress(simd, part), 'The module');
  const [fetched, [first, second]] = await timed(() => Promise.all([fetchOf('first'), fetchOf('second')]));
  const [compiled, superpose] = await timed(() => load({ simd, wasm: { first, second } }));
  const [engine] = fourTerms.enginesOf({ superpose: [superpose] });
  const input = fourTerms.inputOf(fourTerms.shapes[0]);
  const { verdict, took } = await verdictOn(engine, fourTerms, input, fourTerms.referenceOf(input));
  if (!verdict.right) throw new Error(`The first result is wrong: ${verdict.why ?? verdict.error}.`);
  const all = fetched + compiled + took;
  return { engine: engine.name, times: { fetched, compiled, computed: took, all } };
}

/** What jobs' enginesOf() take: the builds that the runtime can run, the fastest last, and its peers. */
export async function modulesOf(runtime) {
  const builds = supportedSimd() === 'relaxed' ? ['plain', 'relaxed'] : ['plain'];
  const superpose = await Promise.all(builds.map((simd) => load({ simd })));
  return { superpose, ...(await runtime.peers()) };
}

/** Answers orders. `runtime` has `about` and peers(). The first load is a cold one. */
export function clientOf(runtime) {
  const longEnough = Math.max(12, 50 * Math.min(tick(), tick(), tick(), tick(), tick()));
  let modules;
  let ready = new Map();

  async function prepare({ job: name, shape }) {
    for (const { release } of ready.values()) release?.();
    ready = new Map();
    modules ??= await modulesOf(runtime);
    const job = jobs.find((one) => one.name === name);
    const input = job.inputOf(shape);
    const reference = job.referenceOf(input, modules);
    const verdicts = [];
    for (const engine of job.enginesOf(modules)) {
      if (engine.takes && !engine.takes(shape)) continue;
      const { verdict, prepared, took } = await verdictOn(engine, job, input, reference);
      verdicts.push(verdict);
      if (!prepared) continue;
      if (job.once) verdict.time = took;
      // A slow engine is warm after the call that was checked.
      const [once] = took > 200 ? [took] : await timed(prepared.run, took > 20 ? 1 : 5);
      const calls = Math.max(1, Math.ceil((job.stretch ?? longEnough) / Math.max(once, 1e-3)));
      ready.set(engine.name, { ...prepared, calls });
    }
    return verdicts;
  }

  return async function answer(order) {
    if (order.about) return runtime.about;
    if (order.load) return loading();
    if (order.job) return prepare(order);
    const times = {};
    for (const name of order.round) {
      const { run, calls } = ready.get(name);
      [times[name]] = await timed(run, calls);
    }
    return times;
  };
}
