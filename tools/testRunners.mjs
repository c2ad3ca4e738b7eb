// Runs the C++ tests, a program for each room, and Vitest's projects, and counts what they ran: ctest counts
// programs instead of tests, and Vitest does not say when a project ran nothing at all.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { Failure, makeFolder, root, step } from './steps.mjs';

/** Returns the path of a result with this name, and removes the result of an earlier run. */
function resultFile(name) {
  const file = join(makeFolder(join(root, 'build', 'test-results')), name);
  rmSync(file, { force: true });
  return file;
}

function readResult(file) {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new Failure(`The test runner ended before it wrote ${file}; see its output above.`);
}

/**
 * Builds a preset and runs its tests: those whose name or program contains one of `filters`, or all if there
 * are none. Returns { passed, failed, skipped }.
 */
export async function runNativeTests(preset, filters, env) {
  await buildPreset(preset, env);
  const folder = join(presetFolder(preset), 'tests/core');
  const rooms = readdirSync(folder).filter((name) => name.endsWith('_test'));
  if (rooms.length === 0) throw new Failure(`The preset ${preset} has no test program.`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  await step(
    `Run the ${preset} tests`,
    { byHand: `". build/env.sh && ctest --preset ${preset}" does the same.` },
    (run) =>
      Promise.all(
        rooms.map(async (room) => {
          const program = join(folder, room);
          const all = filters.length === 0 || filters.some((filter) => room.includes(filter));
          const words = filters.flatMap((word) => [word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`]);
          const chosen = all ? ['*'] : words.map((word) => `*${word}*`);
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

/**
 * Runs Vitest projects, all at once, so that a test that waits for its browser leaves the processor to
 * others: the test files whose path contains one of `filters`, or all if there are none. `extent` (quick,
 * normal or all) is Vitest's mode, by which tests/vitest.config.ts lists files. Without filters, each of the
 * `complete` projects must run a test. Returns { passed, failed, skipped }.
 */
export async function runVitest(projects, complete, filters, extent, env) {
  const countsFile = resultFile(`${projects.join('-')}.json`);
  const command = [
    'run',
    '--config=tests/vitest.config.ts',
    `--mode=${extent}`,
    ...projects.map((project) => `--project=${project}*`),
  ];
  // A page test and its browser take turns, and some tests wait, so two more run than there are processors.
  const more = projects.includes('page') ? [`--maxWorkers=${availableParallelism() + 2}`] : [];
  const code = await step(
    `Run the ${projects.join(', ')} tests`,
    { byHand: `npx vitest ${command.join(' ')} does the same.` },
    (run) =>
      run(
        vitest,
        [...command, ...more, ...['--reporter=default', '--reporter=./tools/testRunners.mjs'], ...filters],
        {
          env: {
            ...env,
            SUPERPOSE_COUNTS: countsFile,
            [process.stdout.isTTY ? 'FORCE_COLOR' : 'NO_COLOR']: '1',
          },
          show: true,
          mayFail: true,
        },
      ),
  );
  const counted = JSON.parse(readResult(countsFile));
  const empty = complete.filter((project) => filters.length === 0 && !counted[project]);
  if (empty.length > 0) throw new Failure(`Vitest ran no test of ${empty.join(', ')}.`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const counts of Object.values(counted)) {
    for (const kind of Object.keys(total)) total[kind] += counts[kind];
  }
  // Something failed outside of any test.
  if (code !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

/**
 * A Vitest reporter: writes how many tests of each project passed, failed and were skipped to
 * SUPERPOSE_COUNTS.
 */
export default class {
  onTestRunEnd(modules) {
    const counts = {};
    for (const module of modules) {
      // For a project that runs in a browser, Vitest adds the browser's name to the project's.
      const project = module.project.name.match(/\w+/)[0];
      counts[project] ??= { passed: 0, failed: 0, skipped: 0 };
      const before = counts[project].failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[project][state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
      }
      // A file that cannot be loaded has failed, but has no failed test.
      if (module.state() === 'failed' && counts[project].failed === before) counts[project].failed += 1;
    }
    writeFileSync(process.env.SUPERPOSE_COUNTS, JSON.stringify(counts));
  }
}
