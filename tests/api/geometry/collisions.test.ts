import type { CollisionSearch } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds, plain } from '../support/builds.ts';
import { rowsOf } from '../support/numbers.ts';

const draw = (rows: number, stream: number) =>
  plain.randomNormal({ rows, columns: 5, seed: 8, stream, precision: 'float32' });
const tokens = draw(70, 0);
const positions = draw(3, 1);
const squared = (a: ArrayLike<number>, p: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a, (x, c) => (x + (p[c] ?? 0) - (b[c] as number)) ** 2).reduce((sum, x) => sum + x, 0);

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('margins and the whole job are those of the definition', async () => {
    const search = superpose.collisionSearch({ tokens, positions });
    const [e, p] = [rowsOf(tokens), rowsOf(positions)];
    const lost = [0, 0, 0];
    e.forEach((a, word) => {
      const found = search.nearestTokens(word);
      p.forEach((added, i) => {
        const own = squared(a, added, a);
        const margins = e.map((b, other) => (other === word ? Infinity : (squared(a, added, b) - own) / 2));
        const smallest = Math.min(...margins);
        expect(found.margins[i]).toBeCloseTo(smallest, 5);
        if (smallest < 0) lost[i] = (lost[i] as number) + 1;
      });
    });
    const progress: number[][] = [];
    const all = await search.allWords({ slice: 32, onProgress: (...at) => progress.push(at) });
    expect([...all.lost]).toEqual(lost);
    expect([...search.nearestTokens(0, 70).lost]).toEqual(lost);
    const some = await search.allWords({ words: 9, slice: 5 });
    expect([...some.lost]).toEqual([...search.nearestTokens(0, 9).lost]);
    expect(some.smallestMargins).toEqual(all.smallestMargins.slice(0, 9));
    const { bareDistances, bareMargins } = search.nearestTokens(4);
    expect(bareMargins[0]).toBeCloseTo((bareDistances[0] as number) ** 2 / 2, 14);
    const scaled = { ...positions, data: positions.data.map((value) => 0.5 * value) };
    const half = superpose.collisionSearch({ tokens, positions, positionScale: 0.5 });
    const same = superpose.collisionSearch({ tokens, positions: scaled });
    expect(half.nearestTokens(3)).toEqual(same.nearestTokens(3));
    half.delete();
    same.delete();
    expect(lost.some((count) => count > 0)).toBe(true);
    expect(progress).toEqual([
      [32, 70],
      [64, 70],
      [70, 70],
    ]);
    search.delete();
    search.delete();
    expect(() => search.nearestTokens(0)).toThrow(/deleted/);
  });

  test.each([0, 10, 100])('a common offset of %i changes no neighbour', (offset) => {
    const near = plain.randomNormal({
      rows: 200,
      columns: 16,
      standardDeviation: 0.1,
      seed: 3,
      precision: 'float32',
    });
    const moved = { ...near, data: near.data.map((value) => value + offset) };
    const at = plain.randomNormal({
      rows: 1,
      columns: 16,
      standardDeviation: 0.1,
      seed: 4,
      precision: 'float32',
    });
    const search = superpose.collisionSearch({ tokens: moved, positions: at });
    const found = search.nearestTokens(0, 200);
    const e = rowsOf(moved);
    const [p = []] = rowsOf(at);
    let lost = 0;
    e.forEach((a, word) => {
      const distances = e.map((b, other) => (other === word ? Infinity : squared(a, [], b)));
      expect(found.bareDistances[word]).toBeCloseTo(Math.sqrt(Math.min(...distances)), 6);
      const own = squared(a, p, a);
      const margins = e.map((b, other) => (other === word ? Infinity : (squared(a, p, b) - own) / 2));
      expect(found.margins[word]).toBeCloseTo(Math.min(...margins), 6);
      lost += Number(Math.min(...margins) < 0);
    });
    expect([...found.lost]).toEqual([lost]);
    search.delete();
  });

  test('using frees it at the end of its block, also of one that is left early', () => {
    const seen: CollisionSearch[] = [];
    const leave = () => {
      using search = superpose.collisionSearch({ tokens, positions });
      seen.push(search);
      expect(search.nearestTokens(0).nearest).toHaveLength(3);
      throw new Error('left early');
    };
    expect(leave).toThrow('left early');
    expect(() => seen[0]?.nearestTokens(0)).toThrow(/deleted/);
  });

  test('a job stops between slices when it is told to', async () => {
    const search = superpose.collisionSearch({ tokens, positions });
    const controller = new AbortController();
    const slices: number[] = [];
    const job = search.allWords({
      slice: 10,
      signal: controller.signal,
      onProgress: (done) => {
        slices.push(done);
        controller.abort();
      },
    });
    await expect(job).rejects.toThrow(/abort/i);
    expect(slices).toEqual([10]);
    search.delete();
  });
});

// One word against a whole vocabulary. Only the numbers are checked: no test depends on a clock.
test('a vocabulary of 30,522 by 384 fits, with 128 positions', () => {
  const table = (rows: number) => ({ data: new Float32Array(rows * 384), rows, columns: 384 });
  const search = plain.collisionSearch({ tokens: table(30522), positions: table(128) });
  expect(search.nearestTokens(1).margins).toEqual(new Float64Array(128));
  search.delete();
});

test('an empty vocabulary or no positions: nothing is lost, and nothing can be asked for', async () => {
  const none = (table: typeof tokens) => ({ ...table, data: new Float32Array(), rows: 0 });
  for (const input of [
    { tokens: none(tokens), positions },
    { tokens, positions: none(positions) },
  ]) {
    const search = plain.collisionSearch(input);
    const all = await search.allWords();
    expect(all.lost).toEqual(new Float64Array(input.positions.rows));
    expect(all.smallestMargins).toEqual(new Float64Array(input.tokens.rows).fill(Infinity));
    expect(search.nearestTokens(0, 0).margins).toHaveLength(0);
    search.delete();
  }
});

test('random collisions: on the circle, for one channel; and in the limit of long positions', () => {
  for (const scale of [0, 0.5, 1, 2]) {
    const { pair, expected } = plain.randomCollisions({ d: 1, scale, vocabulary: 11 });
    expect(pair).toBeCloseTo(Math.atan(Math.SQRT2 * scale) / Math.PI, 13);
    expect(expected).toBeCloseTo(10 * pair, 14);
  }
  expect(plain.randomCollisions({ d: 64, scale: 1e9, vocabulary: 2 }).pair).toBeCloseTo(0.5, 8);
});
