// The tests that a change can break: which parts to run, and which of their files.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ask, Failure, root } from './steps.mjs';

/** The files that differ from HEAD, including new ones; if there are none, those of the last commit. */
export function changedFiles() {
  const lines = (...args) => (ask('git', args, { cwd: root }) ?? '').split('\n').filter(Boolean);
  if (ask('git', ['rev-parse', '--git-dir'], { cwd: root }) === undefined) {
    throw new Failure(
      'What changed is asked of git, and this folder is no checkout. `npm test -- NAME` picks tests by name.',
    );
  }
  const uncommitted = [
    ...lines('diff', '--name-only', 'HEAD'),
    ...lines('ls-files', '--others', '--exclude-standard'),
  ];
  return uncommitted.length > 0 ? uncommitted : lines('diff', '--name-only', 'HEAD~1', 'HEAD');
}

/** Every test file of the checkout, relative to it. */
export const testFiles = () =>
  readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `tests/${file.replaceAll('\\', '/')}`);

/**
 * The tests for these changed files: whether C++ tests run, and which test files do. A file's own tests have
 * its name, in a room of the same name. A file that many others depend on runs its whole room. Tests of the
 * built page are left to `npm test`, except a test file that changed itself.
 */
export function testsFor(files, tests) {
  const chosen = new Set();
  const choose = (wanted) => {
    for (const test of tests.filter(wanted)) chosen.add(test);
  };
  const within = (folder) => choose((test) => test.startsWith(folder));
  const named = (folder, name) =>
    choose((test) => test.startsWith(folder) && same(basename(test).split(/[.-]/)[0], name));
  for (const file of files) {
    const name = basename(file).split('.')[0];
    const [, top, room] = file.match(/^(src\/\w+|web\/\w+|tests\/\w+)\/(?:(\w+)\/)?/) ?? [];
    if (tests.includes(file)) chosen.add(file);
    else if (top === 'src/core') {
      named('tests/api/', name);
      named('tests/figures/', name);
    } else if (top === 'src/wasm' || (top === 'src/api' && !room)) within('tests/api/');
    else if (top === 'src/api') {
      named('tests/api/', name);
      choose((test) => /^tests\/api\/(drift|wrongArguments)\./.test(test));
    } else if (top === 'web/figures') {
      named('tests/figures/', name);
      choose((test) => /^tests\/figures\/names\./.test(test));
    } else if (top === 'web/plot' || top === 'web/worker') within('tests/figures/');
    else if (file === 'docs/examples.mjs') choose((test) => /^tests\/tools\/library\./.test(test));
    else if (top === 'tests/reference') choose((test) => /oracles?\./i.test(test));
    else if (/^web\/(index\.html|page\/\w+\.json)$/.test(file)) {
      choose((test) => /^tests\/tools\/(prose|verdicts)/.test(test));
    } else if (top === 'tests/api' || top === 'tests/figures') within(`${top}/`);
    else if (/^(README\.md|\.github\/)/.test(file)) {
      choose((test) => /^tests\/api\/readme\.|^tests\/tools\/workflows\./.test(test));
    }
  }
  if (files.some((file) => /\.(ts|mjs|js|css|json)$/.test(file))) {
    choose((test) => test === 'tests/tools/style.test.ts');
  }
  return {
    native: files.some((file) => /^(src\/core|tests\/core|CMake)/.test(file)),
    tests: [...chosen].sort(),
  };
}

/** Whether two names are the same, as dot_products and dotProducts are. */
const same = (one, other) => plain(one) === plain(other);
const plain = (name) => name.replaceAll('_', '').toLowerCase();
