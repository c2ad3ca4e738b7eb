// `npm test -- changed`: the tests it picks for a change.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFiles, testsFor } from '../../tools/changed.mjs';
import { root } from '../package/support/project.ts';

const all = testFiles();
const picked = (...files: string[]) => {
  // Guards against files that have moved: no test would be picked for them.
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
  return testsFor(files, all);
};

test('a file of the core: its own tests through every layer, and the C++ ones', () => {
  const { native, tests } = picked('src/core/scores/dot_products.cpp');
  expect(native).toBe(true);
  expect(tests).toEqual(['tests/api/scores/dotProducts.test.ts', 'tests/figures/dotProducts.test.ts']);
});

test('a figure: its tests and the style, and nothing of C++', () => {
  const { native, tests } = picked('web/figures/gram.ts');
  expect(native).toBe(false);
  expect(tests).toEqual([
    'tests/figures/gram.test.ts',
    'tests/figures/names.test.ts',
    'tests/tools/style.test.ts',
  ]);
});

test('a file of the API: its tests, and those that call every function', () => {
  const { tests } = picked('src/api/geometry/oblique.ts');
  expect(tests).toContain('tests/api/geometry/oblique.test.ts');
  expect(tests).toContain('tests/api/wrongArguments.test.ts');
  expect(tests).not.toContain('tests/api/geometry/cosines.test.ts');
});

test('a file that everything depends on runs every test above it', () => {
  const { tests } = picked('src/wasm/value.cpp');
  expect(tests).toEqual(all.filter((file) => file.startsWith('tests/api/')).sort());
});

test('a test that changed runs itself, on the page too', () => {
  expect(picked('tests/page/links.test.ts').tests).toContain('tests/page/links.test.ts');
});

test('prose runs the tests of prose, and a changed document none', () => {
  expect(picked('web/index.html').tests).toContain('tests/tools/prose.test.ts');
  expect(picked('LICENSE')).toEqual({ native: false, tests: [] });
});
