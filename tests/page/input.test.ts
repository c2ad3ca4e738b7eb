// Whatever is typed ends in the model's numbers for it and in a plain sentence where something was left out,
// and the page goes on.
import { load, loadMiniLM, type MiniLM } from 'superpose';
import { expect } from 'vitest';
import { mostTokens, printed2 } from './support/computed.ts';
import { type Figure2, readFigure2 } from './support/shown.ts';
import { figure2, modelTest, surface, type Visit, visit } from './support/visit.ts';

let loading: Promise<MiniLM> | undefined;
const modelOf = async () => loadMiniLM(await load());

/** Types a text and waits until figure 2 shows what Node computes for it, at two keys. Returns the tokens. */
async function showsNumbersFor({ page }: Visit, name: string, text: string): Promise<readonly string[]> {
  loading ??= modelOf();
  const model = await loading;
  const scores = await model.decompose(model.tokenize(text, mostTokens), { only: [2] });
  const shown = async () => {
    const figure = (await page.evaluate(readFigure2)) as Figure2;
    expect(figure.tokens).toEqual(scores.sentence.tokens);
    const cell = [figure.query[1], figure.key[1]] as const;
    expect(figure).toMatchObject(printed2(scores, { head: 2, cell }));
    return true;
  };
  await page.locator('section superpose-sentence textarea').last().fill(text);
  for (const key of ['Home', 'End']) {
    await expect.poll(shown, { timeout: 10_000, message: name }).toBe(true);
    await surface(figure2(page)).press(key);
  }
  await expect.poll(shown, { message: name }).toBe(true);
  return scores.sentence.tokens;
}

const saidOf = async ({ page }: Visit) => (await figure2(page).getByRole('status').allTextContents()).join();

modelTest('anything', async () => {
  const visited = await visit();
  const texts = {
    'one word': 'bank',
    emoji: '🙂 👩‍👩‍👧‍👦 🏳️‍🌈',
    'right to left': 'שלום עולם مرحبا بالعالم',
    'control characters': 'a\u0000\u0007b\u200bc\u202ed\ufeff\u001b[31m',
    'half of a character': 'half \ud83d of it \udc00',
    'unknown characters': '\u{10ffff} \ue000 𓀀 ᚠ',
    'accents, and marks on marks': 'Crème brûlée Z̷̡̛͎a̵l̸g̶o̷',
    'Chinese without spaces': '他们走到了另一家银行',
    'one endless word': 'x'.repeat(5000),
    'nothing but spaces': ' \t\n\u00a0\u3000 ',
    'the markers of the model': '[CLS] [SEP] [MASK] [PAD] [UNK] ##ing',
    'names that objects have': '__proto__ constructor toString',
  };
  for (const [name, text] of Object.entries(texts)) await showsNumbersFor(visited, name, text);
});

modelTest('nothing at all, and then something again', async () => {
  const visited = await visit();
  expect(await showsNumbersFor(visited, 'nothing', '')).toEqual(['[CLS]', '[SEP]']);
  expect(await saidOf(visited)).toBe(
    'There is no word in the text, so only the markers [CLS] and [SEP] are left.',
  );
  expect(await showsNumbersFor(visited, 'something', 'again')).toEqual(['[CLS]', 'again', '[SEP]']);
  expect(await saidOf(visited)).toBe('');
});

modelTest('five hundred words are cut at 128 tokens, and it says so', async () => {
  const visited = await visit();
  const words = Array.from({ length: 500 }, (_, place) => ['river', 'bank', 'walked'][place % 3]);
  const tokens = await showsNumbersFor(visited, 'five hundred words', words.join(' '));
  expect(tokens).toHaveLength(128);
  expect(tokens.at(-1)).toBe('[SEP]');
  expect(await saidOf(visited)).toContain('Only the first 128 of 502 tokens are shown');
});

modelTest('markup is text', async () => {
  const visited = await visit();
  const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>{{3}}';
  const tokens = await showsNumbersFor(visited, 'markup', markup);
  expect(tokens.slice(1, 4)).toEqual(['<', 'im', '##g']);
  expect(await figure2(visited.page).locator('img, script').count()).toBe(0);
});

modelTest('a chosen cell that a shorter text no longer has', async () => {
  const visited = await visit();
  await showsNumbersFor(visited, 'seven tokens', 'one two three four five');
  await visited.page.locator('section superpose-sentence textarea').last().fill('one');
  await expect.poll(() => visited.page.evaluate(readFigure2)).toMatchObject({ key: ['[SEP]', 2] });
});

modelTest('the box takes 5000 characters and no more', async () => {
  const { page } = await visit();
  const box = page.locator('section superpose-sentence textarea').last();
  await box.fill('x '.repeat(2499));
  await box.press('End');
  await page.keyboard.insertText('abcdef');
  expect(await box.inputValue()).toHaveLength(5000);
});
