// Whatever is typed ends in numbers or in a plain sentence, and the page goes on.
import { expect, inject, test } from 'vitest';
import { type Figure2, readFigure2 } from './support/shown.ts';
import { figure2, type Visit, visit } from './support/visit.ts';

/** Types a text and waits for figure 2 to show tokens that satisfy the test. */
async function typed({ page }: Visit, text: string, settled: (figure: Figure2) => boolean): Promise<Figure2> {
  await page.locator('section superpose-sentence textarea').last().fill(text);
  const settledNow = async () => {
    const figure = await page.evaluate(readFigure2);
    return figure && settled(figure) ? figure : undefined;
  };
  await expect.poll(settledNow, { timeout: 10_000 }).toBeDefined();
  return (await settledNow()) as Figure2;
}

const words = (figure: Figure2) => figure.tokens.slice(1, -1);
const saidOf = ({ page }: Visit) => figure2(page).getByRole('status').textContent();

test.runIf(inject('withModel'))('nothing at all, and then something again', async () => {
  const visited = await visit();
  const empty = await typed(visited, '', ({ tokens }) => tokens.length === 2);
  expect(empty.tokens).toEqual(['[CLS]', '[SEP]']);
  expect(await saidOf(visited)).toBe(
    'There is no word in the text, so only the markers [CLS] and [SEP] are left.',
  );
  // Two tokens still have scores, and the terms still sum to them.
  expect(empty.residual).toMatch(/10⁻¹/);
  const again = await typed(visited, 'again', ({ tokens }) => tokens.length === 3);
  expect(words(again)).toEqual(['again']);
  expect(await figure2(visited.page).getByRole('status').count()).toBe(0);
});

test.runIf(inject('withModel'))('five hundred words are cut at 128 tokens, and it says so', async () => {
  const visited = await visit();
  const long = await typed(visited, Array(500).fill('word').join(' '), ({ tokens }) => tokens.length > 16);
  expect(long.tokens).toHaveLength(128);
  expect(long.tokens.at(-1)).toBe('[SEP]');
  expect(await saidOf(visited)).toContain('Only the first 128 of 502 tokens are shown');
});

test.runIf(inject('withModel'))(
  'emoji, right to left, control characters, unknown and endless words',
  async () => {
    const visited = await visit();
    const emoji = await typed(visited, '🙂 🙂 🙂', ({ tokens }) => tokens.length === 5);
    expect(words(emoji)).toEqual(['[UNK]', '[UNK]', '[UNK]']);
    const hebrew = await typed(visited, 'שלום', ({ tokens }) => tokens[1] === 'ש');
    expect(words(hebrew)).toEqual(['ש', '##ל', '##ו', '##ם']);
    const controls = await typed(visited, 'a\u0000\u0007b\u200bc', ({ tokens }) => tokens[1] !== 'ש');
    expect(words(controls)).toEqual(['abc']);
    const endless = await typed(visited, 'x'.repeat(5000), ({ tokens }) => tokens[1] === '[UNK]');
    expect(words(endless)).toEqual(['[UNK]']);
  },
);

test.runIf(inject('withModel'))('markup is text', async () => {
  const visited = await visit();
  const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const shown = await typed(visited, markup, ({ tokens }) => tokens.includes('script'));
  expect(words(shown).slice(0, 3)).toEqual(['<', 'im', '##g']);
  expect(await figure2(visited.page).locator('img, script').count()).toBe(0);
});

test.runIf(inject('withModel'))('a chosen cell that a shorter text no longer has', async () => {
  const visited = await visit();
  await typed(visited, 'one two three four five', ({ tokens }) => tokens.length === 7);
  await figure2(visited.page).locator('.surface').focus();
  await visited.page.keyboard.press('End');
  const short = await typed(visited, 'one', ({ tokens }) => tokens.length === 3);
  expect(short.key).toEqual(['[SEP]', 2]);
});
