// One score: its terms, and the heads beside them.
import { load, loadMiniLM, sharesOf } from 'add-or-concatenate';
import { describe, expect, inject, test } from 'vitest';
import * as heads from '../../web/figures/heads.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import { terms } from '../../web/figures/terms.ts';
import type { BoxMark, Region } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

// The equation in pictures: what a click on it does, and the strip from which heads are chosen.
describe.runIf(inject('withModel'))('one score', () => {
  const clicked = (regions: Region[], setting: string) =>
    regions.filter(({ sets }) => sets && setting in sets);

  test.each([{ view: 'sixteen' }, { gauge: 'raw', centred: 'no', on: '' }])('as %o', async (settings) => {
    expectSoundPictures(await run(oneScore, { text: 'The bank of the river', ...settings }));
  });

  test('a term map that is clicked is a term switched off, and on again', async () => {
    const settings = { text: 'The bank' };
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

  test('the strip has the shares of every head, and a click chooses one', async () => {
    const { figure, data, state } = await run(oneScore, { text: 'The bank of the river' });
    const known = await run(heads, { text: 'The bank of the river' });
    data.heads.forEach((shares: number[], head: number) => {
      // There the shares come from nine terms, here from sixteen, each in float.
      shares.forEach((share, term) => {
        expect(Math.abs(share - known.data.rows[head].shares[term])).toBeLessThan(2e-7);
      });
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
  });

  test('a sentence through MiniLM’s own layer', async () => {
    const result = await run(oneScore, { head: 2, gauge: 'raw', centred: 'no' });
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
    expect(result.figure.table(result.data, result.state).rows.at(-1)).toContain(result.data.residual);
    // In the other gauge the numbers are the library's, too.
    const canonical = await run(oneScore, { head: 2, text });
    const expected = sharesOf(await model.decompose(text, { only: [2], groups }), 2);
    [0, 1, 3, 4].forEach((index, place) => {
      expect(canonical.data.panels[place].share).toBeCloseTo(expected[index] as number, 10);
    });
  });
});
