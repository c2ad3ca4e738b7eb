// What compilers and linters find.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedCpp, checks, configureTidy, formatted, tidy } from '../../tools/lint.mjs';
import { which } from '../../tools/steps.mjs';
import { root } from '../package/support/project.ts';
import { buildEnvironment } from './support/copy.ts';

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

test('one spelling: -ize, as the field writes tokenizer and normalization', () => {
  const other = '(normali|tokeni|optimi|recogni|quanti|vectori|penali|minimi|factori|initiali)s(e|ing|ation)';
  // git grep ends with 1 if it found nothing.
  expect(() => execFileSync('git', ['grep', '-liE', other], { cwd: root })).toThrow(
    expect.objectContaining({ status: 1 }),
  );
});

test('Biome hears of a circle of imports, of types too', () => {
  const folder = join(root, 'build/circles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'web'), { recursive: true });
  cpSync(join(root, '.biome.json'), join(folder, '.biome.json'));
  const found = (other: string) => {
    writeFileSync(
      join(folder, 'web/one.ts'),
      `import type { Two } from './two.js';\n\nexport type One = Two;\n`,
    );
    writeFileSync(join(folder, 'web/two.ts'), other);
    const command = [
      'lint',
      '--only=suspicious/noImportCycles',
      '--max-diagnostics=none',
      '--reporter=github',
    ];
    return faults([join(root, 'node_modules/.bin/biome'), ...command], folder);
  };
  expect(found(`export type Two = 2;\n`)).toBe('');
  expect(found(`import type { One } from './one.js';\n\nexport type Two = One;\n`)).toContain('web/one.ts');
  rmSync(folder, { recursive: true });
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
