// What a compiler and a linter can see without running anything.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the tool printed when it found fault; empty when it did not. */
function faults(tool: string, ...args: string[]): string {
  try {
    execFileSync(`${root}node_modules/.bin/${tool}`, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

test('the page has no type errors', () => {
  expect(faults('tsc', '-p', 'web/tsconfig.json')).toBe('');
});

test('the tests have no type errors', () => {
  expect(faults('tsc', '-p', 'tests/tsconfig.json')).toBe('');
});

test('Biome finds nothing to mend in web, tests and tools', () => {
  expect(faults('biome', 'check', '--error-on-warnings')).toBe('');
});
