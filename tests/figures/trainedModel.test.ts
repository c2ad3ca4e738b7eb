// The small model that the page trains for a reader who has no file: what is saved is what was trained, from the file to the
// figures.
import { type Floats, openModel } from 'superpose';
import { expect, onTestFinished, test } from 'vitest';
import { initialState } from '../../web/figures/controls.ts';
import { type Averaged, mechanismFigures } from '../../web/figures/ownMechanism.ts';
import { type Opened, ownFigures } from '../../web/figures/ownModel.ts';
import type { Sides } from '../../web/figures/sideBySide.ts';
import { steps } from '../../web/figures/tasks.ts';
import { options, trainedModel } from '../../web/worker/trainedModel.ts';
import { plain } from '../api/support/builds.ts';
import { largestDifference } from '../api/support/numbers.ts';
import { ask, job } from './ownOpened.ts';

test('its files, opened, attend as the trainer’s model does, and answer with the token before', async () => {
  const { files, corpus } = await trainedModel(plain, job);
  const trainer = plain.trainer(options);
  onTestFinished(() => trainer.delete());
  trainer.step(steps);
  expect(trainer.accuracy()).toBeGreaterThan(0.99);
  const model = await openModel(plain, files);
  onTestFinished(() => model.delete());
  const { n, heads, layers } = options;
  expect([model.family, model.layers, model.heads]).toEqual(['gpt2', layers, heads]);
  const rows = trainer.parameters().E?.data as Floats;
  for (const line of corpus.split('\n').slice(0, 4)) {
    const ids = line.split(', ').map(Number);
    expect(ids).toHaveLength(n);
    const found = await model.forward({ ids });
    for (let layer = 0; layer < layers; layer++) {
      const { data } = trainer.attention({ n, tokens: ids, layer });
      expect(largestDifference(found.attention(layer), data), `layer ${layer}`).toBeLessThan(1e-5);
    }
    // Behind the last norm, the row of the token before is the nearest.
    const { data: last, columns } = found.last();
    const logits = ids.map((_, place) =>
      Array.from({ length: model.vocabulary }, (_, token) =>
        last
          .subarray(place * columns, (place + 1) * columns)
          .reduce((sum, value, at) => sum + value * (rows[token * columns + at] as number), 0),
      ),
    );
    expect(largestDifference(logits.flat(), trainer.logits({ n, tokens: ids }).data)).toBeLessThan(1e-3);
    for (const [place, answers] of logits.entries())
      if (place > 0) expect(answers.indexOf(Math.max(...answers))).toBe(ids[place - 1]);
  }
});

test('the page opens it, and its first layer reads positions', async () => {
  const said: number[] = [];
  const watched = { ...job, progress: (part: number) => said.push(part) };
  const model = (await ask('own-open', { train: true }, watched)) as Opened;
  onTestFinished(async () => {
    await ask('own-open', { forget: true });
  });
  expect(said.at(-1)).toBe(1);
  expect(said.length).toBeGreaterThan(10);
  const averaged = (await ask('own-open', { corpus: model.corpus })) as Averaged;
  const figures = { ...ownFigures(model), ...(await mechanismFigures(model, averaged)) };
  const figure = figures['own-side-by-side'] as (typeof figures)[string];
  const state = initialState(figure.controls);
  expect(state.ids).toBe(model.corpus?.split('\n')[0]);
  const { sides } = (await ask('own-side-by-side', state)) as Sides;
  // Of token → token, token → position, position → token, position → position, rest.
  const [first] = sides.find(({ digest }) => digest === model.digest)?.mean ?? [];
  expect(first?.[3]).toBeGreaterThan(0.5);
});

test('training stops when told to, and leaves no model open', async () => {
  const stop = new AbortController();
  let looked = 0;
  const progress = () => {
    looked += 1;
    stop.abort();
  };
  await expect(ask('own-open', { train: true }, { signal: stop.signal, progress })).rejects.toThrow(/abort/i);
  expect(looked).toBe(1);
  await expect(ask('own-heads', {})).rejects.toThrow('There is no model open');
});
