// What the bench times must first be right: every engine of every job, on small shapes and without a clock.
import { expect, test } from 'vitest';
import { load } from '../../build/package/index.js';
import { clientOf, jobs, modulesOf } from '../../tools/bench/client.js';
import { exponent, growth, measure, peakMemory, summary, withRatios } from '../../tools/bench/measure.js';
import { hasAvx2, native, nativeAvx2 } from '../../tools/bench/native.mjs';
import { inNode } from '../../tools/bench/node.js';
import { growthTable, memoryTable, timesTable, trainingTable, wrongOnes } from '../../tools/bench/report.js';
import { training } from '../../tools/bench/training.js';
import { which } from '../../tools/steps.mjs';

interface Shape {
  n: number;
  d: number;
  heads?: number;
}
interface Engine {
  name: string;
  peer?: boolean;
  prepare(input: unknown): Promise<{ run(): unknown; release?(): void }>;
}
interface Job {
  name: string;
  allowed: number;
  small: Shape[];
  shapes: Shape[];
  inputOf(shape: Shape): unknown;
  enginesOf(modules: unknown): Engine[];
  referenceOf(input: unknown, modules: unknown): unknown;
  errorOf(answer: unknown, reference: unknown, input: unknown, engine?: Engine): number;
}
interface Row {
  job: string;
  engine: string;
  runtime: string;
  wrong?: string;
  median_ms?: number;
  ratio_to_best_peer: number | null;
}

const modules = await modulesOf(inNode);

/** The same answer with its numbers changed, whatever its form. */
function changed(answer: unknown, change: (value: number) => number): unknown {
  if (ArrayBuffer.isView(answer)) return (answer as Float64Array).map(change);
  if (Array.isArray(answer)) return answer.map((one) => changed(one, change));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, changed(value, change)]));
}

const cases = (jobs as Job[]).flatMap((job) => job.small.map((shape) => ({ job, shape, title: job.name })));

test.each(cases)('every engine is right: $title, $shape', async ({ job, shape }) => {
  const input = job.inputOf(shape);
  const reference = job.referenceOf(input, modules);
  const engines = job.enginesOf(modules);
  expect(engines.map(({ name }) => name)).toContain('superpose relaxed');
  if (job.name === 'four terms') expect(engines.filter(({ peer }) => peer)).toHaveLength(5);
  for (const engine of engines) {
    const { run, release } = await engine.prepare(input);
    const answer = await run();
    const errorOf = (found: unknown) => job.errorOf(found, reference, input, engine);
    expect(errorOf(answer), engine.name).toBeLessThan(job.allowed);
    // The comparison notices a hundredth, a sign and NaN.
    for (const change of [(value: number) => 1.01 * value, (value: number) => -value, () => Number.NaN])
      expect(errorOf(changed(answer, change)) <= job.allowed, `${engine.name}, ${change}`).toBe(false);
    release?.();
  }
});

const eigen = process.env.SUPERPOSE_PREFIX;
// Only where native programs can be built: npm test sets the prefix.
interface Native {
  name: string;
  order(what: object): Promise<{ engine: string; right: boolean }[]>;
  close(): void;
}
const natives = which('g++') && eigen ? [native, ...(hasAvx2() ? [nativeAvx2] : [])] : [];

for (const start of natives)
  test(`native code is right: ${start.name}`, async () => {
    const runtime = (await start(eigen)) as Native;
    for (const shape of (jobs[0] as Job).small) {
      const verdicts = await runtime.order({ job: 'four terms', shape });
      expect(verdicts.map(({ engine }) => engine)).toEqual(['native Eigen', 'native kernel']);
      for (const { engine, right } of verdicts) expect(right, engine).toBe(true);
    }
    for (const shape of training.small) {
      const [found] = await runtime.order({ job: 'training', shape });
      expect(found).toMatchObject({ engine: `${runtime.name} kernels`, right: true });
      // Throws if a step allocates memory.
      expect(await runtime.order({ round: [found?.engine] })).toHaveProperty([found?.engine ?? '']);
    }
    await runtime.close();
  });

test('a wrong layout of the four terms is noticed', () => {
  const job = jobs[0] as Job;
  for (const shape of job.small as Required<Shape>[]) {
    const input = job.inputOf(shape);
    const exact = job.referenceOf(input, modules);
    expect(job.errorOf(exact, exact, input)).toBe(0);
    // A list is of outputs with the terms first.
    if (shape.heads > 1) expect(job.errorOf([exact], exact, input)).toBeGreaterThan(0.01);
  }
});

