// What must hold of every way in of tools/language, and that a model learns in each.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../package/support/project.ts';
import { oneThread } from './support/numpy.ts';

const hasTorch = (python: string) => {
  try {
    execFileSync(python, ['-c', 'import torch'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const python = ['/usr/bin/python3', 'python3'].find(hasTorch);
if (!python)
  console.log('No python3 here has PyTorch (Debian: python3-torch), so no language model is trained.');

// The runs on the page are recorded, so nobody who builds it needs PyTorch: without PyTorch this test is
// skipped, in CI, too.
test.skipIf(!python)('language models: what is held of every way in, and each learns', () => {
  const script = join(root, 'tests/tools/language_ways.py');
  const lines = execFileSync(python ?? '', ['-B', script], { encoding: 'utf8', env: oneThread }).split('\n');
  expect(lines.filter((line) => line.startsWith('held: '))).toHaveLength(7);
  expect(lines.filter((line) => line.startsWith('trained: '))).toHaveLength(22);
});
