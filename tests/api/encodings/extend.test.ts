import { expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

const table = tableOf([
  [0, 1],
  [2, 5],
  [6, -3],
]);

test.each([
  ['copied', [0, 1, 2, 5, 6, -3, 6, -3, 6, -3]],
  ['tiled', [0, 1, 2, 5, 6, -3, 0, 1, 2, 5]],
  ['interpolated', [0, 1, 1, 3, 2, 5, 4, 1, 6, -3]],
] as const)('%s', (how, rows) => {
  expect([...plain.extendTable({ table, rows: 5, how }).data]).toEqual(rows);
  expect([...plain.extendTable({ table, rows: 2, how }).data]).toEqual([0, 1, 2, 5]);
  const single = { ...table, data: Float32Array.from(table.data) };
  expect(plain.extendTable({ table: single, rows: 5, how }).data).toEqual(Float32Array.from(rows));
});

test.each([
  [{ how: 'mirrored' }, "how must be 'copied' or 'tiled' or 'interpolated'"],
  [{ rows: 0 }, 'rows must be a whole number from 1'],
  [{ table: { ...table, rows: 0, data: new Float64Array() } }, 'table must have at least 1 row; it has 0.'],
  [{ rows: 2 ** 22, table: { data: new Float64Array(64), rows: 1, columns: 64 } }, 'would take'],
])('refuses %o', (wrong, sentence) => {
  expect(() => plain.extendTable({ table, rows: 5, how: 'tiled', ...wrong } as never)).toThrow(sentence);
});
