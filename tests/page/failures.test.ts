// What can go wrong outside the page: each ends in a plain sentence where the reader looks, and the rest of
// the page goes on.
import type { Page } from 'playwright';
import { expect, inject, test } from 'vitest';
import { readFigure1, readFigure2 } from './support/shown.ts';
import { figure1, figure2, visit } from './support/visit.ts';

const alert1 = (page: Page) => figure1(page).getByRole('alert');
const alert2 = (page: Page) => figure2(page).getByRole('alert');
const drawn1 = (page: Page) =>
  expect.poll(() => page.evaluate(readFigure1), { timeout: 10_000 }).toBeDefined();
const drawn2 = (page: Page) =>
  expect.poll(() => page.evaluate(readFigure2), { timeout: 10_000 }).toBeDefined();
const textOf = async (page: Page) => page.locator('h1').textContent();

test('a .wasm that is not there', async () => {
  const { page, site } = await visit({ site: (broken) => broken.lose(/\.wasm$/) });
  await expect
    .poll(() => alert1(page).textContent())
    .toContain('could not be fetched: the server answered 404');
  await expect.poll(() => alert2(page).textContent()).toContain('could not be fetched');
  site.mend();
  await alert1(page).getByRole('button', { name: 'Try again' }).click();
  await drawn1(page);
  expect(await alert1(page).count()).toBe(0);
});

test('a .wasm that breaks off', async () => {
  const { page } = await visit({ site: (broken) => broken.truncate(/\.wasm$/) });
  await expect.poll(() => alert1(page).textContent()).toContain('damaged or incomplete');
  expect(await textOf(page)).toContain('Why are positions added');
});

test('a .wasm that is slow', async () => {
  let release = () => {};
  const { page } = await visit({
    site: (broken) => {
      release = broken.hold(/\.wasm$/);
    },
  });
  await figure1(page).getByText('Computing…').waitFor();
  release();
  await drawn1(page);
});

test('a worker that is not there', async () => {
  const { page } = await visit({ site: (broken) => broken.lose(/worker-.*\.js$/) });
  await expect.poll(() => alert1(page).textContent()).toContain('could not be loaded. Reload the page');
  await expect.poll(() => alert2(page).textContent()).toContain('could not be loaded. Reload the page');
});

test('a browser without WebAssembly', async () => {
  const { page } = await visit({
    site: (broken) => broken.prefix(/worker-.*\.js$/, 'delete self.WebAssembly;'),
  });
  await expect.poll(() => alert1(page).textContent()).toContain('no WebAssembly SIMD');
});

test('a build without the model', async () => {
  const { page } = await visit({ site: (broken) => broken.lose(/^model\//) });
  await drawn1(page);
  await expect.poll(() => alert2(page).textContent()).toContain('The MiniLM files are not there');
  await figure1(page).getByLabel('Your sentence in MiniLM (trained)').check();
  await expect.poll(() => alert1(page).textContent()).toContain('The MiniLM files are not there');
  await figure1(page).getByLabel('Random (seeded)').check();
  await expect.poll(() => alert1(page).count()).toBe(0);
});

for (const [name, files] of [
  ['words', /words-\d+\.safetensors$/],
  ['the first layer', /layer-0\.safetensors$/],
] as const) {
  test.runIf(inject('withModel'))(`a file of ${name} that breaks off, and comes back whole`, async () => {
    const { page, site } = await visit({ site: (broken) => broken.truncate(files) });
    await drawn1(page);
    await expect.poll(() => alert2(page).textContent()).toMatch(/safetensors/);
    site.mend();
    await alert2(page).getByRole('button', { name: 'Try again' }).click();
    await drawn2(page);
    expect(await alert2(page).count()).toBe(0);
  });
}

test.runIf(inject('withModel'))('no network once the page is there', async () => {
  const { page } = await visit();
  await drawn2(page);
  await page.context().setOffline(true);
  await page.locator('superpose-sentence textarea').fill('zebras xylophone quartz');
  await expect.poll(() => alert2(page).textContent()).toContain('is there a network?');
  await figure1(page)
    .getByLabel('Draw again')
    .or(figure1(page).getByRole('button', { name: 'Draw again' }))
    .click();
  await expect.poll(async () => (await page.evaluate(readFigure1))?.seed).toBe(2);
  await page.context().setOffline(false);
  await alert2(page).getByRole('button', { name: 'Try again' }).click();
  await expect.poll(async () => (await page.evaluate(readFigure2))?.tokens).toContain('quartz');
});

test('JavaScript off: the text stays and says what is missing', async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  const text = await page.locator('main').textContent();
  expect(text).toContain('Why are positions added');
  expect(text).toContain('The figures need JavaScript and WebAssembly');
});
