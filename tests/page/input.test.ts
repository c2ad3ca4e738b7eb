// Whatever is typed ends in the model's numbers for that text, and in a plain sentence where something was
// left out. The page goes on. tests/api/model/wordPieces.test.ts goes through all characters.
import { expect } from 'vitest';
import { expected, withoutRounding } from './support/expected.ts';
import { readFigure, type Shown } from './support/shown.ts';
import { drawn, figureOf, modelTest, surface, type Visit, visit } from './support/visit.ts';

const box = ({ page }: Visit) => figureOf(page, 'one-score').locator('textarea');

/**
 * Types a text and waits until the figure shows what Node computes for it, for two keys. Returns the tokens.
 */
async function showsNumbersFor(visited: Visit, name: string, text: string): Promise<readonly string[]> {
  const { page } = visited;
  const { state } = await drawn(page, 'one-score');
  // A text box cannot send carriage returns or unpaired surrogates.
  await box(visited).fill(text);
  const typed = await box(visited).inputValue();
  const { rendered, finding, readout } = await expected('one-score', { ...state, text: typed });
  const shown = async () => {
    const figure = (await page.evaluate(readFigure, 'one-score')) as Shown;
    expect(figure.tokens).toEqual(rendered.figure.tokens?.(rendered.data, rendered.state));
    expect(withoutRounding(figure.finding)).toBe(withoutRounding(finding));
    expect(withoutRounding(figure.readout)).toBe(withoutRounding(readout(figure.cursor)));
    return true;
  };
  for (const key of ['Home', 'End']) {
    await expect.poll(shown, { message: name }).toBe(true);
    await surface(figureOf(page, 'one-score')).press(key);
  }
  await expect.poll(shown, { message: name }).toBe(true);
  return (await drawn(page, 'one-score')).tokens;
}

const saidOf = async ({ page }: Visit) =>
  ((await page.evaluate(readFigure, 'one-score'))?.notes ?? []).join();

modelTest('anything', async () => {
  const visited = await visit({ of: 'one-score' });
  const texts = {
    emoji: '🙂 👩‍👩‍👧‍👦 🏳️‍🌈',
    'right to left': 'שלום עולם مرحبا بالعالم',
    'control characters': 'a\u0000\u0007b\u200bc\u202ed\ufeff\u001b[31m',
    'half of a character': 'half \ud83d of it \udc00',
    'one endless word': 'x'.repeat(5000),
    'nothing but spaces': ' \t\n\u00a0\u3000 ',
  };
  for (const [name, text] of Object.entries(texts)) await showsNumbersFor(visited, name, text);
});

modelTest('nothing at all, and then something again', async () => {
  const visited = await visit({ of: 'one-score' });
  expect(await showsNumbersFor(visited, 'nothing', '')).toEqual(['[CLS]', '[SEP]']);
  expect(await saidOf(visited)).toBe(
    'There is no token in the text, so only the markers [CLS] and [SEP] are left.',
  );
  expect(await showsNumbersFor(visited, 'something', 'again')).toEqual(['[CLS]', 'again', '[SEP]']);
  expect(await saidOf(visited)).toBe('');
});

modelTest('five hundred words are cut at 128 tokens, and it says so', async () => {
  const visited = await visit({ of: 'one-score' });
  const words = Array.from({ length: 500 }, (_, place) => ['river', 'bank', 'walked'][place % 3]);
  const tokens = await showsNumbersFor(visited, 'five hundred words', words.join(' '));
  expect(tokens).toHaveLength(128);
  expect(tokens.at(-1)).toBe('[SEP]');
  expect(await saidOf(visited)).toContain('Only the first 128 of 502 tokens are shown');
});

modelTest('markup is text', async () => {
  const visited = await visit({ of: 'one-score' });
  const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>{{3}}';
  const tokens = await showsNumbersFor(visited, 'markup', markup);
  expect(tokens.slice(1, 4)).toEqual(['<', 'im', '##g']);
  expect(await figureOf(visited.page, 'one-score').locator('.surface img, .tokens img, script').count()).toBe(
    0,
  );
});

modelTest('a chosen cell that a shorter text no longer has', async () => {
  const visited = await visit({ of: 'one-score' });
  await showsNumbersFor(visited, 'seven tokens', 'one two three four five');
  await surface(figureOf(visited.page, 'one-score')).press('End');
  await box(visited).fill('one');
  await expect
    .poll(() => visited.page.evaluate(readFigure, 'one-score'))
    .toMatchObject({ tokens: ['[CLS]', 'one', '[SEP]'], cursor: { i: 2 } });
});

modelTest('the box takes 5000 characters and no more', async () => {
  const visited = await visit({ of: 'one-score' });
  await drawn(visited.page, 'one-score');
  const text = box(visited);
  await text.fill('x '.repeat(2499));
  await text.press('End');
  await visited.page.keyboard.insertText('abcdef');
  expect(await text.inputValue()).toHaveLength(5000);
});
