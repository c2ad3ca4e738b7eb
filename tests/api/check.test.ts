// Arguments at the limits of what is allowed, and the error sentences of one kind of argument after another.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import * as check from '../../build/package/check.js';

const largestSingle = 3.4028234663852886e38;

test('the largest float32 is taken for one, either sign', () => {
  expect(Math.fround(largestSingle)).toBe(largestSingle);
  for (const value of [largestSingle, -largestSingle]) {
    expect(check.single('clip', value)).toBe(value);
  }
  const beyond = largestSingle * (1 + 2 ** -52);
  expect(() => check.single('clip', beyond)).toThrow(
    new RangeError(`clip must be at most 3.4e38 in float32; it is ${beyond}.`),
  );
});

test('lists of a length and of any', () => {
  const list = (value: unknown, length?: number) => check.numbers('index', value, check.number, length);
  expect(list([1, 2, 3], 3)).toEqual([1, 2, 3]);
  expect(list([])).toEqual([]);
  expect(() => list([1, 2], 3)).toThrow(
    new RangeError('index must be an array of 3 numbers; it is an array of 2.'),
  );
  expect(() => list(7)).toThrow(new TypeError('index must be an array of numbers; it is 7.'));
  expect(() => list([], 1)).toThrow(
    new RangeError('index must be an array of 1 number; it is an array of 0.'),
  );
});

test('one is said as one', () => {
  const square = { data: new Float64Array(4), rows: 2, columns: 2 };
  expect(() => check.table('t', square, { rows: 1 })).toThrow(new RangeError('t needs 1 row; got 2.'));
  expect(() => check.table('t', square, { columns: 1 })).toThrow('t needs 1 column; got 2.');
  expect(() => check.array('a', square.data, 1)).toThrow(new RangeError('a needs 1 value; got 4.'));
  expect(() => check.array('a', square.data, 0)).toThrow(new RangeError('a needs 0 values; got 4.'));
});

test('an array whose buffer was transferred is refused, although an empty table has as many values', () => {
  for (const kind of [Float32Array, Float64Array]) {
    const gone = new kind(6);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    expect(gone).toHaveLength(0);
    expect(() => check.table('token', { data: gone, rows: 0, columns: 2 })).toThrow(
      new TypeError(`token.data must be an array with its buffer; it is a ${kind.name}.`),
    );
    expect(check.table('token', { data: new kind(), rows: 0, columns: 2 }).rows).toBe(0);
  }
});

describe('finite values', () => {
  // check.floats() keeps four sums side by side, so every place and every remainder must be tried.
  const counts = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  test.each(counts)('of %i, at each place', (count) => {
    for (let at = 0; at < count; at++) {
      for (const bad of [Number.NaN, Infinity, -Infinity]) {
        const values = new Float64Array(count).fill(2);
        values[at] = bad;
        expect(() => check.floats('x', values)).toThrow(
          new RangeError(`x must be finite; value ${at} is ${bad}.`),
        );
      }
    }
  });

  test('whose sum is not finite', () => {
    const values = new Float64Array(9).fill(Number.MAX_VALUE);
    expect(check.floats('x', values)).toBe(values);
  });
});

describe('memory', () => {
  let requireMemory: typeof check.requireMemory;
  let addResidentBytes: typeof check.addResidentBytes;

  // A fresh module, in which memory that other tests hold does not count.
  beforeEach(async () => {
    vi.resetModules();
    ({ requireMemory, addResidentBytes } = await import('../../build/package/check.js'));
  });

  test('all that fits may be asked for, once', () => {
    expect(() => requireMemory('All', check.maxBytes)).not.toThrow();
    expect(() => requireMemory('More', check.maxBytes + 1)).toThrow(
      new RangeError('More would take 1,025 MB; at most 1,024 MB fit. Reduce one of the sizes above.'),
    );
  });

  test('what is held is counted, more and fewer', () => {
    addResidentBytes(111);
    addResidentBytes(-100);
    expect(() => requireMemory('It', check.maxBytes - 10)).toThrow(
      'transformer stacks, layers, searches and trainers hold 1 MB. Call delete()',
    );
    expect(() => requireMemory('It', check.maxBytes - 11)).not.toThrow();
    addResidentBytes(-11);
    expect(() => requireMemory('It', check.maxBytes)).not.toThrow();
  });
});
