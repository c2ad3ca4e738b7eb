// How settings in links, attributes and inputs become the values of figures.
import { expect, test } from 'vitest';
import {
  type Control,
  type Controls,
  initialState,
  nearestValue,
  read,
  readState,
  written,
} from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import {
  bibtex,
  type EmbedRequest,
  element,
  iframe,
  markdown,
  scriptTag,
  svgTag,
} from '../../web/page/snippets.ts';
import { captionOf } from '../../web/plot/format.ts';
import { wishOf } from '../embed/support/figures.ts';

const all = async () => {
  const namedControls: [string, Control][] = [];
  for (const load of Object.values(figures)) {
    const { name, controls } = await load();
    for (const [setting, control] of Object.entries(controls))
      namedControls.push([`${name} ${setting}`, control as Control]);
  }
  return namedControls;
};

test('at most three inputs of a figure are in sight beside its text, whichever picture is shown', async () => {
  for (const load of Object.values(figures)) {
    const { name, controls, unused } = await load();
    const first = initialState(controls);
    const states = Object.entries(controls as Controls).flatMap(([setting, control]) =>
      control.kind === 'choice'
        ? Object.keys(control.options).map((value) => ({ ...first, [setting]: value }))
        : [],
    );
    for (const state of [first, ...states]) {
      const hidden = unused?.(state) ?? [];
      const inSight = Object.entries(controls as Controls).flatMap(([setting, control]) =>
        control.more || control.kind === 'text' || hidden.includes(setting) ? [] : [setting],
      );
      // Two figures need four settings in sight. How near subspaces come to right angles depends on d, k₁ and
      // k₂ together. The first screen's task has its step, width and task, and the question of separate
      // scores.
      const four = name === 'add-or-concatenate' || (name === 'overlap' && state.of === 'subspaces');
      const most = four ? 4 : 3;
      expect(inSight.length, `${name}: ${inSight}`).toBeLessThanOrEqual(most);
    }
  }
});

test('a number beside the grid is the one on it, as its slider writes it', async () => {
  const ranges = (await all()).flatMap(([name, control]) =>
    control.kind === 'range' ? [[name, control] as const] : [],
  );
  expect(ranges.length).toBeGreaterThan(15);
  for (const [name, control] of ranges) {
    const { min, max, step } = control;
    const digits = Math.max(...[min, step].map((number) => String(number).split('.')[1]?.length ?? 0));
    for (let k = 0; min + k * step <= max + 1e-9; k++) {
      // With integers, because adding up a grid's steps rounds.
      const units = Math.round(min * 10 ** digits) + k * Math.round(step * 10 ** digits);
      const value = Number(`${units}e-${digits}`);
      const text = value.toFixed(digits);
      expect(read(control, text), `${name} ${text}`).toBe(value);
      for (const beside of [value + 1e-7 * step, value - 1e-7 * step]) {
        const near = beside.toFixed(12);
        if (Number(near) < min || Number(near) > max) continue;
        expect(Object.is(read(control, near), value), `${name} ${near}`).toBe(true);
      }
    }
    expect(read(control, (min + 0.5 * step).toFixed(9)), name).toBeUndefined();
    const steps = Math.floor((max - min) / step + 1e-6);
    for (const beyond of [min - step, min + (steps + 1) * step])
      expect(read(control, beyond.toFixed(9)), `${name} ${beyond}`).toBeUndefined();
  }
});

test('minus zero is zero', () => {
  const controls: Control[] = [
    { kind: 'range', label: 'r', min: -1, max: 1, step: 0.5, initial: 0 },
    { kind: 'steps', label: 's', values: [0, 1], initial: 0 },
    { kind: 'seed', label: 'e', initial: 1 },
  ];
  for (const control of controls) {
    for (const text of ['-0', '-0.0']) expect(Object.is(read(control, text), 0)).toBe(true);
  }
  expect(Object.is(read(controls[0] as Control, '-0.0000001'), 0)).toBe(true);
});

test('of several options each is named at most once, and nothing else is', () => {
  const control: Control = { kind: 'several', label: 's', options: { a: 'A', b: 'B' }, initial: ['a'] };
  expect(read(control, 'b.a')).toEqual(['b', 'a']);
  expect(read(control, '')).toEqual([]);
  for (const text of ['a.a', 'a.c', 'a.', 'a,b', 'toString']) expect(read(control, text)).toBeUndefined();
});

test('first values are values that can be read', async () => {
  for (const [name, control] of await all()) {
    expect(read(control, written(control, control.initial)), name).toEqual(control.initial);
  }
});

test('a setting that nobody knows is refused with those that exist, and the nearest', () => {
  const seed = { kind: 'seed', label: 'Seed', initial: 1 } as const;
  expect(
    readState({ seed, text: { kind: 'text', label: 'Text', initial: '', longest: 9 } }, [['seeed', '2']]),
  ).toEqual({
    state: { seed: 1, text: '' },
    refused: ['Unknown setting `seeed`. Settings: seed, text. Did you mean `seed`?'],
  });
});

