// The figure "beside-added": the scores of a scheme beside those of added positions.
import { expect, test } from 'vitest';
import * as besideAdded from '../../web/figures/besideAdded.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { expectSoundPictures, run } from './support.ts';

const ids = Object.keys(besideAdded.figure.controls.scheme.options);

test.each([
  ['rope', 'same', 'no'],
  ['t5', 'many', 'yes'],
])(
  '%s with tokens “%s”, causal: %s, has the scores of the figure of all schemes',
  async (scheme, words, causal) => {
    const settings = { scheme, words, causal, seed: 3 };
    const { data } = await run(besideAdded, settings);
    const { data: all } = await run(schemes, settings);
    expect(data.n).toBe(all.n);
    for (const { id, logits, softmax } of data.sides) {
      expect(logits.values).toEqual(all.schemes[id].logits.values);
      expect(softmax).toEqual(all.schemes[id].softmax);
    }
    expect(data.sides.map(({ id }: { id: string }) => id)).toEqual(['add', scheme]);
    expect(data.sides[1].tex).toBe(all.tex);
    expect(data.sides[1].parameters).toBe(all.parameters);
  },
);

test('RoPE’s scores are those of the offset alone, and those of added positions are not', async () => {
  const { figure, data, state } = await run(besideAdded);
  const { n, sides } = data;
  const spread = sides.map(({ logits }: { logits: { values: Float64Array } }) => {
    let most = 0;
    for (let i = 1; i < n; i++) {
      for (let j = 1; j < n; j++)
        most = Math.max(
          most,
          Math.abs((logits.values[i * n + j] as number) - (logits.values[(i - 1) * n + j - 1] as number)),
        );
    }
    return most;
  });
  expect(spread[1]).toBeLessThan(1e-12);
  expect(spread[0]).toBeGreaterThan(0.1);
  expect(figure.describe(data, state)).toMatch(
    /^RoPE: for the same two tokens only the offset matters\. Added: the offset explains \d+\s%.* RoPE adds no parameters/,
  );
});

test.each(ids)('its pictures are sound beside Added: %s', async (scheme) => {
  expectSoundPictures(await run(besideAdded, { scheme }));
});