test('an engine that is wrong or fails is reported, not timed', async () => {
  const [ours] = modules.superpose;
  const wrong = {
    ...ours,
    simd: 'with a wrong last term',
    decomposeTerms(input: unknown) {
      const found = ours.decomposeTerms(input);
      return { ...found, terms: found.terms.map((value: number, at: number) => (at < 9 * 1024 ? value : 0)) };
    },
  };
  const failing = {
    ...ours,
    simd: 'that fails',
    decomposeTerms() {
      throw new Error('out of memory');
    },
  };
  const answer = clientOf({ ...inNode, peers: async () => ({ superpose: [ours, wrong, failing] }) });
  const asked: string[] = [];
  const runtime = {
    name: 'here',
    order(order: { round?: string[] }) {
      asked.push(...(order.round ?? []));
      return answer(order);
    },
  };
  const rows: Row[] = await measure([runtime], jobs[0], { n: 32, d: 64, heads: 4 }, 2);
  expect(new Set(asked)).toEqual(new Set(['superpose plain', 'plain JS']));
  const found = Object.fromEntries(rows.map((row) => [row.engine, row]));
  expect(found['superpose plain']?.median_ms).toBeGreaterThan(0);
  for (const name of ['superpose with a wrong last term', 'superpose that fails'])
    expect(found[name]).not.toHaveProperty('median_ms');
  expect(wrongOnes(rows)).toContain('superpose that fails, here, four terms: out of memory.');
  expect(wrongOnes(rows)).toContain('superpose with a wrong last term, here, four terms: off by ');
  expect(timesTable(rows)).not.toContain('superpose with');
});

test('peak memory is measured, and compared with input and result', async () => {
  const [small, large] = await Promise.all(
    [32, 384].map((n) => peakMemory(() => load({ simd: 'plain' }), jobs[0], { n, d: 384, heads: 12 })),
  );
  expect(small.input_bytes).toBe(4 * (2 * 32 * 384 + 2 * 384 * 384));
  expect(small.result_bytes).toBe(4 * 4 * 12 * 32 * 32);
  expect(small.peak_bytes).toBeGreaterThanOrEqual(small.initial_bytes);
  expect(large.peak_bytes).toBeGreaterThanOrEqual(small.peak_bytes);
  const grown = { ...small, peak_bytes: small.initial_bytes + 1 };
  expect(memoryTable([small, grown]).match(/four terms/g)).toHaveLength(1);
});

test('medians, ratios, exponents and their tables', () => {
  expect(summary([5, 1, 3])).toEqual({ median_ms: 3, p95_ms: 4.8, best_ms: 1, spread: 1 / 3 });
  const row = (engine: string, median_ms: number, peer: boolean, runtime = 'a') => {
    return { engine, median_ms, p95_ms: 7, best_ms: 1, spread: 0.1, peer, runtime, n: 1, d: 1, job: 'j' };
  };
  const rows: Row[] = withRatios([
    row('ours', 2, false),
    row('one', 3, true),
    row('two', 6, true),
    row('native Eigen', 2, false, 'native AVX2'),
    row('native kernel', 1, false, 'native AVX2'),
  ]);
  expect(rows.map((found) => found.ratio_to_best_peer)).toEqual([1.5, 1, 0.5, null, null]);
  // The limit is the better of the two.
  expect(timesTable(rows)).toContain('| j | 1, 1 | a | ours | 2.00 | 7.00 | 10 % | 1.00 | 1.50× | 0.50× |');
  expect(
    trainingTable(
      rows.map((found) => {
        const best_ms = (found.median_ms as number) / 2;
        return { ...found, best_ms, engine: found.engine.replace('one', 'tfjs') };
      }),
    ),
  ).toContain('| a | ours | 1000 | 500 | 10 % | 1.50× |  | 0.50× |');
  expect(
    exponent([
      [1, 3],
      [2, 12],
      [4, 48],
    ]),
  ).toBeCloseTo(2, 12);
  // n² d, in a cross of shapes.
  const shapes: [number, number][] = [
    [1, 2],
    [2, 2],
    [4, 2],
    [2, 8],
  ];
  const grown = shapes.map(([n, d]) => ({ job: 'j', engine: 'e', runtime: 'r', n, d, median_ms: n * n * d }));
  expect(growth(grown, 'n', 'd')).toBeCloseTo(2, 12);
  expect(growth(grown, 'd', 'n')).toBeCloseTo(1, 12);
  expect(growth(grown.slice(0, 1), 'd', 'n')).toBeUndefined();
  expect(growthTable(grown)).toContain('| j | r | e | 2.00 | 1.00 |');
});
