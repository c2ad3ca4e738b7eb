// The test runners: of C++ a program a room, a process each; of TypeScript Vitest, in Node, in Chromium, on the built page and
// in other engines. Each leaves its counts in a file.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { Failure, makeFolder, root, step } from './steps.mjs';

/** The path for a result of this name; an earlier run's result is removed. */
function resultFile(name) {
  const file = join(makeFolder(join(root, 'build', 'test-results')), name);
  rmSync(file, { force: true });
  return file;
}

function readResult(file) {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new Failure(`The test runner ended before it wrote ${file}; what it printed stands above.`);
}

/**
 * Builds and runs the tests of a preset: those whose name or program contains one of `filters`, or all when
 * there are none. Returns { passed, failed, skipped }.
 */
export async function runNativeTests(preset, filters, env) {
  await buildPreset(preset, env);
  const folder = join(presetFolder(preset), 'tests/core');
  const rooms = readdirSync(folder).filter((name) => name.endsWith('_test'));
  const total = { passed: 0, failed: 0, skipped: 0 };
  await step(
    `Run the ${preset} tests`,
    { byHand: `". build/env.sh && ctest --preset ${preset}" does the same.` },
    (run) =>
      Promise.all(
        rooms.map(async (room) => {
          const program = join(folder, room);
          const whole = filters.length === 0 || filters.some((filter) => room.includes(filter));
          const words = filters.flatMap((one) => [one, `${one.charAt(0).toUpperCase()}${one.slice(1)}`]);
          const chosen = whole ? ['*'] : words.map((word) => `*${word}*`);
          const report = resultFile(`${preset}-${room}.json`);
          const args = [
            '--gtest_brief=1',
            `--gtest_output=json:${report}`,
            `--gtest_filter=${chosen.join(':')}`,
          ];
          const code = await run(program, args, { cwd: root, env, show: true, mayFail: true });
          const counts = JSON.parse(readResult(report));
          const failed = counts.failures || (code === 0 ? 0 : 1);
          total.failed += failed;
          total.skipped += counts.disabled;
          total.passed += counts.tests - failed - counts.disabled;
        }),
      ),
  );
  return total;
}

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
