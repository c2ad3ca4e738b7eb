// Times every engine of every job. Each answer is first compared with the reference, and a wrong one ends
// the bench.
import { bench, describe } from 'vitest';
import { jobs, modules } from './jobs.js';

const all = await modules();

for (const job of Object.values(jobs)) {
  // Chromium's clock has a resolution of tenths of a millisecond, so a sample of a short job is several
  // `calls`.
  describe.each(job.shapes)(`${job.name}, %o`, ({ calls = 1, ...shape }) => {
    const input = job.inputOf(shape);
    let reference;
    for (const engine of job.enginesOf(all)) {
      let instance;
      const sample = async () => {
        for (let call = 0; call < calls; call++) await instance.run();
      };
      bench(engine.name, sample, {
        async setup() {
          instance = await engine.prepare(input);
          reference ??= await job.referenceOf(input, all);
          const error = job.errorOf(await instance.run(), reference, input);
          if (!(error <= job.allowed))
            throw new Error(`${engine.name} is off by ${error} of the largest value.`);
        },
        teardown: () => instance.release?.(),
        time: 1000,
        // A run of the largest shapes takes a second, so a few are enough.
        iterations: 3,
        warmupIterations: 1,
        throws: true,
      });
    }
  });
}
