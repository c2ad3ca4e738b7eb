// A reader's own tables on the page: files that are chosen or dropped give their figures, with the library's
// numbers, and nothing is sent.

import { openTable, type Table } from 'add-or-concatenate';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { about } from '../../web/plot/format.ts';
import { plain } from '../api/support/builds.ts';
import { tableFiles } from '../api/support/files.ts';
import { inPrecision } from '../api/support/numbers.ts';
import { readFigure } from './support/shown.ts';
import { figureOf, settled, visit } from './support/visit.ts';

const drawn = (rows: number, seed: number) =>
  inPrecision<Table>(plain.randomNormal({ rows, columns: 16, seed }), 'float32');
const tokens = drawn(90, 1);
const positions = drawn(70, 2);
const words = Array.from({ length: 90 }, (_, row) => `word-${row}`);
const files = tableFiles(tokens, words);
const bytesOf = (name: string) => Buffer.from(files[name] as Uint8Array);
const ofPositions = Buffer.from(tableFiles(positions, words)['rows.npy'] as Uint8Array);
const payload = (name: string, buffer = bytesOf(name)) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer,
});

/** The part of the card that opens tables, unfolded. */
async function partOf(page: Page) {
  const card = page.locator('#user-model');
  await card.locator('summary').first().click();
  await card.getByText('Or a table of your own').click();
  const part = card.locator('.user-table');
  await part.waitFor();
  return { part, status: () => part.locator('> [role=status]').textContent() };
}

const shown = async (page: Page, name: string) => {
  const found = await settled(page, name);
  expect(found.problems).toEqual([]);
  return found;
};

/** A text as the page's texts are read here: with plain spaces. */
const inWords = (text: string) => text.replace(/\s/g, ' ');

test('each format gives its figures, with the library’s numbers; half a file is refused; a button forgets the tables', async () => {
  const { page } = await visit({ of: 'user-model' });
  const { part, status } = await partOf(page);
  const sent: string[] = [];
  page.context().on('request', (request) => {
    if (request.method() !== 'GET' || request.postData() !== null) sent.push(request.url());
  });
  const line = (kind: string) => part.locator(`[data-kind=${kind}] input`);
  expect(await part.textContent()).toContain('Nothing is uploaded.');
  const positionRows = plain.sinusoidal({ positions: 128, d_model: 16 });
  for (const name of Object.keys(files)) {
    await line('token').setInputFiles(payload(name));
    await expect.poll(status).toContain(`Rows of tokens from ${name}: 90, of 16 numbers each.`);
    if (name === 'rows.csv')
      expect(await status()).toContain('first line was read as numbers, and its first column as numbers,');
    const { finding } = await shown(page, 'user-table-overlap');
    const raw = plain.energyOverlap({ tokens, positions: positionRows });
    expect(finding).toContain(`Weighted by energy: ${about(raw)} times as much as chance, raw`);
  }
  expect(await part.locator('superpose-figure').count()).toBe(3);

  // A file that is dropped on the line for positions is read as a table of positions.
  await page.evaluate((base64) => {
    const dataTransfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], 'rows.npy'));
    const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer });
    document.querySelector('.user-table [data-kind=position]')?.dispatchEvent(event);
  }, ofPositions.toString('base64'));
  await expect.poll(status).toContain('Rows of positions from rows.npy: 70, of 16 numbers each.');
  // The part for models has not noticed the file.
  expect(await page.locator('.user-model > [role=status]').textContent()).toBe('');
  const overlap = await shown(page, 'user-table-overlap');
  expect(overlap.finding).toContain(
    `Weighted by energy: ${about(plain.energyOverlap({ tokens, positions }))} times`,
  );
  expect(await figureOf(page, 'user-table-overlap').locator('.badge').textContent()).toContain('your file');
  const products = await shown(page, 'user-table-dot-products');
  expect(inWords(products.finding)).toMatch(/ Over 496 pairs, /);
  expect(products.finding).toContain('raw: rows as stored.');

  // If the file names words, the reader can move one of them.
  await line('token').setInputFiles(payload('words.csv'));
  await expect.poll(status).toContain('Rows of tokens from words.csv');
  await shown(page, 'user-table-collisions');
  const collisions = figureOf(page, 'user-table-collisions');
  await collisions.getByLabel('A token').fill('word-7');
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'user-table-collisions'))?.finding)
    .toContain('“word-7”');
  await collisions.getByLabel('A token').fill('zebra');
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'user-table-collisions'))?.problems.join())
    .toContain('“zebra” is not among the 90 rows that were read of “words.csv”');

  await line('position').setInputFiles(payload('half.csv', Buffer.from('1,2,3\n4,5\n')));
  await expect.poll(status).toBe('“half.csv”, line 2: expected 3 cells, as in line 1; found 2.');
  // The table that was open is still there.
  expect((await shown(page, 'user-table-overlap')).finding).toBe(overlap.finding);

  // The site's own files are requested, and nothing is sent: visit() fails on requests elsewhere.
  expect(sent).toEqual([]);
  await part.getByRole('button', { name: 'Forget the tables' }).click();
  await expect.poll(() => part.locator('superpose-figure').count()).toBe(0);
  expect(await status()).toBe('The tables are forgotten.');
});

