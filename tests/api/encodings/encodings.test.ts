import { load } from 'superpose';
import { expect, test } from 'vitest';

const superpose = await load({ simd: 'plain' });

test('fairseq has its padding row', () => {
  const { data, rows } = superpose.fairseqSinusoidal({ positions: 3, d_model: 4 });
  expect(rows).toBe(5);
  expect([...data.subarray(4, 8)]).toEqual([0, 0, 0, 0]);
  expect(data[8]).toBeCloseTo(Math.sin(2), 15);
});

test('learned positions are seeded, and float32 is float64 rounded', () => {
  const options = { positions: 50, d_model: 40, seed: 4 };
  const { data } = superpose.learnedPositions(options);
  const deviation = Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
  // The standard error over 2000 draws is 1.6 %.
  expect(Math.abs(deviation / 0.02 - 1)).toBeLessThan(0.08);
  expect(superpose.learnedPositions({ ...options, precision: 'float32' }).data).toEqual(
    Float32Array.from(data),
  );
});

const table = (rows: number, ...values: number[]) => ({
  data: Float64Array.from(values),
  rows,
  columns: values.length / rows,
});

test("BERT's sum", () => {
  const token = table(2, 1, 2, 3, 4);
  const position = table(3, 10, 20, 30, 40, 50, 60);
  const token_type = table(2, 100, 200, 300, 400);
  const { sum, summands } = superpose.bertEmbeddings({ token, position, token_type, tokenTypeIds: [1, 0] });
  expect([...sum.data]).toEqual([311, 422, 133, 244]);
  expect([...summands.token_type.data]).toEqual([300, 400, 100, 200]);
  expect(() => superpose.bertEmbeddings({ token, position: table(1, 0, 0), token_type })).toThrow(
    /at least 2 rows/,
  );
  expect(() => superpose.bertEmbeddings({ token, position, token_type, tokenTypeIds: [2, 0] })).toThrow(
    /0 to 1/,
  );
});

test.each(['float64', 'float32'] as const)('positions are scaled and added, in %s', (precision) => {
  const token = superpose.randomNormal({ rows: 3, columns: 4, seed: 1, precision });
  const position = superpose.randomNormal({ rows: 5, columns: 4, seed: 2, precision });
  const added = superpose.bertEmbeddings<Float32Array | Float64Array>({
    token,
    position,
    positionScale: 0.5,
  });
  expect(added.sum.data.constructor).toBe(token.data.constructor);
  expect([added.sum.rows, added.sum.columns]).toEqual([3, 4]);
  token.data.forEach((x: number, at: number) => {
    const scaled = 0.5 * (position.data[at] as number);
    expect(added.summands.position.data[at]).toBe(scaled);
    expect(added.sum.data[at]).toBe(precision === 'float32' ? Math.fround(x + scaled) : x + scaled);
  });
  const few = { ...position, data: position.data.slice(0, 8), rows: 2 };
  expect(() => superpose.bertEmbeddings<Float32Array | Float64Array>({ token, position: few })).toThrow(
    'at least 3 rows',
  );
});
