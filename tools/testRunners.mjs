// The test runners: of C++ a program a room, a process each; of TypeScript Vitest, in Node, in Chromium, on the built page and
// in other engines. Each leaves its counts in a file.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  if (rooms.length === 0) throw new Failure(`${preset}: there is no test at all.`);
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

/**
 * Runs Vitest projects, all at once, so that one that waits for its browser leaves the processor to others: the test
 * files whose path contains one of `filters`, or all when there are none. `extent` (quick, usual, all) is Vitest's
 * mode, by which tests/vitest.config.ts lists files. Each of the `complete` projects must run something, unless it was
 * filtered. Returns { passed, failed, skipped }.
 */
export async function runVitest(projects, complete, filters, extent, env) {
  const counts = resultFile(`${projects.join('-')}.json`);
  const command = [
    'run',
    '--config=tests/vitest.config.ts',
    `--mode=${extent}`,
    ...projects.map((project) => `--project=${project}*`),
  ];
  // A test of the page and its browser take turns, and some wait: two processors have room for four.
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
            SUPERPOSE_COUNTS: counts,
            [process.stdout.isTTY ? 'FORCE_COLOR' : 'NO_COLOR']: '1',
          },
          show: true,
          mayFail: true,
        },
      ),
  );
  const counted = JSON.parse(readResult(counts));
  const empty = complete.filter((project) => filters.length === 0 && !counted[project]);
  if (empty.length > 0) throw new Failure(`${empty.join(', ')}: the test runner ran no test at all.`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const own of Object.values(counted)) for (const kind of Object.keys(total)) total[kind] += own[kind];
  // What fails outside of any test.
  if (code !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

/** A Vitest reporter: writes the numbers of passed, failed and skipped tests by project to the file SUPERPOSE_COUNTS. */
export default class {
  onTestRunEnd(modules) {
    const counts = {};
    for (const module of modules) {
      // The name of a project that runs in a browser also has the browser's.
      const project = module.project.name.match(/\w+/)[0];
      counts[project] ??= { passed: 0, failed: 0, skipped: 0 };
      const before = counts[project].failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[project][state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
      }
      // A file that cannot even be loaded has failed, but has no failed test.
      if (module.state() === 'failed' && counts[project].failed === before) counts[project].failed += 1;
    }
    writeFileSync(process.env.SUPERPOSE_COUNTS, JSON.stringify(counts));
  }
}
