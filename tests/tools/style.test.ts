// What a compiler and a linter can find without running anything.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { presetFolder } from '../../tools/cmake.mjs';
import { changedCpp, checks, formatted, tidy } from '../../tools/lint.mjs';
import { which } from '../../tools/steps.mjs';
import { root } from '../package/support/project.ts';

const inCi = process.env.CI === 'true';

/** What the tool printed if it found faults; otherwise empty. */
function faults([tool = '', ...args]: string[]): string {
  try {
    execFileSync(tool, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

test.each(Object.entries(checks))('%s: nothing to mend', (_, command) => {
  expect(faults(command)).toBe('');
});

test.runIf(inCi || which('clang-format'))('clang-format: C++ is laid out as .clang-format says', () => {
  expect(faults(formatted())).toBe('');
});

// All files take minutes: `npm run lint` checks them.
test.runIf(inCi || (which('clang-tidy') && existsSync(`${presetFolder('native')}/compile_commands.json`)))(
  'clang-tidy: nothing to mend in the C++ that changed',
  () => {
    expect(
      changedCpp()
        .map((file: string) => faults(tidy(file)))
        .join(''),
    ).toBe('');
  },
);
