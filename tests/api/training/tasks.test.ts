import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';

test('one token has nothing before it, and looks itself up', () => {
  expect([...plain.taskExamples({ task: 'prev', n: 1 }).targets]).toEqual([-1]);
  expect([...plain.taskExamples({ task: 'lookup', n: 1 }).targets]).toEqual([0]);
});

test('ids from the first to the last are taken, in either kind of list', () => {
  const task = { task: 'prev', n: 3 } as const;
  for (const tokens of [[0, 2, 0], Int32Array.of(0, 2, 0)]) {
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
    [
      { tokens: 'abc' },
      new TypeError('tokens must be an Int32Array or an array of whole numbers; it is "abc".'),
    ],
    [
      { tokens: Float64Array.of(0, 1, 2) },
      new TypeError('tokens must be an Int32Array or an array of whole numbers; it is a Float64Array.'),
    ],
    [
      { tokens: [0, 1, 3] },
      new RangeError('an entry of tokens must be a whole number from 0 to 2; it is 3.'),
    ],
    [
      { tokens: [0, -1, 1] },
      new RangeError('an entry of tokens must be a whole number from 0 to 2; it is -1.'),
    ],
    [{ tokens: [0, 0.5, 1] }, new RangeError('an entry of tokens must be a whole number; it is 0.5.')],
    [{ tokens: [0, '1', 1] }, new TypeError('an entry of tokens must be a whole number; it is "1".')],
  ])('%j', (change, error) => {
    const right = { task: 'prev', n: 3, tokens: [0, 1, 2] };
    expect(() => plain.taskTargets({ ...right, ...change } as never)).toThrow(error);
  });
});
