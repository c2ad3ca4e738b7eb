// A reader's own model on the page: chosen files give its figures, with the library's numbers, and nothing
// leaves the page. What its figures say is computed by tests/figures/userModel.test.ts.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openModel } from 'add-or-concatenate';
import type { Page } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { about } from '../../web/plot/format.ts';
import { plain } from '../api/support/builds.ts';
import { readFigure } from './support/shown.ts';
import { figureOf, openMenu, settled, visit } from './support/visit.ts';

/** The names and the bytes of a folder's files, in base64. */
const filesIn = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'base64')] as const);

/**
 * Runs in the page: drops a folder on the card for the reader's own model, once that card exists. A browser
 * makes entries from what the system drops; these imitate a folder and its reader. An entry without bytes has
 * no file. A folder that is `held` is listed only at the page’s event “list”.
 */
function dropFolder({
  files,
  held,
}: {
  files: readonly (readonly [string, string | null])[];
  held?: true;
}): boolean {
  const card = document.querySelector('#user-model') as HTMLDetailsElement;
  card.open = true;
  const target = card.querySelector('.user-model');
  if (!target) return false;
  const entries = files.map(([name, base64]) => ({
    isFile: true,
    isDirectory: false,
    name,
    file: (take: (file: File) => void, fail: (error: Error) => void) =>
      base64 === null
        ? fail(new DOMException('There is none.', 'NotFoundError'))
        : take(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name)),
  }));
  // A directory reader returns some entries at a time, and at the end none.
  const parts = [entries.slice(0, 1), entries.slice(1), []];
  const folder = {
    isFile: false,
    isDirectory: true,
    name: 'folder',
    createReader: () => ({
      readEntries(take: (some: unknown[]) => void) {
        const some = parts.shift() ?? [];
        if (held && some.length === 1) window.addEventListener('list', () => take(some));
        else take(some);
      },
    }),
  };
  const event = new DragEvent('drop', { bubbles: true, cancelable: true });
  Object.defineProperty(event, 'dataTransfer', {
    value: { files: [new File([], 'folder')], items: [{ webkitGetAsEntry: () => folder }] },
  });
  target.dispatchEvent(event);
  return true;
}

const folderOf = (name: string) =>
  fileURLToPath(new URL(`../reference/checkpoints/${name}`, import.meta.url));
const filesOf = (name: string) => readdirSync(folderOf(name)).map((file) => `${folderOf(name)}/${file}`);

async function opened(page: Page, files: string[]) {
  const card = page.locator('#user-model');
  await card.locator('summary').first().click();
  await card.locator('input[type=file]').first().setInputFiles(files);
  return card;
}

const shown = async (page: Page, name: string) => {
  await figureOf(page, name).scrollIntoViewIfNeeded();
  await expect
    .poll(() => page.evaluate(readFigure, name).then((one) => one?.drawn !== undefined && !one.busy), {
      timeout: 60_000,
    })
    .toBe(true);
  const found = await page.evaluate(readFigure, name);
  if (!found) throw new Error(`There is no figure ${name}.`);
  return found;
};

