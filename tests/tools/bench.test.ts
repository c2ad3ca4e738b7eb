// What the bench times is right before it is timed: every engine's terms, on small shapes and without a clock.
import { fileURLToPath } from 'node:url';
import { load } from 'superpose';
import { expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript
import * as engines from '../../tools/bench/engines.js';
// @ts-expect-error: plain JavaScript
import * as job from '../../tools/bench/job.js';
// @ts-expect-error: plain JavaScript
import { exponent, summary, withRatios } from '../../tools/bench/statistics.js';

interface Engine {
  name: string;
  order: string;
  prepare(input: unknown): Promise<{ run(): unknown }>;
}

async function everyEngine(): Promise<Engine[]> {
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  const tf = await import('@tensorflow/tfjs-core');
  const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
  setWasmPaths(
    fileURLToPath(new URL('../../node_modules/@tensorflow/tfjs-backend-wasm/dist/', import.meta.url)),
  );
  await tf.setBackend('wasm');
  return [
    ...(await Promise.all((['plain', 'relaxed'] as const).map((simd) => load({ simd }).then(engines.ours)))),
    ...engines.ortKinds.map((kind: string) => engines.onnxruntime(ort, kind)),
    ...engines.tfjsKinds.map((kind: string) => engines.tensorflow(tf, kind)),
    engines.plainJs,
  ];
}

const shapes = [
  { n: 5, d: 12, heads: 3 },
  { n: 32, d: 64, heads: 4 },
  { n: 17, d: 40, heads: 1 },
];

test.each(shapes)('every engine gives the terms of $n tokens, width $d, $heads heads', async (shape) => {
  const input = job.inputOf(shape);
  const exact = job.plainly(input, Float64Array);
  expect(job.errorOf(input, exact, 'heads first')).toBeLessThan(1e-14);
  const all = await everyEngine();
  expect(all.length).toBeGreaterThan(6);
  for (const { name, order, prepare } of all) {
    const { run } = await prepare(input);
    const terms = engines.inOne(await run());
    expect(job.errorOf(input, terms, order), name).toBeLessThan(job.allowedError);
    // The check sees one wrong head, a wrong layout and NaN.
    const other = order === 'heads first' ? 'terms first' : 'heads first';
    if (shape.heads > 1) expect(job.errorOf(input, terms, other), name).toBeGreaterThan(0.01);
    expect(
      job.errorOf(
        input,
        terms.map(() => Number.NaN),
        order,
      ),
      name,
    ).toBeNaN();
  }
});

test('medians, ratios and exponents', () => {
  expect(summary([5, 1, 3])).toEqual({ median_ms: 3, p95_ms: 4.8, best_ms: 1, spread: 1 / 3 });
  const row = (engine: string, median_ms: number, peer: boolean) => ({
    engine,
    median_ms,
    best_ms: 1,
    peer,
    runtime: 'a',
    n: 1,
    d: 1,
    job: 'j',
  });
  const rows = withRatios([row('ours', 2, false), row('one', 3, true), row('two', 6, true)]);
  expect(rows.map((found: { ratio_to_best_peer: number }) => found.ratio_to_best_peer)).toEqual([
    1.5, 2, 0.5,
  ]);
  expect(
    exponent([
      [1, 3],
      [2, 12],
      [4, 48],
    ]),
  ).toBeCloseTo(2, 12);
});
