// Runs the C++ tests of one preset: a program a room, one process each.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { ask, root, step } from './steps.mjs';
import { readResult, resultFile } from './testResults.mjs';

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
          const chosen = filters.length > 0 ? chosenTests(program, room, filters, env) : ['*'];
          if (chosen.length === 0) return;
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

/** The full names of a program's tests that the filters choose. */
function chosenTests(program, room, filters, env) {
  let suite = '';
  const names = [];
  for (const line of (ask(program, ['--gtest_list_tests'], { env, cwd: root }) ?? '').split('\n')) {
    const [name] = line.split('#');
    if (name.startsWith(' ')) names.push(suite + name.trim());
    else suite = name.trim();
  }
  return names.filter((name) =>
    filters.some((filter) => `${name}\n${room}`.toLowerCase().includes(filter.toLowerCase())),
  );
}
