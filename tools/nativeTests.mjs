// Runs the C++ tests of one preset with CTest.
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { ask, root, step } from './steps.mjs';
import { readResult, resultFile } from './testResults.mjs';

/**
 * Builds and runs the tests of a preset: those whose name or program contains one of `filters`, or all when
 * there are none. Returns { passed, failed, skipped }.
 */
export async function runNativeTests(preset, filters, env) {
  await buildPreset(preset, env);
  const tests = listTests(preset, filters, env);
  if (filters.length > 0 && tests.length === 0) return { passed: 0, failed: 0, skipped: 0 };
  const report = resultFile(`${preset}.xml`);
  const args = ['--preset', preset, '--output-junit', report, '--parallel', String(availableParallelism())];
  // -I takes start, end and stride, which select nothing here, and then the numbers of the tests.
  if (filters.length > 0) args.push('-I', `0,0,0,${tests.join(',')}`);
  const code = await step(
    `Run the ${preset} tests`,
    { byHand: `". build/env.sh && ctest --preset ${preset}" does the same.` },
    (run) => run('ctest', args, { env, show: true, mayFail: true }),
  );
  return count(report, code);
}

/** The numbers, counted from 1, of the tests that the filters choose. */
function listTests(preset, filters, env) {
  const answer = ask('ctest', ['--test-dir', presetFolder(preset), '--show-only=json-v1'], {
    env,
    cwd: root,
  });
  const chosen = (test) => {
    const text = `${test.name}\n${basename(test.command?.[0] ?? '')}`.toLowerCase();
    return filters.some((filter) => text.includes(filter.toLowerCase()));
  };
  return JSON.parse(answer ?? '{"tests":[]}').tests.flatMap((test, i) => (chosen(test) ? i + 1 : []));
}

function count(report, code) {
  const suite = readResult(report).match(/<testsuite\b[^>]*>/)[0];
  const number = (name) => Number(suite.match(new RegExp(`\\b${name}="(\\d+)"`))?.[1] ?? 0);
  const skipped = number('skipped') + number('disabled');
  const failed = number('failures');
  return {
    passed: number('tests') - failed - skipped,
    failed: failed || (code === 0 ? 0 : 1),
    skipped,
  };
}
