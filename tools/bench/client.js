// Runs in each runtime: takes an order, carries it out and answers with its measurements. The same file serves
// browsers and Node.
import { fourTerms, jobs } from './jobs.js';

/** The smallest step of performance.now() that was observed. */
function tick() {
  const steps = Array.from({ length: 5 }, () => {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    return now - start;
  });
  return Math.min(...steps);
}

/** Milliseconds of one call, over as many calls as the clock needs. */
async function timed(run, calls) {
  const start = performance.now();
  for (let call = 0; call < calls; call++) await run();
  return (performance.now() - start) / calls;
}

/** Prepares an engine and checks its answer. With a wrong answer it is not made ready, so never timed. */
async function verdictOn(engine, job, input, reference) {
  const verdict = { engine: engine.name, peer: !!engine.peer };
  let prepared;
  try {
    prepared = await engine.prepare(input);
    let answer;
    const took = await timed(async () => {
      answer = await prepared.run();
    }, 1);
    verdict.error = job.errorOf(input, answer, reference, engine);
    verdict.right = verdict.error <= job.allowed;
    if (verdict.right) return { verdict, prepared, took };
  } catch (error) {
    verdict.right = false;
    verdict.why = String(error?.message ?? error).slice(0, 200);
  }
  prepared?.release?.();
  return { verdict };
}

/** From the file to the first terms, which are checked: milliseconds to fetch, compile, start and compute. */
async function loading({ load, supportedSimd, bytesOf }) {
  const input = fourTerms.inputOf(fourTerms.shapes[0]);
  const simd = supportedSimd();
  const at = [performance.now()];
  const wasm = await bytesOf(simd);
  at.push(performance.now());
  const superpose = [await load({ simd, wasm })];
  at.push(performance.now());
  const [engine] = fourTerms.enginesOf({ superpose });
  const answer = (await engine.prepare(input)).run();
  at.push(performance.now());
  const error = fourTerms.errorOf(input, answer, fourTerms.referenceOf(input), engine);
  if (!(error <= fourTerms.allowed)) throw new Error(`The first result is wrong by ${error}.`);
  const [fetched, compiled, computed] = [1, 2, 3].map((step) => at[step] - at[step - 1]);
  return { engine: engine.name, times: { fetched, compiled, computed, all: at[3] - at[0] } };
}

/**
 * Answers orders. `runtime` has `about`, what loading() takes, and engines(), which returns what
 * fourTermEngines() takes. engines() is called at the first job, so that the first load is a cold one.
 */
export function clientOf(runtime) {
  const longEnough = Math.max(12, 50 * tick());
  let modules;
  let ready = new Map();

  async function prepare({ job: name, shape }) {
    for (const { release } of ready.values()) release?.();
    ready = new Map();
    modules ??= await runtime.engines();
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
      const once = took > 200 ? took : await timed(prepared.run, took > 20 ? 1 : 5);
      ready.set(engine.name, {
        ...prepared,
        calls: Math.max(1, Math.ceil((job.stretch ?? longEnough) / Math.max(once, 1e-3))),
      });
    }
    return verdicts;
  }

  return async function answer(order) {
    if (order.about) return runtime.about;
    if (order.load) return loading(runtime);
    if (order.job) return prepare(order);
    const times = {};
    for (const name of order.round) {
      const { run, calls } = ready.get(name);
      times[name] = await timed(run, calls);
    }
    return times;
  };
}

/** Asks for orders until there are none left. */
export async function serve(ask, runtime) {
  const answer = clientOf(runtime);
  for (;;) {
    const order = await ask('next');
    if (order.stop) return;
    await ask('done', await answer(order).catch((error) => ({ failed: String(error?.stack ?? error) })));
  }
}
