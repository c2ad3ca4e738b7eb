// Where loadMiniLM() looks: the given folder, the build's, or in Node the package with the weights.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadMiniLM } from 'add-or-concatenate';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { plain } from '../support/builds.ts';
import { files, weights } from './tinyMinilm.ts';

const finder = '../../../build/package/model/extractMinilm.js';
const manifest = expect.stringMatching(/\/build\/model\/manifest\.json$/);
let folder = '';
/** The paths at which the build's files were looked for, and whether those files seem to exist. */
let looked: string[] = [];
let isBuilt = true;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'superpose-places-'));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  [looked, isBuilt] = [[], true];
  vi.doMock('node:fs', () => ({
    existsSync: (address: URL) => {
      looked.push(address.pathname);
      return isBuilt;
    },
  }));
});
afterEach(() => {
  for (const name of ['node:fs/promises', 'node:fs', finder]) vi.doUnmock(name);
  vi.unstubAllGlobals();
});

/** Puts the tiny files into the build's folder; returns a list of what is read there. */
function withBuilt(): string[] {
  const read: string[] = [];
  vi.doMock('node:fs/promises', () => ({
    readFile: async (address: URL) => {
      read.push(address.pathname);
      return files[address.pathname.split('/').at(-1) as string];
    },
  }));
  return read;
}

test('without a folder, in the build’s', async () => {
  const read = withBuilt();
  expect((await loadMiniLM(plain)).positions).toBe(140);
  expect(looked).toEqual([manifest]);
  expect(read).toHaveLength(4);
  expect(read[0]).toBe(looked[0]);
});

test('in the given folder, even if there are files elsewhere', async () => {
  isBuilt = false;
  expect((await loadMiniLM(plain, { from: pathToFileURL(`${folder}/`) })).positions).toBe(140);
  expect(looked).toEqual([]);
});

test('without files of the build, in the package with the weights', async () => {
  isBuilt = false;
  const published = join(folder, 'published');
  await mkdir(published);
  for (const name of ['config.json', 'tokenizer.json'])
    await writeFile(join(published, name), files[name] as Uint8Array);
  await writeFile(join(published, 'model.fp16.safetensors'), weights);
  vi.doMock(finder, () => ({ weightsFolder: () => pathToFileURL(`${published}/`) }));
  const publishedModel = await loadMiniLM(plain);
  expect(looked).toEqual([manifest]);
  expect(publishedModel.files).toEqual(['model.fp16.safetensors']);
  const built = await loadMiniLM(plain, { from: pathToFileURL(`${folder}/`) });
  expect((await publishedModel.forward('the cats')).embedding).toEqual(
    (await built.forward('the cats')).embedding,
  );
});

test.each<[string, () => object]>([
  ['finds none', () => ({ weightsFolder: () => undefined })],
  [
    'is not in a bundle',
    () => {
      throw new Error('It is not in the bundle.');
    },
  ],
])('where what looks for that package %s, in the build’s folder again', async (_, extraction) => {
  isBuilt = false;
  const read = withBuilt();
  vi.doMock(finder, extraction);
  expect((await loadMiniLM(plain)).positions).toBe(140);
  expect(read[0]).toEqual(manifest);
});

test('a folder is relative to the page, and without one to where the program runs', async () => {
  vi.stubGlobal('document', { baseURI: String(pathToFileURL(`${folder}/page/`)) });
  expect((await loadMiniLM(plain, { from: '../' })).positions).toBe(140);
  vi.unstubAllGlobals();
  const error = await loadMiniLM(plain, { from: 'own/' }).catch((error) => error);
  expect(error.message).toMatch(/^The MiniLM files are not there\./);
  expect(error.cause.message).toContain(`could not be read (${process.cwd()}/own/manifest.json).`);
});
