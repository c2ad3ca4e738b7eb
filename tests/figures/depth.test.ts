// The figures that read all layers, "depth" and "needs-positions", against recordings and an oracle.
import { statSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { initialState } from '../../web/figures/controls.ts';
import * as depth from '../../web/figures/depth.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import * as needsPositions from '../../web/figures/needsPositions.ts';
import { layersControl } from '../../web/figures/trainedModel.ts';
import type { Scene } from '../../web/plot/scene.ts';
import { memoizer } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import depthOracle from '../reference/depth.json' with { type: 'json' };
import valuesOracle from '../reference/values.json' with { type: 'json' };
import { expectSoundPictures, run } from './support.ts';

describe.runIf(inject('withModel'))('of all layers', () => {
  const nothing = async () => {
    throw new Error('Nothing may be fetched.');
  };
  const alone = { signal: new AbortController().signal, progress() {} };
  /** The first view, which shows what was computed beforehand. */
  const opened = async ({ figure, compute }: typeof depth | typeof needsPositions, settings = {}) => {
    const state = { ...initialState(figure.controls), ...settings } as never;
    const library = {
      memoize: memoizer(),
      small: nothing,
      superpose: nothing,
      miniLM: nothing,
      recorded,
    };
    return { figure, state, data: (await compute(library, state, alone)) as never };
  };

  test('they open on all six layers, and fetch nothing of the model', async () => {
    const complete = await opened(depth);
    const { heads, states, attention, tokens } = complete.data as Awaited<ReturnType<typeof depth.compute>>;
    expect([heads.length, states.length, attention.length]).toEqual([6, 7, 6]);
    expect(attention[5]).toHaveLength(12 * tokens.length ** 2);
    expect(complete.figure.describe(complete.data, complete.state)).toContain(
      'The scores use it most in layer 1',
    );
    for (const pair of Object.keys(needsPositions.figure.controls.pair.options)) {
      const { figure, data, state } = await opened(needsPositions, { pair });
      expect(figure.describe(data, state)).toContain(' after the last layer, ');
      // The reader's own sentence has an effect only once the layers are read.
      expect(figure.unused?.(state)).toEqual(expect.arrayContaining(['text', 'other', 'shift', 'seed']));
    }
    expect(complete.figure.unused?.(complete.state)).toEqual(['text']);
    expect(depth.figure.unused?.({ ...(complete.state as object), layers: 'all' } as never)).toEqual([]);
  });

  test('what is shown beforehand is what it is here', async () => {
    for (const figure of [depth, needsPositions]) {
      const result = await run(figure);
      expectSoundPictures(result);
      expect(result.state.layers).toBe('none');
    }
    const here = await run(needsPositions, { layers: 'all', pair: 'teacher' });
    const before = await run(needsPositions, { pair: 'teacher' });
    expect(before.figure.describe(before.data, before.state)).toBe(
      here.figure.describe(here.data, here.state),
    );
  });

  /** A reader's own model has nothing that was computed beforehand. */
  const early = async ({ figure, compute }: typeof depth | typeof needsPositions) => {
    const state = initialState(figure.controls) as never;
    const data = (await compute({ ...library() }, state, alone)) as never;
    return { figure: figure as never as AnyFigure, state, data: data as never as Early };
  };
  /** What the first layer alone gives: see userModel.test.ts. */
  const first = async () => {
    const { data, ...shown } = await run(depth);
    const { heads, attention } = data;
    return {
      ...shown,
      data: { ...data, states: [], heads: heads.slice(0, 1), attention: attention.slice(0, 1) },
    };
  };
  type Early = Record<string, never[]> & { heads: number[][] };

  test('without that there is what the first scores and the tables give', async () => {
    for (const opened of [await early(needsPositions), await first()]) expectSoundPictures(opened);
  });

  test('what is not here keeps room for as many layers as the model has', async () => {
    const wordsOf = ({ marks }: Scene) => marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
    const { figure, data, state } = await early(needsPositions);
    expect(wordsOf(figure.scene(data, state, 700))).toEqual(expect.arrayContaining(['5', '6']));
    const two = wordsOf(figure.scene({ ...(data as object), layers: 2 }, state, 700));
    expect(two).toContain('2');
    expect(two).not.toContain('3');
    const shown = await first();
    const { heads } = shown.data;
    const complete = shown.figure.scene({ ...shown.data, heads: Array(6).fill(heads[0]) }, shown.state, 700);
    expect(shown.figure.scene(shown.data, shown.state, 700).height).toBe(complete.height);
  });

  test('the control says how many bytes they are', async () => {
    const folder = new URL('../../build/model/', import.meta.url);
    const files = Array.from({ length: 6 }, (_, layer) => new URL(`encoder-${layer}.bin`, folder));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(layersControl.options.all).toContain(`${(bytes / 1e6).toFixed(1)} MB`);
  });

  // The corpus is the project's own; figures from another one agree within five points.
  test('where position goes is what was measured on another corpus, within five points', async () => {
    // userModel.test.ts tests whether MiniLM's own file gives the same numbers, and recorded.long.test.ts
    // whether all layers do.
    const result = await run(depth);
    const { data } = result;
    const { states } = depthOracle.shared_corpus.mean;
    for (const [place, expected] of states.entries()) {
      expect(Math.abs(data.states[place].energy - expected.position_energy)).toBeLessThan(0.05);
      expect(Math.abs(data.states[place].table - expected.cosine_with_table)).toBeLessThan(0.05);
      expect(Math.abs(data.states[place].directions - expected.participation_ratio)).toBeLessThan(0.5);
    }
    const mean = (shares: number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const expectedValues = depthOracle.shared_corpus['position-position'].mean_decomposition;
    for (const [layer, shares] of expectedValues.entries()) {
      expect(Math.abs(mean(data.heads[layer]) - mean(shares))).toBeLessThan(0.05);
      // A head that is positional in one corpus is positional in the other.
      for (const [head, share] of shares.entries()) {
        if (share > 0.5) expect(data.heads[layer][head], `${layer}.${head}`).toBeGreaterThan(0.4);
      }
    }
    const words = result.figure.describe(data, result.state);
    expect(words).toContain('The scores use it most in layer 1');
    expect(words).toContain('Shares are in the canonical gauge.');
  }, 300_000);

  test('does it need positions: who bit whom, as the oracle has it', async () => {
    for (const [place, pair] of (['dog', 'passive'] as const).entries()) {
      const result = await run(needsPositions, { layers: 'all', pair });
      expectSoundPictures(result);
      const { curves } = result.data;
      expect(curves.at(-1).cosines.at(-1)).toBeCloseTo(depthOracle.pairs[place]?.cosine as number, 5);
      for (const { cosines } of curves) {
        expect(cosines).toHaveLength(7);
        expect(Math.max(...cosines)).toBeLessThan(1 + 1e-6);
      }
    }
    // Without layers, a mean over tokens knows of order only through the σ that a token's sum is divided by.
    const { data } = await run(needsPositions, { layers: 'all', pair: 'dog' });
    expect(data.curves[2].cosines[0]).toBeGreaterThan(0.999);
    expect(data.curves.at(-1).cosines[0]).toBeGreaterThan(0.999);
  });

  // The recorded numbers have five digits.
  test('positions taken from values or attention alone, as the oracle has them', async () => {
    const { taken } = valuesOracle.sentences[0] as (typeof valuesOracle.sentences)[0];
    const { figure, data, state } = await opened(needsPositions, { pair: 'dog', view: 'readers' });
    const { curves, orders } = data as { curves: { cosines: number[] }[]; orders: number[] };
    const expected = Object.entries(taken).filter(([name]) => name !== 'nothing');
    for (const [place, [, { cosines }]] of expected.entries())
      for (const [layer, cosine] of cosines.entries())
        expect(curves[place]?.cosines[layer]).toBeCloseTo(cosine, 4);
    expect(figure.describe(data, state)).toMatch(/^Positions act through attention, hardly through values\./);
    for (const [place, cosine] of Object.values(valuesOracle.pair.cosines).entries())
      expect(orders[place]).toBeCloseTo(cosine, 4);
    // The same for the reader's own sentence.
    expectSoundPictures(await run(needsPositions, { layers: 'all', view: 'readers' }));
  });

  test('a shuffle keeps pieces together and the closing mark where it is', async () => {
    const { data } = await run(needsPositions, {
      layers: 'all',
      text: 'Superposition delights everybody.',
      seed: 3,
    });
    expect(data.shuffled[0]).toBe('[CLS]');
    expect(data.shuffled.slice(-2)).toEqual(['.', '[SEP]']);
    const first = data.tokens.findIndex((token: string) => token.startsWith('##'));
    expect(first).toBeGreaterThan(0);
    const complete = data.tokens.slice(first - 1, first + 1).join(' ');
    expect(data.shuffled.join(' ')).toContain(complete);
    expect([...data.shuffled].sort()).toEqual([...data.tokens].sort());
  });
});
