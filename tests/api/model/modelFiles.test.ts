// The errors of loadMiniLM() for drawn files that are missing, damaged or of another version.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadMiniLM } from 'add-or-concatenate';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { files, manifest } from './tinyMinilm.ts';

const folders: string[] = [];
let folder = '';
let from: URL;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'superpose-model-'));
  folders.push(folder);
  from = pathToFileURL(`${folder}/`);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});

afterAll(async () => {
  for (const each of folders) await rm(each, { recursive: true });
});

const load = () => loadMiniLM(plain, { from });
const sentence = (promise: Promise<unknown>) =>
  promise.then(
    () => 'It did not fail.',
    (error: Error) => error.message,
  );

test('the folder may be a path relative to where the program runs, with any letters', async () => {
  const odd = join(folder, 'a #1 & 50%', 'model');
  await mkdir(odd, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(odd, name), content);
  const below = relative(process.cwd(), odd);
  for (const path of [`${odd}/`, odd, below, `${below}/`, pathToFileURL(odd), pathToFileURL(odd).href])
    expect((await loadMiniLM(plain, { from: path })).heads, String(path)).toBe(2);
});

test('no folder', async () => {
  const advice = 'Give the folder that `npm run build` fills, build/model/ or a copy of it.';
  for (const [missing, where] of [
    [new URL('missing/', from), join(folder, 'missing/manifest.json')],
    ['./missing/', join(process.cwd(), 'missing/manifest.json')],
  ] as const)
    expect(await sentence(loadMiniLM(plain, { from: missing }))).toBe(
      `The MiniLM files are not there. The MiniLM file manifest.json could not be read (${where}). ${advice}`,
    );
});

test.each(['config.json', 'tokenizer.json', 'layer-0.bin'])('no %s', async (name) => {
  await rm(join(folder, name));
  expect(await sentence(load())).toMatch(new RegExp(`^The MiniLM file ${name} could not be read .*\\.$`));
});

test('a manifest of another format', async () => {
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, format: 3 }));
  expect(await sentence(load())).toBe('The MiniLM files have format 3; this version reads 4. Build again.');
});

test.each(['null', '{}', '[1]', '"format"'])('a manifest that is %s', async (content) => {
  await writeFile(join(folder, 'manifest.json'), content);
  expect(await sentence(load())).toMatch(
    /^The MiniLM files have format undefined; this version reads 4\. Build again\.$/,
  );
});

const damaged = (name: string, why: string) => `The MiniLM file ${name} is damaged; build it again. ${why}`;

test.each(['words-0.bin', 'positions-0.bin'])(
  '%s of another length, and tried again once it is sound',
  async (name) => {
    const sound = files[name] as Uint8Array;
    for (const bytes of [sound.subarray(4), new Uint8Array(sound.length + 4), new Uint8Array()]) {
      const model = await load();
      await writeFile(join(folder, name), bytes);
      const why = `It has ${bytes.length} bytes instead of ${sound.length}.`;
      expect(await sentence(model.decompose('the river'))).toBe(damaged(name, why));
      await writeFile(join(folder, name), sound);
      expect((await model.decompose('the river')).n).toBe(4);
    }
  },
);

test('a missing piece is reported, and read once it is there; other pieces work meanwhile', async () => {
  const model = await load();
  const piece = join(folder, 'words-1.bin');
  await rm(piece);
  expect(await sentence(model.decompose('the mat'))).toMatch(
    /^The MiniLM file words-1\.bin could not be read .*\.$/,
  );
  expect((await model.decompose('river')).n).toBe(3);
  await writeFile(piece, files['words-1.bin'] as Uint8Array);
  expect((await model.decompose('the mat')).n).toBe(4);
});
