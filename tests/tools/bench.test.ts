// Everything that the bench times must first be right: every engine of every job, on small shapes.
import { expect, test } from 'vitest';
import { jobs, modules } from '../../tools/bench/jobs.js';

interface Engine {
  name: string;
  prepare(input: unknown): Promise<{ run(): unknown; release?(): void }>;
}
interface Job {
  name: string;
  allowed: number;
  small: object[];
  inputOf(shape: object): unknown;
  enginesOf(modules: unknown): Engine[];
  referenceOf(input: unknown, modules: unknown): unknown;
  errorOf(answer: unknown, reference: unknown, input: unknown): number;
}

const all = await modules();

/** The same answer with its numbers changed, whatever its form. */
function changed(answer: unknown, change: (value: number) => number): unknown {
  if (ArrayBuffer.isView(answer)) return (answer as Float64Array).map(change);
  if (Array.isArray(answer)) return answer.map((part) => changed(part, change));
  const parts = Object.entries(answer as object).map(([name, part]) => [name, changed(part, change)]);
  return Object.fromEntries(parts);
}

const cases = (Object.values(jobs) as Job[]).flatMap((job) =>
  job.small.map((shape) => ({ job, shape, title: job.name })),
);

test.each(cases)('every engine is right: $title, $shape', async ({ job, shape }) => {
  const input = job.inputOf(shape);
  const reference = await job.referenceOf(input, all);
  const engines = job.enginesOf(all);
  expect(engines.map(({ name }) => name)).toContain('superpose relaxed');
  expect(engines.length).toBeGreaterThan(2);
  for (const engine of engines) {
    const { run, release } = await engine.prepare(input);
    const answer = await run();
    const errorOf = (result: unknown) => job.errorOf(result, reference, input);
    expect(errorOf(answer), engine.name).toBeLessThan(job.allowed);
    // The comparison notices a hundredth, a sign and NaN.
    for (const change of [(value: number) => 1.01 * value, (value: number) => -value, () => Number.NaN])
      expect(errorOf(changed(answer, change)) <= job.allowed, `${engine.name}, ${change}`).toBe(false);
    release?.();
  }
});
