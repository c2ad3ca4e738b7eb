// The nearest of many rows, found in blocks.
import { expect, test } from 'vitest';
import { nearestRows } from '../../web/node/command/nearest.ts';
import { plain } from '../api/support/builds.ts';

const rowsOf = (count: number, columns: number, seed: number): Float32Array[] => {
  const { data } = plain.randomNormal({ rows: count, columns, seed, precision: 'float32' });
  return Array.from({ length: count }, (_, row) => data.slice(row * columns, (row + 1) * columns));
};

test('across blocks it is what a search through all finds, and the first of equals', () => {
  const rows = rowsOf(2100, 3, 5);
  // Each in another block than its equals.
  for (const place of [7, 1500, 2090]) rows[place] = new Float32Array([3, 4, 12]);
  const unit = rows.map((row) => {
    const length = Math.hypot(...row);
    return [...row].map((value) => value / length);
  });
  const told: number[] = [];
  const found = nearestRows(plain, rows, (done) => told.push(done));
  expect(told).toEqual([1024, 2048, 2100]);
  for (const row of [0, 7, 1023, 1024, 1500, 2047, 2048, 2090, 2099]) {
    const cosines = unit.map((other, at) =>
      at === row ? -2 : other.reduce((sum, value, k) => sum + value * (unit[row]?.[k] as number), 0),
    );
    const best = Math.max(...cosines);
    expect(found[row]?.cosine).toBeCloseTo(best, 6);
    expect(found[row]?.row).toBe(cosines.findIndex((one) => one > best - 1e-9));
  }
  expect([7, 1500, 2090].map((row) => found[row]?.row)).toEqual([1500, 7, 7]);
});

test('8,400 rows, whose cosines at once would not fit', () => {
  const rows = rowsOf(8400, 2, 1);
  const all = plain.randomNormal({ rows: 8400, columns: 384, seed: 1, precision: 'float32' });
  expect(() => plain.rowCosines(all, all)).toThrow('would take');
  const found = nearestRows(plain, rows);
  expect(found).toHaveLength(8400);
  expect(found.every((one, row) => one !== undefined && one.row !== row && one.cosine > 0.99)).toBe(true);
});

test('a row that is alone has none', () => {
  expect(nearestRows(plain, [new Float32Array([1, 2])])).toEqual([undefined]);
});
