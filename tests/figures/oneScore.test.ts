// One score: its sixteen terms, and tables of it.

import { load, loadMiniLM, sharesOf } from 'superpose';
import { describe, expect, inject, test } from 'vitest';
import * as heads from '../../web/figures/heads.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import { terms } from '../../web/figures/terms.ts';
import type { BoxMark, Region } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

// The equation in pictures: what a click on it does, and the strip that heads are chosen by.
describe('one score', () => {
  const clicked = (regions: Region[], setting: string) =>
    regions.filter(({ sets }) => sets && setting in sets);

  test.each([{}, { n: 2, on: '' }, { n: 64, view: 'sixteen' }, { gauge: 'raw', centred: 'no' }])(
    'drawn at random, %o',
    async (settings) => {
      expectSoundPictures(await run(oneScore, { weights: 'seeded', ...settings }));
    },
  );

  test('a term map that is clicked is a term switched off, and on again', async () => {
    const settings = { weights: 'seeded', n: 6 };
    const all = await run(oneScore, settings);
    const maps = clicked(all.figure.scene(all.data, all.state, 900).regions, 'on');
    expect(maps).toHaveLength(5);
    for (const [place, { sets }] of maps.entries()) {
      const rest = terms.filter((_, other) => other !== place);
      expect(sets?.on).toEqual(rest);
      const off = await run(oneScore, { ...settings, on: rest.join('.') });
      const [back] = clicked(off.figure.scene(off.data, off.state, 900).regions, 'on').slice(place);
      expect(back?.sets?.on).toEqual(terms);
    }
  });

  test.runIf(inject('withModel'))(
    'the strip has the shares of every head, and a click chooses one',
    async () => {
      const { figure, data, state } = await run(oneScore, { text: 'The bank of the river' });
      const known = await run(heads, { text: 'The bank of the river' });
      data.heads.forEach((shares: number[], head: number) => {
        expect(shares).toEqual(known.data.rows[head].shares);
      });
      const { regions, marks } = figure.scene(data, state, 900);
      const bars = clicked(regions, 'head');
      expect(bars.map(({ sets }) => sets?.head)).toEqual([...data.heads.keys()]);
      // Each bar's pieces are as high as its shares are large.
      const { x, y } = bars[2] as Region;
      const pieces = marks.filter(
        (mark): mark is BoxMark =>
          mark.mark === 'box' && mark.x === x && mark.fill !== undefined && mark.y < y + 50,
      );
      const high = pieces.reduce((sum, { height }) => sum + height, 0);
      pieces.forEach(({ height, fill }) => {
        expect(height / high).toBeCloseTo(data.heads[2][terms.indexOf(fill as never)], 1);
      });
      expect(pieces.length).toBe(5);
    },
  );
});

