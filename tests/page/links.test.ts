// Addresses: complete, checked, in step with back and forward.
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { decodedLink } from '../../web/element/link.ts';
import { readState } from '../../web/figures/controls.ts';
import { expected, figures, readLink, withoutRounding } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

const name = 'dot-products';

modelTest('a figure’s own page fetches the words that it does not carry', async () => {
  const { page, site } = await visit();
  await page.goto(`${site.address}figures/one-score/#v=1&figure=one-score&text=a+purple+elephant`);
  const { controls: controlsOfFigure } = figures['one-score'] as (typeof figures)[string];
  const { state } = readState(controlsOfFigure, [['text', 'a purple elephant']]);
  const { finding } = await expected('one-score', state);
  const shownFinding = async () => (await page.evaluate(readFigure, 'one-score'))?.finding ?? '';
  await expect.poll(async () => withoutRounding(await shownFinding())).toBe(withoutRounding(finding));
  expect(await page.locator('superpose-figure .problem').count()).toBe(0);
});

const { controls } = figures[name] as (typeof figures)[string];

test.each([
  ['d=7', 'is not a value of Width d'],
  ['bogus=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E', 'Unknown setting `bogus`. Settings: '],
  [`text=${'x'.repeat(5001)}`, 'Your sentence'],
])('a hostile link gives the first view and says so: %s', async (settings, sentence) => {
  const { page } = await visit({ fragment: `#v=1&figure=${name}&${settings}` });
  const shown = await drawn(page, name);
  expect(shown.problems.join()).toContain(sentence);
  expect(shown.problems.join()).toContain('first view is shown');
  expect(shown.state).toEqual(readState(controls, []).state);
  expect(await figureOf(page, name).locator('.problem img').count()).toBe(0);
});

test.each([
  ['d=1e3', 'is not a value of Width d'],
  ['d=0x40', 'is not a value of Width d'],
  ['n=1e9', 'Number of tokens'],
  ['n=33.5', 'in steps of 1'],
  ['scale=-0.05', 'Position scale'],
  ['scale=NaN', 'Position scale'],
  ['seed=4294967296', 'Seed'],
  ['seed=-1', 'Seed'],
  ['positions=__proto__', 'Positions'],
  ['positions=constructor', 'Positions'],
  ['__proto__=1', 'Unknown setting `__proto__`. Settings: '],
  ['d=64&d=65', 'is not a value of Width d'],
])('read without a page, a setting is refused: %s', (settings, sentence) => {
  const { refused } = readState(controls, new URLSearchParams(settings));
  expect(refused).toEqual([expect.stringContaining(sentence)]);
});

test.each([
  ['#v=2&figure=dot-products', 'knows version 1'],
  ['#v=1&figure=__proto__', 'which is not on this page'],
  ['#v=1&figure=%E0%A4%A', 'which is not on this page'],
])('a link to nothing says so: %s', async (fragment, sentence) => {
  const { page } = await visit({ of: name, fragment });
  await page.getByText(sentence).waitFor();
  expect((await drawn(page, name)).state.d).toBe(64);
});

test.each([
  ['#v=&figure=dot-products', 'knows version 1'],
  ['#v=1', 'does not say which figure'],
  [`#v=1&figure=dot-products&text=${'%20'.repeat(30_000)}`, 'too long'],
])('nor is it read without a page: %s', (fragment, sentence) => {
  expect(readLink(fragment)).toEqual({ refused: expect.stringContaining(sentence) });
});

test('back and forward go through the views', async () => {
  const { page } = await visit({ of: name });
  const figure = figureOf(page, name);
  await drawn(page, name);
  const address = () => page.url().split('#')[1] ?? '';
  await figure.locator('select[name=positions]').selectOption('random');
  await expect.poll(address).toContain('positions=random');
  await figure.locator('select[name=positions]').selectOption('tensor2tensor');
  await expect.poll(address).toContain('positions=tensor2tensor');
  const positions = async () => (await page.evaluate(readFigure, name))?.state.positions;
  await page.goBack();
  await expect.poll(positions).toBe('random');
  await page.goBack();
  await expect.poll(positions).toBe('interleaved');
  await page.goForward();
  await expect.poll(positions).toBe('random');
  const shown = await drawn(page, name);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
});