test('a file of GPT-2’s layout gives its figures, with the library’s numbers', async () => {
  const { page, site } = await visit({ of: 'user-model' });
  const card = await opened(page, filesOf('gpt2'));
  await expect
    .poll(() => card.locator('.user-model > [role=status]').textContent())
    .toContain('GPT-2, 0 MB; opened here from model.safetensors;');
  // Everything that the page opens with has been fetched by now.
  await settled(page, 'dot-products');
  const requests = site.requests.length;
  const model = await openModel(plain, folderOf('gpt2'));
  const report = await model.report();
  const overlap = await shown(page, 'user-model-overlap');
  expect(overlap.finding).toContain(
    `Weighted by energy: ${about(report.overlap?.raw as number)} times as much as chance, raw`,
  );
  expect(overlap.notes.join()).toContain('not verified against a reference');

  // Without a tokenizer, tokens are numbers.
  const [content = '', position = '', ...others] = model.summands;
  const groups = { [content]: [content], [position]: [position], rest: [...others, 'constant'] };
  const scores = await model.decompose({ ids: [2, 3, 4, 5] }, { groups });
  const heads = await shown(page, 'user-model-heads');
  expect(heads.problems).toEqual([]);
  const share = scores.shares[4] as number;
  expect(heads.finding).toMatch(/ For this sentence, in the canonical gauge/);
  await (await openMenu(figureOf(page, 'user-model-heads'))).getByText('The numbers as a table').click();
  await figureOf(page, 'user-model-heads').locator('tbody td').first().waitFor();
  const cells = await figureOf(page, 'user-model-heads')
    .locator('tbody tr')
    .first()
    .locator('td')
    .allTextContents();
  expect(Number((cells[3] as string).replace('−', '-'))).toBeCloseTo(share, 4);
  const one = await shown(page, 'user-model-one-score');
  expect(one.finding).toContain('head 0’s scores');
  await figureOf(page, 'user-model-one-score')
    .locator('input[type=text], textarea')
    .last()
    .fill('3, 7, 2, 7, 11, 500');
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'user-model-one-score'))?.problems.join())
    .toContain('from 0 to 11');
  // Only the worker’s own files and waiting pictures are fetched, and no bytes of the model: visit() fails on
  // requests elsewhere.
  expect(
    site.requests.slice(requests).filter((path) => !/\.(js|wasm)$|\/pictures\/[\w-]+\.svg$/.test(path)),
  ).toEqual([]);

  await card.getByRole('button', { name: 'Forget this model' }).click();
  await expect.poll(() => card.locator('superpose-figure').count()).toBe(0);
  expect(await card.locator('.user-model > [role=status]').textContent()).toBe('The model is forgotten.');
});

test('a file that is not a model is refused, and a missing number of heads is asked for', async () => {
  const { page } = await visit({ of: 'user-model' });
  const card = await opened(page, [`${folderOf('bert')}/config.json`]);
  const status = () => card.locator('.user-model > [role=status]').textContent();
  await expect.poll(status).toBe('There is no .safetensors file among these; tables are opened below.');
  const input = card.locator('input[type=file]').first();
  await input.setInputFiles({
    name: 'model.safetensors',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from('not a model at all'),
  });
  await expect.poll(status).toContain('not a sound safetensors file');
  expect(await card.locator('.user-model > [role=status]').getAttribute('class')).toContain('warning');
  await input.setInputFiles([`${folderOf('bert')}/model.safetensors`]);
  // RoBERTa has the same names, so the page asks.
  await expect.poll(status).toContain('Nothing says which model this is');
  expect(await card.locator('.user-model > [role=status]').getAttribute('class')).not.toContain('warning');
  expect(await card.locator('superpose-figure').count()).toBe(0);
  const families = card.getByLabel('By its tensors it may be');
  expect(await families.locator('option').allTextContents()).toEqual(['Choose…', 'BERT', 'RoBERTa']);
  // Nothing is opened before something is chosen.
  await card.getByRole('button', { name: 'Open as this' }).click();
  expect(await families.evaluate((one: HTMLSelectElement) => one.checkValidity())).toBe(false);
  await families.selectOption('BERT');
  await card.getByRole('button', { name: 'Open as this' }).click();
  await expect.poll(status).toContain('BERT, 0 MB');
  await shown(page, 'user-model-overlap');
  const named = () =>
    card.locator('superpose-figure').evaluateAll((all) => all.map((one) => one.getAttribute('name')));
  const ofTables = ['user-model-overlap', 'user-model-dot-products'];
  expect(await named()).toEqual(ofTables);
  await card.getByLabel('Heads of the first layer').fill('2');
  await card.getByLabel('ε of its norms').fill('0.01');
  await card.getByRole('button', { name: 'Open with these' }).click();
  await shown(page, 'user-model-heads');
  // Without a tokenizer there is no corpus to average over.
  expect(await named()).toEqual([
    ...ofTables,
    'user-model-heads',
    'user-model-one-score',
    'user-model-needs-positions',
  ]);
});

