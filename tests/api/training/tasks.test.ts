// The tasks' answers, against their definitions.
import { expect, test } from 'vitest';
import { plain } from '../support/builds.ts';

test('one token has nothing before it, and looks itself up', () => {
  expect([...plain.taskExamples({ task: 'prev', n: 1 }).targets]).toEqual([-1]);
  expect([...plain.taskExamples({ task: 'lookup', n: 1 }).targets]).toEqual([0]);
});

test('ids from the first to the last are taken, in any kind of list', () => {
  const task = { task: 'prev', n: 3 } as const;
  const lists = [[0, 2, 0], Int32Array.of(0, 2, 0), Uint8Array.of(0, 2, 0), [0n, 2n, 0n], [0, 2n, 0]];
  for (const tokens of [...lists, BigInt64Array.of(0n, 2n, 0n), BigUint64Array.of(0n, 2n, 0n)]) {
    const result = plain.taskTargets({ ...task, tokens });
    expect(result).toEqual({
      n: 3,
      vocabulary: 3,
      classes: 3,
      tokens: Int32Array.of(0, 2, 0),
      targets: Int32Array.of(-1, 0, 2),
    });
    expect(result.tokens).not.toBe(tokens);
  }
});