test('a choice that does not exist is refused with those that do, and the nearest, if one is near', () => {
  const options = { 'concat-half': 'Half', 'concat-quarter': 'Quarter' };
  const controls = { way: { kind: 'choice', label: 'Way', options, initial: 'concat-half' } } as const;
  const refusal = (text: string) => readState(controls, [['way', text]]).refused;
  const sentence = (text: string) =>
    `“${text}” is not a value of Way, which takes one of concat-half, concat-quarter.`;
  expect(refusal('concat-quater')).toEqual([`${sentence('concat-quater')} Did you mean \`concat-quarter\`?`]);
  expect(refusal('xyz')).toEqual([sentence('xyz')]);
  const long = 'concat-half'.repeat(10_000);
  expect(refusal(long)).toEqual([sentence(`${long.slice(0, 40)}…`)]);
});

test('of many settings that nobody knows, a few are named and the others are counted', () => {
  const controls = { n: { kind: 'range', label: 'N', min: 1, max: 9, step: 1, initial: 2 } } as const;
  const unknown = (count: number) => Array.from({ length: count }, (_, k) => [`a${k}`, '1'] as const);
  const { state, refused } = readState(controls, unknown(14_000));
  expect(state).toEqual(initialState(controls));
  expect(refused).toEqual([
    'Unknown setting `a0`. Settings: n.',
    'Unknown setting `a1`. Settings: n.',
    'Unknown setting `a2`. Settings: n.',
    'And 13997 more settings could not be used.',
  ]);
  for (const count of [0, 1, 2, 3, 4])
    expect(readState(controls, unknown(count)).refused).toHaveLength(count);
  expect(readState(controls, unknown(5)).refused.at(-1)).toBe('And 2 more settings could not be used.');
});

test('a number that is dragged to becomes the nearest that can be set', () => {
  const range = { kind: 'range', label: '', min: 1, max: 4, step: 0.05, initial: 1 } as const;
  const targets = [-1, 1.024, 1.026, 2.6499, 9, Number.NaN];
  expect(targets.map((target) => nearestValue(range, target))).toEqual([1, 1, 1.05, 2.65, 4, undefined]);
  // In steps of 3 from 1, the last value that is not above 9 is 7.
  expect(nearestValue({ ...range, max: 9, step: 3 }, 100)).toBe(7);
  const steps = { kind: 'steps', label: '', values: [2, 8, 64], initial: 2 } as const;
  expect([0, 4.9, 5.1, 1000].map((target) => nearestValue(steps, target))).toEqual([2, 2, 8, 64]);
  expect(nearestValue({ kind: 'toggle', label: '', initial: true }, 1)).toBeUndefined();
});

test('a finding’s first sentence stands out, if it is short', () => {
  expect(captionOf('They overlap 0.31 times as much. The rest.')).toEqual([
    'They overlap 0.31 times as much.',
    ' The rest.',
  ]);
  expect(captionOf('One sentence.')).toEqual(['One sentence.', '']);
  const long = `${'word '.repeat(30)}end. The rest.`;
  expect(captionOf(long)).toEqual(['', long]);
});

test('what a stranger’s link holds is escaped for what reads a snippet, and for templates before that', async () => {
  const hostile = 'a %}{{ 7 * 7 }}{% x %} {} } "<b>" & \\ $1$ # _';
  const dotProducts = (await figures['dot-products']?.()) as AnyFigure;
  const { data } = await wishOf('dot-products', {}, '');
  const request: EmbedRequest = {
    figure: dotProducts,
    data,
    state: { ...initialState(dotProducts.controls), tokens: 'sentence', text: hostile },
    finding: hostile,
    home: 'https://example.org/',
    version: '1',
    theme: 'auto',
    keep: [],
    width: 800,
    height: 600,
  };
  const pieces = {
    markdown: markdown(request),
    element: element(request),
    scriptTag: scriptTag(request),
    svgTag: svgTag(request),
    iframe: iframe(request),
  };
  for (const [name, text] of Object.entries(pieces)) expect(text, name).not.toMatch(/\{\{|\{%|%\}|\}\}/);
  for (const html of [pieces.element, pieces.scriptTag, pieces.svgTag, pieces.iframe])
    expect(html).not.toMatch(/<b\b/);
  // CommonMark removes a backslash before each of these characters.
  const [, shown = ''] = pieces.markdown.match(/^\[!\[(.*?)\]\(dot-products-[0-9a-f]{8}\.svg\)/) ?? [];
  expect(shown.replace(/\\([!-/:-@[-`{-~])/g, '$1')).toBe(`${dotProducts.title}. ${hostile}`);
  // A percent sign alone is no markup, and not every Markdown removes a backslash before it.
  expect(markdown({ ...request, finding: 'It is 99 % of them.' })).toContain('It is 99 % of them.');
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  const attributeOf = (html: string, name: string) => {
    const [, escaped = ''] = html.match(new RegExp(` ${name}="([^"]*)"`)) ?? [];
    expect(escaped).not.toContain('<');
    return escaped.replace(/&(?:#(\d+)|(\w+));/g, (_, code, entity) =>
      code ? String.fromCharCode(code) : (named[entity] as string),
    );
  };
  expect(attributeOf(pieces.svgTag, 'alt')).toBe(`${dotProducts.title}. ${hostile}`);
  expect(attributeOf(pieces.element, 'text')).toBe(hostile);
  // BibTeX counts braces, even those after a backslash.
  const depths: number[] = [];
  for (const [sign] of bibtex(request, 2026).matchAll(/[{}]/g))
    depths.push((depths.at(-1) ?? 0) + (sign === '{' ? 1 : -1));
  expect([Math.min(...depths.slice(0, -1)), depths.at(-1)]).toEqual([1, 0]);
});
