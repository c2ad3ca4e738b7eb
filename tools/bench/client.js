// What runs in each runtime: asks the bench for work, does it, and posts what it measured, until there is no
// more. The same file in browsers and in Node.
import { inOne, onnxruntime, ortKinds, ours, plainJs, tensorflow, tfjsKinds } from './engines.js';
import { allowedError, errorOf, inputOf, placesOf, referenceAt } from './job.js';
import { otherJobs } from './others.js';

/** A call is repeated until it takes this long, since clocks in browsers are coarse. */
const longEnough = 12;

async function enginesOf({ superpose, ort, tf }) {
  return [
    ...superpose.map(ours),
    ...(ort ? ortKinds.map((kind) => onnxruntime(ort, kind)) : []),
    ...(tf ? tfjsKinds.map((kind) => tensorflow(tf, kind)) : []),
    plainJs,
  ];
}

/** Milliseconds of one call, over as many calls as the clock needs. */
async function timed(run, calls) {
  const start = performance.now();
  for (let call = 0; call < calls; call++) await run();
  return (performance.now() - start) / calls;
}

export async function serve(ask, modules) {
  const all = await enginesOf(modules);
  let ready = [];
  for (;;) {
    const order = await ask('next');
    if (order.stop) return;
    let answer;
    try {
      if (order.shape) {
        for (const engine of ready) engine.release?.();
        ready = [];
        const input = inputOf(order.shape);
        const reference = referenceAt(input, placesOf(input));
        answer = [];
        for (const engine of all) {
          if (engine.slow && input.n * input.d * input.d > 2e7) continue;
          const verdict = { engine: engine.name, peer: !!engine.peer };
          try {
            const { run, release } = await engine.prepare(input);
            verdict.error = errorOf(input, inOne(await run()), engine.order, reference);
            verdict.right = verdict.error <= allowedError;
            if (verdict.right) {
              await run();
              const once = await timed(run, 1);
              ready.push({
                name: engine.name,
                run,
                release,
                calls: Math.max(1, Math.ceil(longEnough / Math.max(once, 0.01))),
              });
            } else release?.();
          } catch (error) {
            verdict.right = false;
            verdict.why = String(error?.message ?? error).slice(0, 200);
          }
          answer.push(verdict);
        }
      } else if (order.round) {
        answer = {};
        for (const { name, run, calls } of ready) answer[name] = await timed(run, calls);
      } else if (order.other) {
        answer = [];
        for (const superpose of modules.superpose) {
          for (const job of otherJobs(superpose, modules.load, order.quick)) {
            const times = [];
            const run = await job.prepare();
            await run();
            const once = await timed(run, 1);
            const calls = Math.max(1, Math.ceil(longEnough / Math.max(once, 0.01)));
            for (let turn = 0; turn < order.other; turn++) times.push(await timed(run, calls));
            answer.push({ ...job.about, engine: `superpose ${superpose.simd}`, times });
          }
        }
      }
    } catch (error) {
      answer = { failed: String(error?.stack ?? error) };
    }
    await ask('done', answer);
  }
}