test('a link to a figure of somebody’s tables says what to open, and shows its state when that is opened', async () => {
  const digestOf = async (name: string, bytes: Buffer) =>
    (await openTable(plain, new File([new Uint8Array(bytes)], name), { rows: 5000 })).digest;
  const digest = `${await digestOf('words.csv', bytesOf('words.csv'))}.${await digestOf('rows.npy', ofPositions)}`;
  const { page } = await visit({
    of: 'user-model',
    fragment: `#v=1&figure=user-table-overlap&file=${digest}&k=4`,
  });
  await expect
    .poll(() => page.locator('#notice').textContent())
    .toContain(`file ${digest}. Open the same file below`);
  // The part that opens tables is open.
  const part = page.locator('#user-model .user-table');
  await part.locator('[data-kind=token] input').setInputFiles(payload('words.csv'));
  await expect.poll(() => part.locator('superpose-figure').count()).toBe(3);
  await part.locator('[data-kind=position] input').setInputFiles(payload('rows.npy', ofPositions));
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'user-table-overlap'))?.drawn)
    .toMatchObject({ k: 4, tokens: 'user', positions: 'user' });
  expect((await shown(page, 'user-table-overlap')).finding).toContain('the 4 main position directions');
});

test('reading a long file can be stopped', async () => {
  const { page } = await visit({ of: 'user-model' });
  const { part, status } = await partOf(page);
  await page.evaluate(() => {
    const text = new TextEncoder().encode(`5,${'1,'.repeat(299)}1\n`.repeat(400));
    const file = new File([text], 'long.csv');
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(file);
    const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer });
    document.querySelector('.user-table [data-kind=token]')?.dispatchEvent(event);
    // At once, before any of the file has arrived.
    for (const button of document.querySelectorAll<HTMLButtonElement>('.user-table button'))
      if (button.textContent === 'Stop' && !button.hidden) button.click();
  });
  await expect.poll(status).toBe('Stopped.');
  expect(await part.locator('superpose-figure').count()).toBe(0);
  await part.locator('[data-kind=token] input').setInputFiles(payload('rows.csv'));
  await expect.poll(status).toContain('Rows of tokens from rows.csv');
  await shown(page, 'user-table-dot-products');
  // The answer that the tables are forgotten comes while the next file is read, and must not hide its button.
  await part.evaluate((root) => {
    const named = (text: string) =>
      [...root.querySelectorAll('button')].find(({ textContent }) => textContent === text) as HTMLElement;
    named('Forget the tables').click();
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['a,-1\nb,2\n'], 'next.csv'));
    root
      .querySelector('[data-kind=token]')
      ?.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
    const stop = named('Stop');
    new MutationObserver(() => {
      const said = root.querySelector('[role=status]')?.textContent;
      root.setAttribute('data-hidden-at', `${root.getAttribute('data-hidden-at') ?? ''}${said}`);
    }).observe(stop, { attributes: true, attributeFilter: ['hidden'] });
  });
  await expect.poll(status).toContain('Rows of tokens from next.csv');
  await expect.poll(() => part.getAttribute('data-hidden-at')).toMatch(/^Rows of tokens from next.csv/);
});

test('the status says how a .csv file was read, and the reader can choose it', async () => {
  const { page } = await visit({ of: 'user-model' });
  const { part, status } = await partOf(page);
  // Tables with an index as pandas writes it, with a header and without one.
  const lines = Array.from({ length: 40 }, (_, row) => `${row},0.5,${row / 8 + 0.25}`).join('\n');
  const input = part.locator('[data-kind=token] input');
  await input.setInputFiles(payload('pandas.csv', Buffer.from(`,0,1\n${lines}\n`)));
  await expect
    .poll(status)
    .toContain(
      '40, of 2 numbers each. Its first line was read as names of columns, and its first column as names of rows,',
    );
  await input.setInputFiles(payload('bare.csv', Buffer.from(`${lines}\n`)));
  await expect
    .poll(status)
    .toContain(
      '“bare.csv”: the first column ("0", "1", "2", …) may name rows or be numbers; pass labels: true',
    );
  await part.getByLabel('Its first column has').selectOption('names of rows');
  await input.setInputFiles(payload('chosen.csv', Buffer.from(`${lines}\n`)));
  await expect.poll(status).toContain('chosen.csv: 40, of 2 numbers each.');
});
