// The peak of the module's memory in a job, which WebAssembly never gives back, compared with the size of the
// job's input and output.
import { arraysOf } from './numbers.js';

const bytesOf = (value) => arraysOf(value).reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Measures in a new module, which `fresh` loads. */
export async function peakMemory(fresh, job, shape) {
  const superpose = await fresh();
  const initial_bytes = superpose.memoryBytes();
  const input = job.inputOf(shape);
  const [engine] = job.enginesOf({ superpose: [superpose] });
  const result = await (await engine.prepare(input)).run();
  return {
    job: job.name,
    engine: engine.name,
    ...shape,
    initial_bytes,
    peak_bytes: superpose.memoryBytes(),
    input_bytes: bytesOf(input),
    result_bytes: bytesOf(result),
  };
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
