// Follows README.md's worked example of a figure: compiles it as part of web/, runs it, draws it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'superpose';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '../package/support/readme.ts';
import { expectSoundPictures, run } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('a figure of the README, in a copy of web/', async () => {
  const [code = '', ...registered] = blocks('Add a figure', 'ts');
  const folder = join(root, 'build/readme-figure');
  rmSync(folder, { recursive: true, force: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'web'), join(folder, 'web'), { recursive: true });
  for (const beside of ['build', 'src']) symlinkSync(join(root, beside), join(folder, beside));
  const file = join(folder, 'web/figures/turns.ts');
  writeFileSync(file, code);

  // Put it where the others are.
  const [inIndex = '', inComputes = ''] = registered;
  const add = (path: string, change: (text: string) => string) => {
    const text = readFileSync(join(folder, path), 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(join(folder, path), change(text));
  };
  const last = (text: string, line: string) => text.replace(/\n};\s*$/, () => `\n${line.trimEnd()}\n};\n`);
  add('web/figures/index.ts', (text) => last(text, inIndex));
  const [importLine = '', entry = ''] = inComputes.split('\n');
  add('web/worker/laterComputes.ts', (text) => last(`${importLine}\n${text}`, entry));
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'web/tsconfig.json'], {
    cwd: folder,
    stdio: 'pipe',
  });

  const made = await import(file);
  for (const d of [4, 64, 256]) {
    const result = await run(made, { d });
    expectSoundPictures(result);
    const { rows } = result.figure.table(result.data, result.state);
    const frequencies = (await load()).sinusoidalFrequencies({ d_model: d });
    expect(rows).toEqual(Array.from(frequencies, (turn, j) => [j, turn]));
  }
});