test('Back undoes one change after the other, also of two figures that were changed at once', async () => {
  const { page } = await visit({ of: name });
  await drawn(page, name);
  await drawn(page, 'gram');
  const stateOf = async (figure: string, setting: string) =>
    (await page.evaluate(readFigure, figure))?.state[setting];
  const positions = async () => [await stateOf(name, 'positions'), await stateOf('gram', 'positions')];
  const before = await page.evaluate(() => history.length);
  await page.evaluate(() => {
    const of = (figure: string) =>
      document.querySelector(`superpose-figure[name=${figure}]`)?.shadowRoot as ShadowRoot;
    const select = of('dot-products').querySelector('select[name=positions]') as HTMLSelectElement;
    select.value = 'random';
    select.dispatchEvent(new Event('input', { bubbles: true }));
    select.dispatchEvent(new Event('change', { bubbles: true }));
    const slider = of('gram').querySelector('input[name=positions]') as HTMLInputElement;
    slider.value = slider.min;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await expect.poll(() => page.evaluate(() => history.length)).toBe(before + 2);
  expect(await positions()).toEqual(['random', 8]);
  await page.goBack();
  await expect.poll(positions).toEqual(['random', 64]);
  await page.goBack();
  await expect.poll(positions).toEqual(['interleaved', 64]);
  await page.goForward();
  await page.goForward();
  await expect.poll(positions).toEqual(['random', 8]);
});

test('a slider leaves one address behind, when it is let go', async () => {
  const { page } = await visit({ of: name });
  await drawn(page, name);
  // The page's clock is stopped, so that no key is late, and then goes on.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  const addresses = () => page.evaluate(() => history.length);
  const before = await addresses();
  const slider = figureOf(page, name).locator('input[name=scale]');
  for (let step = 0; step < 5; step++) await slider.press('ArrowRight');
  expect(await addresses()).toBe(before);
  await page.clock.resume();
  await expect.poll(() => page.url()).toContain('scale=1.25');
  expect(await addresses()).toBe(before + 1);
});

test.each(['#bets', ''])('the name of a section is no state: %s', (fragment) => {
  expect(readLink(fragment)).toBeUndefined();
});

const encoded = encodeURIComponent;
const plain = `v=1&figure=${name}&n=16&text=100%25+%26+more`;
test.each([
  ['once', `#${encoded(plain)}`],
  ['twice', `#${encoded(encoded(plain))}`],
  ['after its version', `#v=1%26figure%3D${name}%26n%3D16`],
  ['as HTML has it', `#v=1&amp;figure=${name}&amp;n=16`],
  ['in Present', `#present/${encoded(plain)}`],
  ['with Present', `#${encoded(`present/${plain}`)}`],
])('a link that was encoded on its way is read as it was written: %s', (_, fragment) => {
  const link = decodedLink(fragment);
  expect(link).toMatch(/^#(present\/)?v=1&figure=dot-products&n=16/);
  if (link.includes('text')) expect(link.endsWith(plain)).toBe(true);
});

test('what was written so is not decoded', () => {
  for (const link of [`#${plain}`, `#present/${plain}`, '#v', '#values%3D1', '#present/mix/2', '#'])
    expect(decodedLink(link)).toBe(link);
});

test('an encoded link opens its state, and one that is broken says so', async () => {
  const { page } = await visit({
    of: name,
    fragment: `#${encoded(encoded(`v=1&figure=${name}&n=16&d=128`))}`,
  });
  expect((await drawn(page, name)).state).toMatchObject({ n: 16, d: 128 });
  expect(await page.evaluate(() => location.hash)).toBe(`#v=1&figure=${name}&n=16&d=128`);
  await page.evaluate(() => {
    location.hash = '#v%3D1%26figure%3Ddot-products%26n%3D%E0%A4';
  });
  await page.getByText('This link is damaged').waitFor();
});

/** Allows five changes of the address, then throws until `limit.left` is reset, as in Safari and Firefox. */
function refuseAddresses(): void {
  const limit = { left: 5, last: '' };
  Object.assign(window, { limit });
  for (const name of ['pushState', 'replaceState'] as const) {
    const write = history[name];
    history[name] = function (this: History, ...given) {
      limit.last = String(given[2]);
      if (limit.left-- > 0) return write.apply(this, given);
      throw new DOMException(`Attempt to use history.${name}() too often.`, 'SecurityError');
    };
  }
}

/** Allows five changes of the address, then ignores others without an error, as in Chromium. */
function ignoreAddresses(): void {
  const limit = { left: 5, last: '' };
  Object.assign(window, { limit });
  for (const name of ['pushState', 'replaceState'] as const) {
    const write = history[name];
    history[name] = function (this: History, ...given) {
      limit.last = String(given[2]);
      if (limit.left-- > 0) write.apply(this, given);
    };
  }
}

const limits = { 'that throws': refuseAddresses, 'that is silent': ignoreAddresses };
describe.each(Object.entries(limits))('a limit on changes of the address %s', (_, first) => {
  const hashOf = (page: Page) => page.evaluate(() => location.hash);
  /** The address that was written last, or should have been. */
  const written = (page: Page) => page.evaluate('limit.last') as Promise<string>;

  modelTest('does not stop Present, nor lose where it was', async () => {
    const { page } = await visit({ first, fragment: '#present' });
    await page.locator('#presented').waitFor();
    const text = () => page.locator('#presented').textContent();
    const slides = Number(/ of (\d+)\./.exec((await text()) as string)?.[1]);
    expect(slides).toBeGreaterThan(10);
    // A screen with a bet or a claim takes two presses: the first shows the answer.
    for (let press = 0; press < 2 * slides; press++) await page.keyboard.press('PageDown');
    await expect.poll(text).toContain(`${slides} of ${slides}.`);
    await page.keyboard.press('PageUp');
    await expect.poll(text).toContain(`${slides - 1} of ${slides}.`);
    const meant = (await written(page)).replace(/^[^#]*/, '');
    expect(await hashOf(page)).not.toBe(meant);
    await page.evaluate('limit.left = 5');
    await expect.poll(() => hashOf(page)).toBe(meant);
  });

  test('does not lose the last state of a figure', async () => {
    const { page } = await visit({ of: name, first });
    await drawn(page, name);
    const positions = figureOf(page, name).locator('select[name=positions]');
    for (let change = 0; change < 7; change++) {
      const to = ['random', 'tensor2tensor', 'interleaved'][change % 3] as string;
      await positions.selectOption(to);
      await expect.poll(() => written(page)).toContain(`positions=${to}`);
    }
    await positions.selectOption('interleaved');
    await expect.poll(() => written(page)).toContain('interleaved');
    expect(await hashOf(page)).not.toContain('interleaved');
    await page.evaluate('limit.left = 5');
    await expect.poll(() => hashOf(page)).toContain('positions=interleaved');
    await page.goBack();
    await expect.poll(() => hashOf(page)).not.toContain('interleaved');
  });

  test('writes nothing over a link that was followed meanwhile', async () => {
    const { page } = await visit({ of: name, first });
    await drawn(page, name);
    await page.clock.install();
    await page.evaluate('limit.left = 0');
    await figureOf(page, name).locator('select[name=positions]').selectOption('random');
    await page.clock.runFor(2000);
    expect(await written(page)).toContain('positions=random');
    await page.evaluate(() => {
      location.hash = '#bets';
    });
    await page.evaluate('limit.left = 5');
    await page.clock.runFor(5000);
    expect(await hashOf(page)).toBe('#bets');
  });
});
