// The figure "gauge", against decompositions of tables whose means are moved by hand.
import { load, loadMiniLM, sharesOf, type Table } from 'add-or-concatenate';
import { describe, expect, inject, test } from 'vitest';
import * as gauge from '../../web/figures/gauge.ts';
import { sentenceControl } from '../../web/figures/trainedModel.ts';
import { expectSoundPictures, run } from './support.ts';

const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
const fourOf = (nine: ArrayLike<number>) => [0, 1, 3, 4].map((term) => nine[term] as number);

describe.runIf(inject('withModel'))('of MiniLM', () => {
  const head = gauge.figure.controls.head.initial;

  test('the middle of the slider is the sentence as it is, raw and canonical', async () => {
    const result = await run(gauge);
    expectSoundPictures(result);
    const { amounts, raw, canonical, changes } = result.data;
    const middle = amounts.indexOf(0);
    expect(changes[middle]).toBe(0);
    const model = await loadMiniLM(await load());
    const sharesIn = async (gauge: 'raw' | 'canonical') =>
      fourOf(sharesOf(await model.decompose(sentenceControl.initial, { gauge, groups, only: [head] }), head));
    const expected = [await sharesIn('raw'), await sharesIn('canonical')];
    [raw, canonical].forEach((found, place) => {
      expected[place]?.forEach((share, kind) => {
        expect(found[middle][kind]).toBeCloseTo(share, 6); // 8.4e-8
      });
    });
  });

  test('scores and canonical shares stand still, raw ones do not', async () => {
    const { data, figure, state } = await run(gauge);
    const spread = (shares: number[][], kind: number) => {
      const values = shares.map((found) => found[kind] as number);
      return Math.max(...values) - Math.min(...values);
    };
    // Scores are in float: the largest differences seen are 1.4e-6 of scores, 2.6e-7 of shares and 2.0e-7 of
    // their sums.
    expect(Math.max(...data.changes)).toBeLessThan(1e-5);
    for (let kind = 0; kind < 5; kind++) expect(spread(data.canonical, kind)).toBeLessThan(1e-6);
    expect(spread(data.raw, 2)).toBeGreaterThan(0.2);
    for (const shares of [...data.raw, ...data.canonical]) {
      expect(shares.reduce((a: number, b: number) => a + b)).toBeCloseTo(1, 6);
    }
    // A shift occurs at most once in each of a term's two parts, so shares are parabolas in it.
    for (let kind = 0; kind < 5; kind++) {
      for (let at = 3; at < data.amounts.length; at++) {
        const [a, b, c, d] = [0, 1, 2, 3].map((back) => data.raw[at - back][kind]) as [
          number,
          number,
          number,
          number,
        ];
        expect(a - 3 * b + 3 * c - d).toBeCloseTo(0, 5); // 8.2e-7
      }
    }
    expect(figure.describe(data, state)).toContain('The canonical shares change by 0 (rounding)');
  });

  test('raw shares of moved tables are those of tables moved by hand', async () => {
    const { data } = await run(gauge, { head: 3 });
    const superpose = await load();
    const model = await loadMiniLM(superpose);
    const summands = await model.rows(await model.tokenize(sentenceControl.initial));
    const { rows, columns, data: table } = summands.position;
    const mean = Float64Array.from({ length: columns }, (_, c) => {
      let sum = 0;
      for (let row = 0; row < rows; row++) sum += table[row * columns + c] as number;
      return sum / rows;
    });
    for (const place of [0, 13, 40]) {
      const amount = data.amounts[place] as number;
      const moved = (of: Table<Float64Array>, by: number) => ({
        ...of,
        data: of.data.map((x, cell) => x + by * (mean[cell % columns] as number)),
      });
      const scores = superpose.decompose({
        summands: {
          ...summands,
          token: moved(summands.token, amount),
          position: moved(summands.position, -amount),
        },
        ...(await model.layer()),
        groups,
        gauge: 'raw',
        excludedRows: [0],
        only: [3],
      });
      fourOf(sharesOf(scores, 3)).forEach((share, kind) => {
        expect(data.raw[place][kind]).toBeCloseTo(share, 9);
      });
    }
  });

  test.each(['', 'x', 'many words '.repeat(300)])('a text of any length: %#', async (text) => {
    const result = await run(gauge, { text, amount: -2 });
    expectSoundPictures(result);
  });
});
