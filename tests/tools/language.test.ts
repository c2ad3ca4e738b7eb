// The file that tools/language wrote: no run twice, and every number follows from those beside it.
import { expect, test } from 'vitest';
import recorded from '../../web/figures/recorded/language.json' with { type: 'json' };

const { runs, sources } = recorded;

test('language models: a run is there once, of a source that is there', () => {
  const names = runs.map((run) => {
    const { source, arm, task, steps, rate, quiet, seed } = run;
    const rowRate = 'rowRate' in run ? run.rowRate : 1;
    return [source, arm, task, steps, rate, quiet, rowRate, seed].join();
  });
  expect(new Set(names).size).toBe(runs.length);
  for (const { source } of runs) expect(sources[source]?.size.layers).toBeGreaterThan(0);
});

test('language models: bits per byte are the loss in nats a token, by the bytes of a token', () => {
  for (const run of runs) {
    if (run.bitsPerByte === undefined) continue;
    const bits = run.loss / Math.LN2 / (sources[run.source]?.bytesPerToken ?? 0);
    expect(Math.abs(bits - run.bitsPerByte)).toBeLessThan(1.5e-4);
  }
});

test('language models: a curve has a point where its source says', () => {
  for (const run of runs) expect(run.losses).toHaveLength(sources[run.source]?.curve.length ?? 0);
});

test('language models: a way in has as many weights in both implementations', () => {
  const counted = new Map<string, number>();
  for (const { arm, source, weights } of runs) {
    const name = `${arm} ${sources[source]?.size.width}`;
    expect(weights).toBe(counted.get(name) ?? weights);
    counted.set(name, weights);
  }
});
