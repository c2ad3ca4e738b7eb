// The beats, step by step, against the figure in the state that the step sets: it says what the step quotes,
// and every number of the step comes from there.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, inject, test } from 'vitest';
import { beats } from '../../web/build/beats.ts';
import { type FigureState, linkOf, plainText } from '../../web/build/verdicts.ts';

const folder = fileURLToPath(new URL('../../build/', import.meta.url));
const headless: typeof import('../../web/node/index.ts') = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);
const render = headless.renderer(pathToFileURL(`${folder}model/`));
const flat = (text: string) => text.replace(/\s+/g, ' ');
/** Numbers, without those of subscripts and names. */
const numbersIn = (text: string): string[] =>
  flat(text)
    .replace(/T5|all-MiniLM-L6-v2/g, '')
    .match(/(?<![\p{L}\d.,])\d+(?:[.,]\d+)*/gu) ?? [];

/** All that a figure says in a state, in words, marks and settings. */
async function saidBy(shown: FigureState): Promise<string> {
  const link = headless.readLink(linkOf(shown, headless));
  if (!link || 'refused' in link) throw new Error('The link cannot be read.');
  const { figure, data, state, refused } = await render(link.figure, link.settings);
  expect(refused).toEqual([]);
  const readout = figure.readout(data, state, figure.firstCursor?.(data, state) ?? { i: 0, j: 0 });
  const texts = figure
    .scene(data, state, 816)
    .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  const said = readout.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  return flat([figure.describe(data, state), said, ...texts].join('\n'));
}

const set = ({ settings }: FigureState) => Object.values(settings ?? {}).join(' ; ');

test('a beat is three to five short steps', () => {
  expect(beats.map(({ beat }) => beat)).toEqual(['mix', 'separate', 'ask', 'learn', 'other-ways']);
  for (const { steps } of beats) {
    expect(steps.length).toBeGreaterThanOrEqual(3);
    expect(steps.length).toBeLessThanOrEqual(5);
    for (const step of steps) expect(plainText(step).split(/\s+/).length, step.title).toBeLessThanOrEqual(45);
  }
});

for (const { beat, steps } of beats) {
  test.runIf(inject('withModel')).each(steps)(`${beat}: $title`, async (step) => {
    const { links = [], shows } = step;
    expect(shows.length).toBeGreaterThan(0);
    expect(step.text.match(/\[[^\]]+\]/g) ?? []).toHaveLength(links.length);
    const known: string[] = [];
    for (const one of [step, ...links]) {
      const said = await saidBy(one);
      for (const part of one.shows) expect(said).toContain(flat(part));
      known.push(...numbersIn(`${one.shows.join(' ; ')} ; ${set(one)}`));
    }
    for (const number of numbersIn(plainText(step))) expect(known, number).toContain(number);
  });
}
