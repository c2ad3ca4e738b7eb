// The reader's own sentence: once given, it is used by every figure that reads a sentence, on both pages,
// until it is taken back.
import { expect } from 'vitest';
import { readFigure } from './support/shown.ts';
import { figureOf, modelTest, resetOf, settled, visit } from './support/visit.ts';

const mine = 'The old dog sleeps.';

modelTest(
  'figures of both pages read the sentence, also after a reload, until it is taken back',
  async () => {
    const { page, site } = await visit({ fragment: '#v=1&figure=sum' });
    const { state: before } = await settled(page, 'sum');
    const recorded = before.text;
    const text = page.locator('.stage:has([name=sum]) .step p').first();
    const colour = () => text.evaluate((element) => getComputedStyle(element).color);
    const plain = await colour();
    await figureOf(page, 'sum').locator('textarea[name=text]').fill(mine);
    await expect.poll(async () => (await page.evaluate(readFigure, 'sum'))?.drawn?.text).toBe(mine);
    // The text beside the figure is about the recorded sentence, and is muted.
    await expect.poll(colour).not.toBe(plain);
    await page.goto(`${site.address}evidence/#v=1&figure=heads`);
    expect((await settled(page, 'heads')).state.text).toBe(mine);
    await page.reload();
    expect((await settled(page, 'heads')).state.text).toBe(mine);
    // A step sets everything but the sentence; a link that has a sentence shows that.
    await page.evaluate(() => {
      location.hash = '#v=1&figure=one-score&head=11';
    });
    await expect
      .poll(async () => (await settled(page, 'one-score')).state)
      .toMatchObject({ head: 11, text: mine });
    await page.evaluate(() => {
      location.hash = '#v=1&figure=one-score&text=Another+one.';
    });
    await expect.poll(async () => (await settled(page, 'one-score')).state.text).toBe('Another one.');
    expect((await page.evaluate(readFigure, 'heads'))?.state.text).toBe(mine);
    // Each figure's field has a button that takes the sentence back for all figures.
    await figureOf(page, 'heads').getByRole('button', { name: 'Take it back' }).click();
    await expect.poll(async () => (await page.evaluate(readFigure, 'heads'))?.drawn?.text).toBe(recorded);
    expect((await page.evaluate(readFigure, 'one-score'))?.state.text).toBe(recorded);
    await page.goto(`${site.address}#v=1&figure=sum`);
    expect((await settled(page, 'sum')).state.text).toBe(recorded);
    expect(await colour()).toBe(plain);
  },
);

modelTest('Back and Reset take the sentence back, too', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=sum' });
  const { state: before } = await settled(page, 'sum');
  const shown = async () => (await page.evaluate(readFigure, 'sum'))?.drawn?.text;
  const type = async () => {
    await figureOf(page, 'sum').locator('textarea[name=text]').fill(mine);
    await expect.poll(shown).toBe(mine);
    await expect.poll(() => page.url()).toContain('text=The+old+dog');
  };
  await type();
  await page.goBack();
  await expect.poll(shown).toBe(before.text);
  await type();
  await resetOf(figureOf(page, 'sum')).click();
  await expect.poll(shown).toBe(before.text);
  expect(await page.evaluate(() => sessionStorage.getItem('superpose-texts'))).toBe('{}');
});
