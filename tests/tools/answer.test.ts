// The answer, sentence by sentence, against the figure that its link opens.
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, inject, test } from 'vitest';
import { answer } from '../../web/build/answer.ts';
import { linkOf, plainText } from '../../web/build/verdicts.ts';

const folder = fileURLToPath(new URL('../../build/', import.meta.url));
const headless: typeof import('../../web/node/index.ts') = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);
const render = headless.renderer(pathToFileURL(`${folder}model/`));
const flat = (text: string) => text.replace(/\s+/g, ' ');
const numbersIn = (text: string): string[] => text.match(/(?<![\p{L}\d.])\d+(?:\.\d+)?/gu) ?? [];

/** Whether one of the numbers rounds to this one, to the digits written. */
const rounds = (written: string, numbers: string[]): boolean =>
  numbers.some((one) => Number(one).toFixed(written.split('.')[1]?.length ?? 0) === written);

test('a rounded number is recognized, and a different one is not', () => {
  expect(rounds('0.31', ['0.3093'])).toBe(true);
  expect(rounds('30', ['2', '29.8'])).toBe(true);
  expect(rounds('0.32', ['0.3093'])).toBe(false);
});

test('there are three sentences, each with the links that it names', () => {
  expect(answer.sentences).toHaveLength(3);
  for (const { text, links } of answer.sentences) {
    expect(links.length).toBeGreaterThan(0);
    expect(text.match(/\[[^\]]+\]/g)).toHaveLength(links.length);
  }
});

for (const sentence of answer.sentences) {
  test.runIf(inject('withModel'))(plainText(sentence), async () => {
    let said = '';
    for (const one of sentence.links) {
      const link = headless.readLink(linkOf(one, headless));
      if (!link || 'refused' in link) throw new Error('The link cannot be read.');
      const { figure, data, state, refused } = await render(link.figure, link.settings);
      expect(refused).toEqual([]);
      const here = flat(figure.describe(data, state));
      for (const part of one.shows) expect(here).toContain(flat(part));
      said += ` ${here}`;
    }
    for (const number of numbersIn(plainText(sentence))) {
      expect(rounds(number, numbersIn(said)), number).toBe(true);
    }
  });
}

test('each link says what it holds of', () => {
  for (const { holds } of answer.sentences.flatMap(({ links }) => links))
    expect(holds).toMatch(/^[A-Z0-9].*\.$/);
});

test('claims about the model’s scores rest on more than one sentence', () => {
  for (const { figure, settings } of answer.sentences.flatMap(({ links }) => links)) {
    if (figure === 'heads') expect(settings).toMatchObject({ sentences: 'ten' });
  }
});

test('the page, its description, the command and the first lines of README say the same', () => {
  const read = (file: string) => flat(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  expect(read('web/index.html')).toContain(`<meta name="description" content="${answer.short}`);
  expect(read('README.md').slice(0, 900)).toContain(answer.short);
  expect(read('web/node/command/superpose.ts')).toContain(answer.short);
});
