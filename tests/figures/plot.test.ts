// The steps from a number to the picture, and to a file of numbers.

import { load } from 'add-or-concatenate';
import { bin, quantile } from 'd3-array';
import { describe, expect, test } from 'vitest';
import { sizeWithin } from '../../web/figures/oneScore.ts';
import { cloudOf } from '../../web/plot/canvas.ts';
import { colourStep, inks, rasterPixels, type Theme } from '../../web/plot/colour.ts';
import { csvOf } from '../../web/plot/csv.ts';
import { bars, counts, lineThrough, plane } from '../../web/plot/parts.ts';
import { type Mark, type RasterMark, roundDots, type ScaleName } from '../../web/plot/scene.ts';
import { shapesOf } from '../../web/plot/shapes.ts';
import { svgPicture } from '../../web/plot/svg.ts';

// The steps from a number to the picture: colours of maps, bins of histograms.
describe('plot', () => {
  const drawn = async (columns: number, seed: number) =>
    (await load()).randomUniform({ rows: 1, columns, seed }).data;

  test('the size that most values stay within is their quantile, whatever their sign', async () => {
    const values = (await drawn(501, 4)).map((part) => part - 0.5);
    for (const part of [0, 0.5, 0.99, 1]) {
      const expected = quantile(values, part, Math.abs);
      expect(sizeWithin([values.slice(0, 100), [Number.NaN], values.slice(100)], part)).toBe(expected);
    }
    expect(sizeWithin([Float32Array.of(-3, 1, 2)], 0.5)).toBe(2);
    expect(sizeWithin([[], [Number.NaN]], 0.99)).toBeUndefined();
  });

  test('a colour is the nearest of 256 steps from low to high, and the end one beyond', async () => {
    for (const [low, high] of [
      [-1, 1],
      [0, 1e-9],
      [-3e5, -2e5],
    ] as const) {
      for (const part of await drawn(2000, 1)) {
        const value = low + (1.4 * part - 0.2) * (high - low);
        const step = colourStep(value, low, high);
        const expected = Math.round((255 * (value - low)) / (high - low));
        expect(step).toBe(Math.max(0, Math.min(255, expected)) + 0);
      }
    }
    expect([-Infinity, -1, 0, 1, Infinity].map((value) => colourStep(value, -1, 1))).toEqual([
      0, 0, 128, 255, 255,
    ]);
    expect(colourStep(3, 2, 2)).toBe(0);
  });

  /** Red, green and blue of a row of values, all of which must be opaque. */
  const colours = (values: number[], low: number, high: number, scale: ScaleName, theme: Theme) => {
    const place = { x: 0, y: 0, width: 9, height: 1, rows: 1, columns: values.length };
    const raster: RasterMark = { mark: 'raster', ...place, values, low, high, scale };
    const bytes = new Uint8Array(rasterPixels(raster, theme).buffer);
    return values.map((_, k) => {
      expect(bytes[4 * k + 3]).toBe(255);
      return [...bytes.subarray(4 * k, 4 * k + 3)];
    });
  };

  test('a diverging scale is teal below zero and red above it, on light paper and on dark: blue is the token’s', () => {
    for (const theme of ['light', 'dark'] as const) {
      const at = (value: number) => {
        const [[red, green, blue]] = colours([value], -1, 1, 'diverging', theme) as [
          [number, number, number],
        ];
        return { red, green, blue };
      };
      for (const size of [0.3, 0.6, 1]) {
        expect(at(-size).blue).toBeGreaterThan(at(-size).red);
        // The token’s blue has far more blue than green.
        expect(Math.abs(at(-size).blue - at(-size).green)).toBeLessThan(16);
        expect(at(size).red).toBeGreaterThan(at(size).blue);
      }
    }
  });

  test('bins hold what d3 puts into them, the largest value in the last', async () => {
    for (const count of [1, 7, 64]) {
      const values = [...(await drawn(1000, 2))].map((part) => 5 * part - 2.3);
      const [low, high] = [-2, 2];
      const edges = Array.from({ length: count - 1 }, (_, k) => low + ((high - low) * (k + 1)) / count);
      const expected = bin().domain([low, high]).thresholds(edges)([...values, low, high]);
      expect(counts([...values, low, high], low, high, count)).toEqual(expected.map((value) => value.length));
    }
  });

  test('what is no number has a colour of its own, which no value has', () => {
    for (const theme of ['light', 'dark'] as const) {
      for (const scale of ['diverging', 'sequential'] as const) {
        const map = (values: number[], low: number, high: number): string[] =>
          colours(values, low, high, scale, theme).map((rgb) => `#${Buffer.from(rgb).toString('hex')}`);
        const absent = theme === 'light' ? inks.light.line : inks.dark.paper;
        const [lowest, none, highest] = map([-1, Number.NaN, 1], -1, 1);
        expect(none).toBe(absent);
        const values = Array.from({ length: 511 }, (_, k) => k / 255 - 1);
        expect(new Set(map(values, -1, 1))).not.toContain(absent);
        expect([lowest, highest]).toEqual(map([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY], -1, 1));
        // An undefined scale gives the neutral colour; a constant map shows that it is constant.
        expect(map([0, Number.NaN], Number.NaN, Number.NaN)).toEqual([absent, absent]);
        expect(map([0, Number.NaN], 0, 0)).toEqual([lowest, absent]);
      }
    }
  });

  const area = { x: 0, y: 0, width: 400, height: 200 };
  const finite = (marks: readonly Mark[]) => expect(JSON.stringify(marks)).not.toMatch(/null|NaN|Infinity/);

  test.each([1e-300, 1e-12, 0.3, 1, 7, 1e6, 1e17, 1e300])(
    'an axis of one point, %s, has a place for it',
    (value) => {
      for (const logarithmic of [false, true]) {
        for (const nice of [false, true]) {
          const options = { from: value, to: value, label: 'x', logarithmic, nice };
          const drawn = plane(area, options, options);
          finite(drawn.marks);
          const { inner } = drawn;
          expect(drawn.x(value)).toBeGreaterThan(inner.x);
          expect(drawn.x(value)).toBeLessThan(inner.x + inner.width);
          expect(drawn.y(value)).toBeGreaterThan(inner.y);
          expect(drawn.y(value)).toBeLessThan(inner.y + inner.height);
        }
      }
    },
  );

  test('a line has a gap where a value or its place is no number', () => {
    const axis = { from: 1, to: 100, label: 'y', logarithmic: true };
    const { x, y } = plane(area, axis, axis);
    expect(lineThrough({ x, y }, [1, 2, 3, 4], [1, 0, 10, 20])).toMatch(/^M[\d.,]+M[\d.,]+L[\d.,]+$/);
    expect(lineThrough({ x, y }, [1, 0, 3, 4], [1, 2, Number.NaN, 20])).toMatch(/^M[\d.,]+M[\d.,]+$/);
  });

  test('bars start at zero, whatever their signs are', () => {
    for (const [low, high] of [
      [-5, -5],
      [-5, -2],
      [0, 0],
      [2, 5],
      [-2, 5],
    ] as const) {
      const list = [low, high].map((value) => ({
        label: 'a',
        value,
        text: String(value),
        ink: 'accent' as const,
      }));
      const marks = bars(area, list, low, high);
      finite(marks);
      const boxes = marks.filter((mark) => mark.mark === 'box');
      const zero = marks.find((mark) => mark.mark === 'line')?.x1 as number;
      for (const [k, { x, width }] of boxes.entries()) {
        const value = [low, high][k] as number;
        expect(Math.abs((value < 0 ? x + width : x) - zero)).toBeLessThan(1e-9);
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(400);
      }
    }
  });

  test('one place that is none takes no other dot away', async () => {
    const [x, y] = [
      [3, Number.NaN, 5],
      [3, 4, 5],
    ];
    const [sound, cloud] = [cloudOf([3, 5], [3, 5], 1, 0.5), cloudOf(x, y, 1, 0.5)];
    expect(sound?.hidden.some((value) => value > 0)).toBe(true);
    expect(cloud).toEqual(sound);
    expect(cloudOf([Number.NaN], [0], 1, 0.5)).toBeUndefined();
    const scene = (mark: Mark) => ({ width: 9, height: 9, marks: [mark], regions: [] });
    const dots = { mark: 'dots', radius: 1, ink: 'ink' } as const;
    const words = { theme: 'light', title: 't', description: 'd' } as const;
    expect(await svgPicture(scene({ ...dots, x, y }), words)).toBe(
      await svgPicture(scene({ ...dots, x: [3, 5], y: [3, 5] }), words),
    );
  });

  test('a saved picture has its texts as text, whatever signs are in them', async () => {
    const sentence = `<b>"&'\u0000`;
    const marks: Mark[] = [{ mark: 'text', x: 1, y: 1, text: sentence }];
    const words = { theme: 'light', title: sentence, description: sentence } as const;
    const svg = await svgPicture({ width: 9, height: 9, marks, regions: [] }, words);
    expect(svg.match(/<b|\0/g)).toBeNull();
    expect(svg.match(/&lt;b&gt;&quot;&amp;&#39;\ufffd/g)?.length).toBeGreaterThanOrEqual(3);
  });

  test('a picture for a page of its theme has no ground of its own', async () => {
    const scene = { width: 9, height: 9, marks: [], regions: [] };
    const words = { title: 't', description: 'd' };
    expect(await svgPicture(scene, { ...words, theme: 'light' })).toContain('<rect');
    expect(await svgPicture(scene, { ...words, theme: 'light', ground: false })).not.toContain('<rect');
    // The picture for both themes has no ground where its address chooses a theme.
    const pair = await svgPicture(scene, { ...words, theme: 'auto' });
    expect(pair).toContain('<rect width="9" height="9" class="ground f-paper"');
    expect(pair).toContain(':target>.ground,svg:target>g>.ground{fill:none}');
  });

  test('no tick’s label goes beyond the picture, where a saved one would be cut', () => {
    const { marks } = plane(
      { x: 0, y: 0, width: 300, height: 200 },
      { from: 0, to: 200, label: 'channel', nice: false },
      { from: 0, to: 1, label: 'value' },
    );
    const last = marks.find((mark) => mark.mark === 'text' && mark.text === '200') as { x: number };
    expect(last.x + (3 * 7) / 2).toBeLessThanOrEqual(300);
  });

  test('an axis without a name has no numbers', () => {
    const area = { x: 0, y: 0, width: 300, height: 200 };
    const texts = ({ marks }: { marks: Mark[] }) =>
      marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
    expect(texts(plane(area, { from: 0, to: 2 }, { from: 0, to: 1 })).join('')).toBe('');
    expect(
      texts(plane(area, { from: 0, to: 2, label: 'steps' }, { from: 0, to: 1, label: '% right' })),
    ).toEqual(expect.arrayContaining(['2', '1', 'steps →', '↑ % right']));
  });

  test('few dots are round and many are square, saved as on screen', () => {
    const drawn = (count: number) =>
      shapesOf(
        [{ mark: 'dots', x: Array(count).fill(1), y: Array(count).fill(1), radius: 2, ink: 'ink' }],
        true,
      )
        .flatMap(({ attributes }) => attributes)
        .find(([name]) => name === 'stroke-linecap')?.[1];
    expect([drawn(roundDots), drawn(roundDots + 1)]).toEqual(['round', 'square']);
  });
});

describe('csv', () => {
  test('a token comes out as it is, whatever a spreadsheet may take it for', () => {
    const rows = ['-', '+', '=', '@', '-5', '=1+1', "'"].map((token, place) => [token, 0 - place]);
    expect(csvOf({ columns: ['token', 'value'], rows })).toBe(
      "token,value\r\n-,0\r\n+,-1\r\n=,-2\r\n@,-3\r\n-5,-4\r\n=1+1,-5\r\n',-6\r\n",
    );
  });

  test('commas, quotes and line breaks stand in quotes', () => {
    expect(csvOf({ columns: ['a,b', 'c'], rows: [['say “"”', 'two\nlines']] })).toBe(
      '"a,b",c\r\n"say “""”","two\nlines"\r\n',
    );
  });
});
