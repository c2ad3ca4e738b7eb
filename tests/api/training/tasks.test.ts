import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';

test('one token has nothing before it, and looks itself up', () => {
  expect([...plain.taskExamples({ task: 'prev', n: 1 }).targets]).toEqual([-1]);
  expect([...plain.taskExamples({ task: 'lookup', n: 1 }).targets]).toEqual([0]);
});

test('ids from the first to the last are taken, in any kind of list', () => {
  const task = { task: 'prev', n: 3 } as const;
  const lists = [[0, 2, 0], Int32Array.of(0, 2, 0), Uint8Array.of(0, 2, 0), [0n, 2n, 0n], [0, 2n, 0]];
  for (const tokens of [...lists, BigInt64Array.of(0n, 2n, 0n), BigUint64Array.of(0n, 2n, 0n)]) {
    const found = plain.taskTargets({ ...task, tokens });
    expect(found).toEqual({
      n: 3,
      vocabulary: 3,
      classes: 3,
      tokens: Int32Array.of(0, 2, 0),
      targets: Int32Array.of(-1, 0, 2),
    });
    expect(found.tokens).not.toBe(tokens);
  }
});

describe('what is refused', () => {
  test.each([
    [{ n: 0 }, new RangeError('n must be a whole number from 1 to 4194304; it is 0.')],
    [{ tokens: [] }, new RangeError('tokens must have a multiple of 3 ids, whole sequences of n; it has 0.')],
    [
      { tokens: [0, 1, 2, 0] },
      new RangeError('tokens must have a multiple of 3 ids, whole sequences of n; it has 4.'),
    ],
    [{ tokens: 'abc' }, new TypeError('tokens must be an array of whole numbers; it is "abc".')],
    [
      { tokens: Float64Array.of(0, 1, 2) },
      new TypeError('tokens must be an array of whole numbers; it is a Float64Array.'),
    ],
    [{ tokens: [0, '1', 1] }, new TypeError('an entry of tokens must be a whole number; it is "1".')],
  ])('%j', (change, error) => {
    const right = { task: 'prev', n: 3, tokens: [0, 1, 2] };
    expect(() => plain.taskTargets({ ...right, ...change } as never)).toThrow(error);
  });

  test('BigInts out of range', () => {
    for (const [tokens, last] of [
      [BigInt64Array.of(0n, 1n, 3n), 3],
      [[0, 1n, -1n], -1],
      [[0, 2n ** 64n, 1], 18446744073709552000],
    ] as const)
      expect(() => plain.taskTargets({ task: 'prev', n: 3, tokens })).toThrow(
        new RangeError(`an entry of tokens must be a whole number from 0 to 2; it is ${last}.`),
      );
  });
});
