// The craft of every picture. All pictures and style sheets use one table of type sizes, none below 13
// pixels, not even for indices. Maps of queries and keys name their edges. Rust stands for what is
// concatenated, blue for the token and magenta for the position.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { channelsOf, inks } from '../../web/plot/colour.ts';
import type { Ink, Mark, RasterMark } from '../../web/plot/scene.ts';
import { type Shape, shapesOf } from '../../web/plot/shapes.ts';
import { sizes } from '../../web/plot/sizes.ts';
import { computeOf } from '../../web/worker/answers.ts';
import { root } from '../package/support/project.ts';
import { run, shorter } from './support.ts';

const withModel = test.runIf(inject('withModel'));
const allowed: number[] = Object.values(sizes);

test('there are six sizes of type, and the least is 13', () => {
  expect(allowed).toHaveLength(6);
  expect(Math.min(...allowed)).toBe(13);
});

test.each([
  ['web/element/element.css', ['0.6rem']],
  ['web/element/controls.css', []],
  ['web/page/page.css', ['11px']],
  ['web/page/embedBuilder.css', []],
  ['web/build/site/reference.css', []],
])('%s has no others', (file, except) => {
  const css = readFileSync(join(root, file), 'utf8');
  const others = [...css.matchAll(/font-size: ([^;]+);/g)].flatMap(([, size = '']) =>
    Object.keys(sizes).some((name) => size === `var(--size-${name})`) ? [] : [size],
  );
  // Two exceptions: a swatch has no text, so its size is that of a coloured square; and on paper all sizes
  // are smaller.
  expect(others).toEqual(except);
});

const fontSize = ({ attributes }: Shape) => attributes.find(([name]) => name === 'font-size')?.[1];

withModel.each(Object.keys(figures))('type in the pictures of %s', async (name) => {
  const figure = await (figures[name] as () => Promise<AnyFigure>)();
  const compute = await computeOf(name);
  if (!compute) throw new Error(`${name} cannot be computed.`);
  const { data, state } = await run({ figure, compute }, shorter[name]);
  for (const width of [390, 1048]) {
    for (const shape of shapesOf(figure.scene(data, state, width).marks, true)) {
      if (shape.name !== 'text') continue;
      expect(allowed, shape.text).toContain(Number(fontSize(shape)));
      for (const span of shape.spans ?? []) {
        const size = fontSize(span);
        if (size !== undefined) expect(Number(size), span.text).toBeGreaterThanOrEqual(13);
      }
    }
  }
});

/**
 * Figures with other maps: weights have no queries and keys, and the tiles of `schemes` have their number
 * instead.
 */
const otherMaps = ['one-layer', 'schemes'];

withModel('maps of queries and keys, or of two positions, have names at their edges', async () => {
  const seen: string[] = [];
  for (const name of Object.keys(figures).filter((name) => !otherMaps.includes(name))) {
    const figure = await (figures[name] as () => Promise<AnyFigure>)();
    const compute = await computeOf(name);
    if (!compute) throw new Error(`${name} cannot be computed.`);
    const { data, state } = await run({ figure, compute }, shorter[name]);
    for (const width of [390, 1048]) {
      const { marks } = figure.scene(data, state, width);
      const texts = marks.filter((mark) => mark.mark === 'text');
      const maps = marks.filter((mark) => mark.mark === 'raster' && mark.rows === mark.columns);
      for (const { x, y, width: wide, height: high } of maps as RasterMark[]) {
        const below = texts.find(
          (text) =>
            text.x === x + wide && text.y > y + high && text.y < y + high + 20 && /→$/.test(text.text),
        );
        const beside = texts.find((text) => text.turn === -90 && text.y === y && text.x < x);
        expect([below?.text, beside?.text], `${name}, ${width} px wide`).toEqual([
          expect.stringMatching(/^(key|position q) →$/),
          expect.stringMatching(/^← (query|position p)$/),
        ]);
        seen.push(name);
      }
    }
  }
  expect([...new Set(seen)].sort()).toEqual(['beside-added', 'depth', 'four-tasks', 'gram', 'one-score']);
});

const inksOf = (mark: Mark): (Ink | undefined)[] =>
  mark.mark === 'path' || mark.mark === 'box'
    ? [mark.stroke, mark.fill]
    : mark.mark === 'raster'
      ? []
      : [mark.ink, ...(mark.mark === 'text' ? (mark.spans ?? []).map((span) => span.ink) : [])];

/** What a picture must speak of if it uses a colour. */
const meanings: [Ink, RegExp][] = [
  ['concatenated', /concat|W₂/i],
  ['token-token', /token/i],
  ['position-position', /position|PE\(p\)|sines|channel|shift/i],
];

withModel.each(Object.keys(figures))('one colour has one meaning in %s', async (name) => {
  const figure = await (figures[name] as () => Promise<AnyFigure>)();
  const compute = await computeOf(name);
  if (!compute) throw new Error(`${name} cannot be computed.`);
  for (const settings of [{}, ...(views[name] ?? [])]) {
    const { data, state } = await run({ figure, compute }, { ...shorter[name], ...settings });
    const { marks } = figure.scene(data, state, 1048);
    const words = marks.map((mark) => (mark.mark === 'text' ? mark.text : '')).join(' ');
    for (const [ink, spokenOf] of meanings) {
      const used = marks.filter((mark) => inksOf(mark).includes(ink));
      if (used.length > 0) expect(`${words} ${figure.title}`, `${name}: ${ink}`).toMatch(spokenOf);
      // A bold name in a colour must name what has the colour.
      for (const mark of used)
        if (mark.mark === 'text' && !mark.spans && mark.bold) expect(mark.text).toMatch(named[ink] ?? /./);
    }
  }
});

const named: Partial<Record<Ink, RegExp>> = {
  concatenated: /concat|%|^\d/i,
  'token-token': /token|W₁/i,
  'position-position': /position|W₂|^\d/i,
};

/** Further pictures of figures that have several. */
const views: Record<string, Record<string, string>[]> = {
  collisions: [{ of: 'token' }],
  gram: [{ of: 'shift' }],
  overlap: [{ of: 'subspaces' }, { of: 'vectors' }],
  encoding: [{ of: 'base' }],
  'needs-positions': [{ view: 'readers' }],
};

test('other schemes and noise have a hue that is far from those of token, position and concatenated', () => {
  for (const theme of ['light', 'dark'] as const) {
    const hue = (ink: Ink) => {
      const [red = 0, green = 0, blue = 0] = channelsOf(inks[theme][ink]);
      return (180 / Math.PI) * Math.atan2(Math.sqrt(3) * (green - blue), 2 * red - green - blue);
    };
    for (const other of ['token-token', 'position-position', 'concatenated'] as const) {
      const apart = Math.abs(hue('second') - hue(other)) % 360;
      expect(Math.min(apart, 360 - apart), `${theme} ${other}`).toBeGreaterThan(45);
    }
  }
});