test('a link to a figure of somebody’s model says what to open, and shows its state when that is opened', async () => {
  const digest = await (await openModel(plain, folderOf('gpt2'))).digest();
  expect(digest).toMatch(/^[0-9a-f]{16}$/);
  const { page } = await visit({
    of: 'user-model',
    fragment: `#v=1&figure=user-model-heads&file=${digest}&gauge=raw`,
  });
  await expect
    .poll(() => page.locator('#notice').textContent())
    .toContain(`file ${digest}. Open the same file below`);
  const card = page.locator('#user-model');
  expect(await card.getAttribute('open')).not.toBeNull();
  const input = card.locator('input[type=file]').first();
  await input.setInputFiles(filesOf('gpt2'));
  const heads = await shown(page, 'user-model-heads');
  expect(heads.problems).toEqual([]);
  expect(heads.state).toMatchObject({ gauge: 'raw', file: digest });
  expect(heads.finding).toContain('in the raw gauge');
  // Another file is recognized as different.
  await page.evaluate((one) => {
    location.hash = `#v=1&figure=user-model-heads&file=${one}&gauge=raw`;
  }, '0123456789abcdef');
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'user-model-heads'))?.problems.join())
    .toContain('0123456789abcdef');
});

test('a folder that is dropped is read, without the files that are not part of a model', async () => {
  const { page } = await visit({ of: 'user-model' });
  const card = page.locator('#user-model');
  await card.locator('summary').first().click();
  await card.locator('.user-model').waitFor();
  const notes = [['notes.txt', btoa('not of a model')] as const, ['link.json', null] as const];
  const files = [...filesIn(folderOf('bert')), ...notes];
  expect(await page.evaluate(dropFolder, { files })).toBe(true);
  const status = () => card.locator('.user-model > [role=status]').textContent();
  await expect.poll(status).toContain('BERT, 0 MB; opened');
  expect((await shown(page, 'user-model-heads')).problems).toEqual([]);
  // What is chosen while a folder is still listed stays.
  await page.evaluate(dropFolder, { files, held: true as const });
  await card.locator('input[type=file]').first().setInputFiles(filesOf('gpt2'));
  await expect.poll(status).toContain('GPT-2, 0 MB; opened');
  await page.evaluate(
    () => window.dispatchEvent(new Event('list')) && new Promise((go) => setTimeout(go, 100)),
  );
  expect(await status()).toContain('GPT-2, 0 MB; opened');
});

/** Files in a new folder, by their paths in it. */
function folderWith(files: Record<string, Uint8Array | string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-model-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

test('a folder that is chosen is read as in Node: its own files, no adapter, and no index without its shards', async () => {
  const { page } = await visit({ of: 'user-model' });
  const card = page.locator('#user-model');
  await card.locator('summary').first().click();
  const folders = card.locator('input[webkitdirectory]');
  const status = () => card.locator('.user-model > [role=status]').textContent();
  const read = (file: string) => readFileSync(`${folderOf('bert')}/${file}`);
  const [config, weights] = [read('config.json'), read('model.safetensors')];
  await folders.setInputFiles(
    folderWith({
      '1_Pooling/config.json': '{"word_embedding_dimension": 8}',
      'config.json': config,
      'model.safetensors': weights,
      'sub/config.json': '{}',
    }),
  );
  await expect.poll(status).toContain('BERT, 0 MB; opened here from model.safetensors;');
  const adapter = {
    'adapter_config.json': '{}',
    'adapter_model.safetensors': weights,
    'config.json': config,
  };
  for (const [files, sentence] of [
    [adapter, 'There is an adapter_config.json: an adapter (LoRA) changes these weights.'],
    [
      {
        'model.safetensors.index.json': JSON.stringify({
          weight_map: { a: 'model-1-of-2.safetensors', b: 'model-2-of-2.safetensors' },
        }),
        'model-1-of-2.safetensors': weights,
        'config.json': config,
      },
      'this one is not beside it: model-2-of-2.safetensors. Put all of them there.',
    ],
    [
      { 'model.safetensors': weights, 'config.json': '{"num_hidden_layers": NaN}' },
      '“config.json” has NaN in line 1, column 23.',
    ],
    [
      { 'a/model.safetensors': weights, 'b/model.safetensors': weights, 'config.json': config },
      'There are weights in 2 folders',
    ],
  ] as const) {
    await folders.setInputFiles(folderWith(files));
    await expect.poll(status).toContain(sentence);
  }
});
