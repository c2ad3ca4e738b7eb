// Former names of figures: each leads to a figure of today, with its settings.
import { expect, test } from 'vitest';
import { readLink } from '../../web/element/link.ts';
import { readState } from '../../web/figures/controls.ts';
import { formerNames, keptOf, today } from '../../web/figures/formerNames.ts';
import { figures } from '../../web/figures/index.ts';
import { oldLinks } from './oldLinks.ts';

test('each has a link of its day among the tests', () => {
  // Figures of a reader's own file are made when it is opened: see ownTable.test.ts.
  const ofPage = Object.keys(formerNames).filter((name) => !name.startsWith('own-'));
  expect(oldLinks.map(({ name }) => name).sort()).toEqual(ofPage.sort());
});

test.each(Object.keys(formerNames))('%s is not the name of a figure', (name) => {
  expect(figures).not.toHaveProperty(name);
  // Led on once, not from name to name.
  expect(formerNames).not.toHaveProperty(today(name).figure);
});

test.each(oldLinks)(
  'a link to $name is one to $figure, in the same state',
  async ({ name, was, figure, is }) => {
    for (const settings of [[], was]) {
      const link = readLink(`#${new URLSearchParams([['v', '1'], ['figure', name], ...settings])}`);
      if (!link || 'refused' in link) throw new Error('It was refused.');
      expect(link.figure).toBe(figure);
      const shown = await figures[figure]?.();
      const { state, refused } = readState(shown?.controls ?? {}, link.settings);
      expect(refused).toEqual([]);
      if (settings.length > 0) expect(shown?.settle?.(state, undefined) ?? state).toMatchObject(is);
      else expect(link.settings).toEqual(Object.entries(formerNames[name]?.shows ?? {}));
    }
  },
);

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is no former name', (name) => {
  const settings: [string, string][] = [['__proto__', 'x']];
  expect(today(name, settings)).toEqual({ figure: name, settings });
  expect(readLink(`#v=1&figure=${name}&a=b`)).toEqual({ figure: name, settings: [['a', 'b']] });
});

test.each(Object.keys(formerNames))('%s: a setting with a hostile name stays, to be refused', (name) => {
  const hostile = ['__proto__', 'constructor', 'toString'];
  const { settings } = today(
    name,
    hostile.map((setting) => [setting, '1']),
  );
  expect(settings.slice(-3).map(([setting]) => setting)).toEqual(hostile);
});

test('what the reader may change is kept under its name of today, in a frame’s address too', () => {
  expect(keptOf('cost', 'model d layers')).toEqual(['model', 'd_model', 'layers']);
  expect(keptOf('gram', 'd k')).toEqual(['d', 'k']);
  // A setting that is gone is not one that can be kept.
  expect(keptOf('mixing', 'tokens word')).toEqual(['word']);
  expect(readLink('#v=1&figure=cost&d=512&keep=model+d')).toEqual({
    figure: 'three-concats',
    settings: [
      ['d_model', '512'],
      ['keep', 'model d_model'],
    ],
  });
});
