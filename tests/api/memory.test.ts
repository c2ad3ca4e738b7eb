// What would not fit in memory is refused before anything is allocated, counting weights and all that is
// held.
import { expect, test } from 'vitest';
import { plain } from './support/builds.ts';

const zeros = (rows: number, columns: number) => ({ data: new Float32Array(rows * columns), rows, columns });

test('weights count: W_Q and W_K of 11,600', () => {
  const weight = zeros(11_600, 11_600);
  expect(() =>
    plain.decompose({ summands: { token: zeros(1, 11_600) }, query: { weight }, key: { weight }, heads: 1 }),
  ).toThrow(/would take 1,02\d MB; at most 1,024 MB fit/);
});

test('what is held counts, until it is deleted', () => {
  const input = { tokens: zeros(90_000, 800), positions: zeros(2, 800) };
  const first = plain.collisionSearch(input);
  try {
    expect(() => plain.collisionSearch(input)).toThrow(
      /^A vocabulary of 90000 tokens with 2 positions would take 551 MB; of the 1,024 MB that fit, .* hold \d+ MB\. Call delete\(\)/,
    );
  } finally {
    first.delete();
    first.delete();
  }
  const second = plain.collisionSearch(input);
  expect(second.tokens).toBe(90_000);
  second.delete();
});
