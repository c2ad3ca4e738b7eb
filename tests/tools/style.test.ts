// clang-format and clang-tidy find no faults. `npm test` runs Biome and the type checks before any test.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { changedCpp, configureTidy, formatted, tidy } from '../../tools/lint.mjs';
import { which } from '../../tools/steps.mjs';
import { root } from '../package/support/project.ts';
import { buildEnvironment } from './support/copy.ts';

const inCi = process.env.CI === 'true';

/** The output of the tool if it found faults; otherwise empty. */
function faults([tool = '', ...args]: string[], cwd = root, env = process.env): string {
  try {
    execFileSync(tool, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

test.runIf(inCi || which('clang-format'))('clang-format: C++ is laid out as .clang-format says', () => {
  expect(faults(formatted())).toBe('');
});

// Checking all files takes minutes: `npm run lint` does that.
const env = buildEnvironment(root);
test.runIf(inCi || (which('clang-tidy') && which('cmake', env.PATH) && env.SUPERPOSE_PREFIX))(
  'clang-tidy: nothing to mend in the C++ that changed',
  () => {
    const changed: string[] = changedCpp();
    if (changed.length > 0) expect(faults(configureTidy, root, env)).toBe('');
    expect(changed.map((file) => faults(tidy(file))).join('')).toBe('');
  },
);
