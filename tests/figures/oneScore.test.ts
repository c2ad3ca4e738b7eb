// The equation in pictures: what a click on it does, and the strip that heads are chosen by.
import { expect, inject, test } from 'vitest';
import * as heads from '../../web/figures/heads.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import { terms } from '../../web/figures/terms.ts';
import type { BoxMark, Region } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

const clicked = (regions: Region[], setting: string) => regions.filter(({ sets }) => sets && setting in sets);

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
