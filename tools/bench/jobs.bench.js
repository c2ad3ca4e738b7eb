// Times every engine of every job. What it answers is first compared with the reference: one that is wrong ends the bench.
import { bench, describe } from 'vitest';
import { jobs, modules } from './jobs.js';

const all = await modules();

for (const job of Object.values(jobs)) {
  // Chromium's clock gives tenths of a millisecond, so that of what is short a sample is several `calls`.
  describe.each(job.shapes)(`${job.name}, %o`, ({ calls = 1, ...shape }) => {
    const input = job.inputOf(shape);
    let reference;
    for (const engine of job.enginesOf(all)) {
      let prepared;
      const sample = async () => {
        for (let call = 0; call < calls; call++) await prepared.run();
      };
      bench(engine.name, sample, {
        async setup() {
          prepared = await engine.prepare(input);
          reference ??= await job.referenceOf(input, all);
          const error = job.errorOf(await prepared.run(), reference, input);
          if (!(error <= job.allowed))
            throw new Error(`${engine.name} is off by ${error} of the largest value.`);
        },
        teardown: () => prepared.release?.(),
        time: 1000,
        // A run of the largest shapes takes a second, so that few are enough.
        iterations: 3,
        warmupIterations: 1,
        throws: true,
      });
    }
  });
}
