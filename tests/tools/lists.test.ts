// Which file is in which chunk of the page, and which is compiled for speed, stands in lists. A file that is renamed must
// not leave them silently.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsOf } from '../../web/build/chunks.ts';
import { execute, root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';

test('a chunk names only files that exist', () => {
  expect(idsOf(['web/figures/terms.ts', 'build/package/check.js'])).toHaveLength(2);
  expect(() => idsOf(['web/figures/turms.ts'])).toThrow(
    'web/build/chunks.ts names web/figures/turms.ts, and there is no such file. Give it its new name there',
  );
  expect(() => idsOf(['build/package/scores/gage.js'])).toThrow(
    'names src/api/scores/gage.ts, and there is no',
  );
});

const copy = join(root, 'build/lists');
const env = buildEnvironment(copy);
test.runIf(process.env.CI === 'true' || (env.SUPERPOSE_EMSCRIPTEN && existsSync(join(root, 'build/wasm'))))(
  'so does a level of optimization',
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
