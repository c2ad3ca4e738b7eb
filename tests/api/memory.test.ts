// A call that would not fit in memory is refused before anything is allocated. Weights and resident objects
// count too.

import type { SchemeInput } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { addResidentBytes } from '../../build/package/check.js';
import type { Handle } from '../../build/package/handle.js';
import { plain } from './support/builds.ts';
import { left } from './support/refusals.ts';
import { rightCalls } from './support/rightCalls.ts';

const zeros = (rows: number, columns: number) => ({ data: new Float64Array(rows * columns), rows, columns });

test('weights count: W_Q and W_K of 8,200', () => {
  const weight = zeros(8_200, 8_200);
  expect(() =>
    plain.decompose({ summands: { token: zeros(1, 8_200) }, query: { weight }, key: { weight }, heads: 1 }),
  ).toThrow(/would take 1,02\d MB; at most 1,024 MB fit/);
});

test('what is held counts, until it is deleted', () => {
  const input = { tokens: zeros(45_000, 800), positions: zeros(2, 800) };
  const first = plain.collisionSearch(input);
  try {
    expect(() => plain.collisionSearch(input)).toThrow(
      /^A vocabulary of 45000 tokens with 2 positions would take 551 MB; of the 1,024 MB that fit, .* hold \d+ MB\. Call delete\(\)/,
    );
  } finally {
    first.delete();
    first.delete();
  }
  const second = plain.collisionSearch(input);
  expect(second.tokens).toBe(45_000);
  second.delete();
});

const drawn = (rows: number, columns: number) => plain.randomNormal({ rows, columns, seed: 7 });

type Call = () => unknown;

function needs(call: Call, bytes: number, counted = '') {
  const free = left();
  addResidentBytes(free - bytes);
  try {
    expect(call).not.toThrow();
  } finally {
    addResidentBytes(bytes - free);
  }
  addResidentBytes(free - bytes + 1);
  try {
    expect(call).toThrow(`${counted} would take 1 MB; of the 1,024 MB that fit`);
  } finally {
    addResidentBytes(bytes - free - 1);
  }
  expect(left()).toBe(free);
}

const three = drawn(3, 4);

const sized = Object.entries(rightCalls).flatMap(([name, { sound, bytes }]) =>
  bytes === undefined ? [] : [{ name, sound, bytes }],
);
test.each(sized)('$name needs $bytes bytes', ({ name, sound, bytes }) => {
  const call = plain[name as keyof typeof plain] as unknown as (...args: unknown[]) => Partial<Handle>;
  needs(() => call(...sound)?.delete?.(), bytes);
});

const weights = { d_head: 3, heads: 2, only: [1], content: three };
const bucketed = { buckets: 8, maxDistance: 9 } as const;
const schemes: [options: SchemeInput, terms: number, bytes: number][] = [
  [{ ...weights, scheme: 'none' }, 1, 4224],
  [{ ...weights, scheme: 'add' }, 4, 13_152],
  [{ ...weights, scheme: 'concat-raw', d_position: 5 }, 2, 26_592],
  [{ ...weights, scheme: 'concat-full', d_position: 5 }, 4, 16_416],
  [{ ...weights, scheme: 'concat-block-diagonal', d_position: 5, d_position_head: 3 }, 2, 22_752],
  [{ ...weights, scheme: 'shaw', clip: 2 }, 2, 6432],
  [{ ...weights, scheme: 'transformer-xl' }, 4, 11_968],
  [{ ...weights, scheme: 'transformer-xl', d_offset: 5, offsets: drawn(5, 5) }, 4, 12_320],
  [{ ...weights, scheme: 't5', ...bucketed }, 2, 5024],
  [{ ...weights, scheme: 'alibi' }, 2, 4512],
  [{ ...weights, scheme: 'deberta', clip: 2 }, 3, 10_304],
  [{ ...weights, scheme: 'tupe-a', ...bucketed }, 2, 9248],
  [{ ...weights, scheme: 'tupe-r', ...bucketed }, 3, 10_112],
  [{ ...weights, scheme: 'diet-abs', d_position: 2 }, 2, 5280],
  [{ ...weights, scheme: 'diet-rel', clip: 2 }, 2, 4832],
  [{ ...weights, scheme: 'rope', d_head: 4 }, 1, 5216],
  [{ ...weights, scheme: 'decoupled-rope', d_rotary: 2 }, 2, 9696],
];

test.each(schemes.map(([options, ...of]) => [options.scheme, of, options] as const))(
  'the scores of %s, of %j terms and bytes',
  (_, [terms, bytes], options) => {
    needs(() => plain.schemeScores(options), bytes, `1 heads of ${terms} terms for 3 tokens`);
  },
);

describe('what is held', () => {
  test('a search holds what it needs', () => {
    const drawn = (rows: number) => plain.randomNormal({ rows, columns: 5, seed: 1 });
    const input = { tokens: drawn(3), positions: drawn(2) };
    const make = () => plain.collisionSearch(input);
    const free = left();
    const search = make();
    expect(free - left()).toBe(496);
    needs(() => search.nearestTokens(1, 2), 144);
    search.delete();
    expect(left()).toBe(free);
  });

  test('a trainer holds its parameters, their gradients and the work of a step', () => {
    const evaluation = { n: 4, tokens: [0, 1, 2, 6], targets: [0, 1, 2, -1] };
    const sizes = { evaluation, vocabulary: 7, classes: 3, positions: 5, d_model: 4, heads: 2 } as const;
    const make = (options: object) => plain.trainer({ ...sizes, ...options });
    needs(() => make({ layers: 3 }).delete(), 87_824);
    const wide = { scheme: 'concat-wide' };
    needs(() => make(wide).delete(), 117_328);
    const free = left();
    const trainer = make(wide);
    expect(free - left()).toBe(117_328);
    const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
    needs(() => trainer.evaluate(batch), 48);
    needs(() => trainer.step(evaluation), 64);
    needs(() => trainer.logits(batch), 192);
    needs(() => trainer.attention(batch), 336);
    needs(() => trainer.coordinates(drawn(2, 8)), 912);
    trainer.delete();
    expect(left()).toBe(free);
  });
});
