// Which file of the core is compiled for speed stands in lists. One that is renamed must not leave them silently.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { execute, root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';

const copy = join(root, 'build/lists');
const env = buildEnvironment(copy);
test.runIf(process.env.CI === 'true' || (env.SUPERPOSE_EMSCRIPTEN && existsSync(join(root, 'build/wasm'))))(
  'a level of optimization names only files that exist',
  async () => {
    copySources(copy);
    const file = join(copy, 'CMakeLists.txt');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(' scores/softmax', ' scores/softmacks'));
    const { code, stderr } = await execute('cmake', ['--preset', 'wasm'], copy, env);
    rmSync(copy, { recursive: true });
    expect(code).not.toBe(0);
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      'has scores/softmacks.cpp in its list "fast", and src/core has no such file. Give it its new name there, or take it out.',
    );
  },
);
