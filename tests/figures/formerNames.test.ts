// Former names of figures: each leads to a figure of today, with its settings.
import { describe, expect, test } from 'vitest';
import { readLink } from '../../web/element/link.ts';
import { type Controls, readState, type State } from '../../web/figures/controls.ts';
import { formerNames, formerSchemes, keptOf, today } from '../../web/figures/formerNames.ts';
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

describe('former names of schemes', () => {
  const written = [
    ['schemes', 'scheme', 'added', 'add'],
    ['schemes', 'scheme', 'concatenated-raw', 'concat-raw'],
    ['schemes', 'scheme', 'concatenated-full', 'concat-full'],
    ['schemes', 'scheme', 'concatenated-block-diagonal', 'concat-block-diagonal'],
    ['add-or-concatenate', 'form', 'widened', 'concat-wide'],
    ['add-or-concatenate', 'form', 'divided', 'concat'],
    ['schemes-tasks', 'schemes', 'wide', 'concat-wide'],
    ['schemes-tasks', 'schemes', 'every_layer', 'every-layer'],
    ['schemes-tasks', 'schemes', 'row_gate', 'row-gate'],
    ['four-tasks', 'scheme', 'sinusoid', 'add-sinusoid'],
    ['four-tasks', 'scheme', 'frozen', 'add-frozen'],
  ] as const;
  // The command alone had these.
  const ofCommand = ['wide_concat', 'floor'];

  test('each has a link of its day here', () => {
    expect([...written.map(([, , was]) => was as string), ...ofCommand].sort()).toEqual(
      Object.keys(formerSchemes).sort(),
    );
  });

  test.each(written)('%s, %s=%s shows %s', async (figure, setting, was, now) => {
    const link = readLink(`#v=1&figure=${figure}&${setting}=${was}`);
    if (!link || 'refused' in link) throw new Error('It was refused.');
    const { controls } = (await figures[figure]?.()) ?? { controls: {} };
    const { state, refused } = readState(controls, link.settings);
    expect(refused).toEqual([]);
    expect([(state as State)[setting]].flat()).toEqual([now]);
    // No option of today is hidden by a former name.
    expect((controls as Controls)[setting]).not.toHaveProperty(['options', was]);
  });

  test('beside names of today in a list, once each', async () => {
    const { controls } = (await figures['schemes-tasks']?.()) ?? { controls: {} };
    const read = (schemes: string) => readState(controls as Controls, [['schemes', schemes]]);
    expect(read('add.wide.row_gate.sinusoid').state.schemes).toEqual([
      'add',
      'concat-wide',
      'row-gate',
      'add-sinusoid',
    ]);
    expect(read('wide.concat-wide').refused).toHaveLength(1);
    expect(read('add.toString').refused).toHaveLength(1);
  });
});