// The equation over drawn tables and layers of any size: each map against sums made here.
describe('one score tables', () => {
  /** A bare layer of drawn rows, its tables, everything raw. */
  const bareTables = (settings: Record<string, string | number> = {}) =>
    run(oneScore, {
      ...{ weights: 'seeded', head: 0, gauge: 'raw', centred: 'no', tables: 'yes', layer: 'bare' },
      ...{ positions: 'interleaved', d: 64, n: 24, heads: 4, ...settings },
    });

  test.each([
    { n: 2, d: 4, heads: 8, head: 7 },
    { n: 64, d: 256, heads: 1, scale: 4 },
    { n: 3, scale: 0, seed: 4294967295 },
  ])('%o is drawn', async (settings) => {
    expectSoundPictures(await bareTables(settings));
  });

  const dot = (a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, d: number) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += (a[i * d + c] as number) * (b[j * d + c] as number);
    return sum;
  };

  test('every map is made of the tables, whatever the positions', async () => {
    const superpose = await load();
    const [n, d, heads, head] = [6, 16, 4, 2];
    const width = d / heads;
    for (const positions of Object.keys(oneScore.figure.controls.positions.options)) {
      const { data } = await bareTables({ n, d, heads, head, scale: 1.5, seed: 9, positions });
      const { token, position, sum } = data.tables.rows;
      const weight = (stream: number) =>
        superpose.randomNormal({ rows: d, columns: d, seed: 9, stream, standardDeviation: 0.25 }).data;
      const project = (weights: Float64Array, rows: Float64Array) =>
        Float64Array.from({ length: n * width }, (_, at) =>
          dot(rows, Math.floor(at / width), weights, head * width + (at % width), d),
        );
      const [query, key] = [weight(2), weight(3)];
      const score = (q: Float64Array, k: Float64Array, i: number, j: number) =>
        dot(project(query, q), i, project(key, k), j, width) / Math.sqrt(width);
      for (let cell = 0; cell < n * d; cell++) {
        expect(sum[cell]).toBeCloseTo(token[cell] + position[cell], 12);
      }
      for (let i = 0; i < n; i++) {
        let total = 0;
        for (let j = 0; j < n; j++) total += Math.exp(data.logits.sum[i * n + j]);
        for (let j = 0; j < n; j++) {
          const cell = i * n + j;
          const concatenated = dot(token, i, token, j, d) + dot(position, i, position, j, d);
          expect(data.tables.products.concatenated[cell]).toBeCloseTo(concatenated, 10);
          expect(data.tables.products.added[cell]).toBeCloseTo(dot(sum, i, sum, j, d), 10);
          const four = [
            [token, token],
            [token, position],
            [position, token],
            [position, position],
          ] as [Float64Array, Float64Array][];
          four.forEach(([q, k], place) => {
            expect(data.panels[place].sum[cell]).toBeCloseTo(score(q, k, i, j), 10);
          });
          // Nothing else is in a bare layer.
          expect(data.panels[4].sum[cell]).toBe(0);
          expect(data.logits.sum[cell]).toBeCloseTo(score(sum, sum, i, j), 10);
          expect(data.kept.softmax[cell]).toBeCloseTo(Math.exp(data.logits.sum[cell]) / total, 10);
        }
      }
      const shares: number[] = data.panels.map(({ share }: { share: number }) => share);
      expect(shares.reduce((all, share) => all + share, 0)).toBeCloseTo(1, 10);
    }
  });

  test('the table has every value of the maps and of the tables', async () => {
    const { figure, data, state } = await bareTables({ n: 3, d: 8 });
    const { rows } = figure.table(data, state);
    // Three tables, two of products, five terms, score and attention, and the residual.
    expect(rows).toHaveLength(3 * 3 * 8 + 2 * 9 + 5 * 9 + 2 * 9 + 1);
    expect(rows).toContainEqual(['x + ρp', 2, 5, data.tables.rows.sum[2 * 8 + 5], 'raw']);
    expect(rows).toContainEqual(['added', 1, 2, data.tables.products.added[5], 'raw']);
  });

  test('a layer with LayerNorm and biases has a rest, a bare one none', async () => {
    const settings = { weights: 'seeded', d: 32, heads: 4, n: 5 };
    const whole = (await run(oneScore, settings)).data;
    expect(Math.max(...whole.panels[4].sum.map(Math.abs))).toBeGreaterThan(0.01);
    expect(whole.residual).toBeLessThan(1e-12);
    const bare = (await run(oneScore, { ...settings, layer: 'bare', gauge: 'raw' })).data;
    expect(bare.panels[4].sum.every((value: number) => value === 0)).toBe(true);
  });

  test.runIf(inject('withModel'))('a sentence through MiniLM’s own layer, with its tables', async () => {
    const settings = { weights: 'trained', positions: 'own', head: 2 };
    const result = await bareTables(settings);
    expectSoundPictures(result);
    expect(result.figure.tokens?.(result.data, result.state)).toContain('river');
    const model = await loadMiniLM(await load());
    const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
    const text = result.state.text as string;
    const scores = await model.decompose(text, { only: [2], groups, gauge: 'raw' });
    const shares = sharesOf(scores, 2);
    [0, 1, 3, 4].forEach((index, place) => {
      expect(result.data.panels[place].share).toBeCloseTo(shares[index] as number, 10);
    });
    result.data.logits.sum.forEach((value: number, cell: number) => {
      expect(value).toBeCloseTo(scores.logits[cell] as number, 10);
    });
    // In the other gauge it is the library's too.
    const canonical = await run(oneScore, { head: 2, text });
    const wanted = sharesOf(await model.decompose(text, { only: [2], groups }), 2);
    [0, 1, 3, 4].forEach((index, place) => {
      expect(canonical.data.panels[place].share).toBeCloseTo(wanted[index] as number, 10);
    });
  });
});
