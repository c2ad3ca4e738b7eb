// What a compiler and a linter can find without running anything.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { changedCpp, checks, configureTidy, formatted, tidy } from '../../tools/lint.mjs';
import { which } from '../../tools/steps.mjs';
import { root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';

const inCi = process.env.CI === 'true';

/** What the tool printed if it found faults; otherwise empty. */
function faults([tool = '', ...args]: string[], cwd = root, env = process.env): string {
  try {
    execFileSync(tool, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

test.each(Object.entries(checks))('%s: nothing to mend', (_, command) => {
  expect(faults(command)).toBe('');
});

test('files import each other in no circle, types included, but those that .biome.json names, which still do', () => {
  const folder = join(root, 'build/circles');
  copySources(folder);
  const { overrides, ...config } = JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8'));
  writeFileSync(join(folder, '.biome.json'), JSON.stringify(config));
  const command = ['lint', '--only=suspicious/noImportCycles', '--max-diagnostics=none', '--reporter=github'];
  const found = faults([join(root, 'node_modules/.bin/biome'), ...command], folder);
  rmSync(folder, { recursive: true });
  const circles = new Set(
    [...found.matchAll(/^::error .*?file=([^,]+)/gm)].map(([, file = '']) => relative(folder, file)),
  );
  // Whoever breaks a circle takes its files from the list.
  expect([...circles].sort()).toEqual(overrides[0].includes);
});

test.runIf(inCi || which('clang-format'))('clang-format: C++ is laid out as .clang-format says', () => {
  expect(faults(formatted())).toBe('');
});

// All files take minutes: `npm run lint` checks them.
const env = buildEnvironment(root);
test.runIf(inCi || (which('clang-tidy') && which('cmake', env.PATH) && env.SUPERPOSE_PREFIX))(
  'clang-tidy: nothing to mend in the C++ that changed',
  () => {
    const changed: string[] = changedCpp();
    if (changed.length > 0) expect(faults(configureTidy, root, env)).toBe('');
    expect(changed.map((file) => faults(tidy(file))).join('')).toBe('');
  },
);
