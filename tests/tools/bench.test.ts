// What the bench times must first be right: every engine of every job, on small shapes.
import { expect, test } from 'vitest';
import { clientOf, jobs, modulesOf } from '../../tools/bench/client.js';
import { inNode } from '../../tools/bench/node.js';

interface Engine {
  name: string;
  prepare(input: unknown): Promise<{ run(): unknown; release?(): void }>;
}
interface Row {
  engine: string;
  mean?: number;
  wrong?: string;
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

const modules = await modulesOf(inNode);

/** The same answer with its numbers changed, whatever its form. */
function changed(answer: unknown, change: (value: number) => number): unknown {
  if (ArrayBuffer.isView(answer)) return (answer as Float64Array).map(change);
  return (answer as unknown[]).map((one) => changed(one, change));
}

const cases = (Object.values(jobs) as Job[]).flatMap((job) =>
  job.small.map((shape) => ({ job, shape, title: job.name })),
);

test.each(cases)('every engine is right: $title, $shape', async ({ job, shape }) => {
  const input = job.inputOf(shape);
  const reference = job.referenceOf(input, modules);
  const engines = job.enginesOf(modules);
  expect(engines.map(({ name }) => name)).toContain('superpose relaxed');
  expect(engines.length).toBeGreaterThan(2);
  for (const engine of engines) {
    const { run, release } = await engine.prepare(input);
    const answer = await run();
    const errorOf = (found: unknown) => job.errorOf(found, reference, input);
    expect(errorOf(answer), engine.name).toBeLessThan(job.allowed);
    // The comparison notices a hundredth, a sign and NaN.
    for (const change of [(value: number) => 1.01 * value, (value: number) => -value, () => Number.NaN])
      expect(errorOf(changed(answer, change)) <= job.allowed, `${engine.name}, ${change}`).toBe(false);
    release?.();
  }
});

test('an engine that is wrong or fails is reported, not timed', async () => {
  const [ours] = modules.superpose;
  const answering = (simd: string, change: (found: { terms: Float32Array }) => { terms: Float32Array }) => ({
    ...ours,
    simd,
    layer(weights: unknown) {
      const layer = ours.layer(weights);
      return {
        decomposeTerms: (input: unknown) => change(layer.decomposeTerms(input)),
        delete: () => layer.delete(),
      };
    },
  });
  const wrong = answering('with a wrong last term', ({ terms }) => ({
    terms: terms.map((value, at) => (at < 9 * 1024 ? value : 0)),
  }));
  const failing = answering('that fails', () => {
    throw new Error('out of memory');
  });
  const answer = clientOf({ peers: async () => ({ superpose: [ours, wrong, failing] }) });
  const rows: Row[] = await answer({ job: 'fourTerms', shape: { n: 32, d: 64, heads: 4 }, time: 20 });
  const [right, off, failed, plain] = rows;
  expect(right?.engine).toBe('superpose plain');
  expect(right?.mean).toBeGreaterThan(0);
  expect(plain?.mean).toBeGreaterThan(0);
  expect([off, failed].map((row) => row?.wrong)).toEqual([
    expect.stringMatching(/^off by /),
    'out of memory',
  ]);
  for (const row of [off, failed]) expect(row).not.toHaveProperty('mean');
});
