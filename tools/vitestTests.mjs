// The tests in TypeScript, with Vitest: in Node, in Chromium, on the built page, in other engines.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ask, root, step } from './steps.mjs';
import { readResult, resultFile } from './testResults.mjs';

const vitest = join(root, 'node_modules/.bin/vitest');
const config = ['--config', 'tests/vitest.config.ts'];

/**
 * Runs one Vitest project: the test files, or failing that the tests, whose name contains one of
 * `filters`, or all when there are none. Returns { passed, failed, skipped }.
 */
export async function runVitest(project, filters, env) {
  const report = resultFile(`${project}.json`);
  const files = matchingFiles(project, filters, env);
  const byName = filters.length > 0 && files.length === 0 ? filters.map(inAnyCase).join('|') : '';
  const command = ['run', ...config, `--project=${project}`];
  // A test of the page and its browser take turns, so that two of them leave room for a third.
  const more = project === 'page' ? [`--maxWorkers=${availableParallelism() + 1}`] : [];
  const code = await step(
    `Run the ${project} tests`,
    { byHand: `npx vitest ${command.join(' ')} does the same.` },
    (run) =>
      run(
        vitest,
        [
          ...command,
          ...more,
          ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
          ...(byName ? ['--passWithNoTests', '-t', byName] : filters),
        ],
        {
          env: { ...env, [process.stdout.isTTY ? 'FORCE_COLOR' : 'NO_COLOR']: '1' },
          show: true,
          mayFail: true,
        },
      ),
  );
  return count(report, code, new RegExp(byName));
}

function matchingFiles(project, filters, env) {
  if (filters.length === 0) return [];
  const list = resultFile('files.json');
  ask(vitest, ['list', '--filesOnly', `--json=${list}`, ...config, `--project=${project}`, ...filters], {
    env,
    cwd: root,
  });
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
}

/** Tests that a filter by name leaves out are reported as skipped; they do not count. */
function count(report, code, byName) {
  const files = JSON.parse(readResult(report)).testResults;
  const tests = files.flatMap((file) => file.assertionResults);
  const having = (...states) => tests.filter((test) => states.includes(test.status));
  // A file that cannot even be loaded fails without a test of its own.
  const broken = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = having('failed').length + broken.length;
  return {
    passed: having('passed').length,
    failed: failed || (code === 0 ? 0 : 1),
    skipped: having('skipped', 'pending', 'todo', 'disabled').filter((test) => byName.test(test.fullName))
      .length,
  };
}

/** A pattern for this text in capitals or not; Vitest's -t takes no flags. */
function inAnyCase(text) {
  return text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}
