// The tests in TypeScript, with Vitest: in Node, in Chromium, on the built page, in other engines.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root, step } from './steps.mjs';
import { readResult, resultFile } from './testResults.mjs';

const vitest = join(root, 'node_modules/.bin/vitest');
const config = ['--config', 'tests/vitest.config.ts'];

/**
 * Runs Vitest projects, all at once, so that one that waits for its browser leaves the processor to others: the test
 * files whose path contains one of `filters`, or all when there are none. `extent` (quick, usual, all) is Vitest's
 * mode, by which tests/vitest.config.ts lists files. Returns { passed, failed, skipped } for each project.
 */
export async function runVitest(projects, filters, extent, env) {
  const counts = resultFile(`${projects.join('-')}.json`);
  const command = [
    'run',
    ...config,
    `--mode=${extent}`,
    ...projects.map((project) => `--project=${project}*`),
  ];
  // A test of the page and its browser take turns, so that two of them leave room for a third.
  const more = projects.includes('page') ? [`--maxWorkers=${availableParallelism() + 1}`] : [];
  const code = await step(
    `Run the ${projects.join(', ')} tests`,
    { byHand: `npx vitest ${command.join(' ')} does the same.` },
    (run) =>
      run(
        vitest,
        [...command, ...more, ...['--reporter=default', '--reporter=./tools/vitestCounts.mjs'], ...filters],
        {
          env: {
            ...env,
            SUPERPOSE_COUNTS: counts,
            [process.stdout.isTTY ? 'FORCE_COLOR' : 'NO_COLOR']: '1',
          },
          show: true,
          mayFail: true,
        },
      ),
  );
  const counted = JSON.parse(readResult(counts));
  // What fails outside of any test.
  if (code !== 0 && !projects.some((project) => counted[project]?.failed)) {
    counted[projects[0]] = { passed: 0, skipped: 0, ...counted[projects[0]], failed: 1 };
  }
  return Object.fromEntries(
    projects.map((project) => [project, { passed: 0, failed: 0, skipped: 0, ...counted[project] }]),
  );
}
