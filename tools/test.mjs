// npm test: every test, or the named parts, and one closing line that counts them all.
import { build } from './build.mjs';
import { changedFiles, testFiles, testsFor } from './changed.mjs';
import { missingPrograms } from './hostPackages.mjs';
import { runNativeTests } from './nativeTests.mjs';
import { setUp } from './setup.mjs';
import { Failure, runTool, usageError } from './steps.mjs';
import { runVitest } from './vitestTests.mjs';

const presets = ['native', 'sanitize'];
const projects = ['node', 'chromium', 'page', 'engines'];
const browsersOf = (project) =>
  ({ chromium: ['chromium'], page: ['chromium'], engines: ['engines'] })[project] ?? [];
const inCi = process.env.CI === 'true';

const help = `npm test                 runs every test
npm test -- PART...      runs some parts: ${[...presets, ...projects].join(', ')}
                           native    C++ tests, g++
                           sanitize  C++ tests, clang with address and undefined-behaviour checks
                           node      the typed API and the tools, in Node
                           chromium  the typed API and the figures, in Chromium
                           page      the built page, in Chromium
                           engines   the built page, in Firefox and WebKit
npm test -- NAME...      runs the tests whose file or name contains NAME; PART narrows it down
npm test -- changed      runs the tests of what differs from HEAD, or else of the last commit: quick, not all
With CI=true a missing browser, numpy or model is a failure, otherwise a skip.`;

async function main(args) {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help);
    return 0;
  }
  const option = args.find((arg) => arg.startsWith('-'));
  if (option) throw usageError(`npm test knows no option ${option}.\n${help}`);
  const tally = { passed: 0, failed: 0, skipped: 0 };
  await counting(tally, () => runAll(args, tally));
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  return tally.failed === 0 ? 0 : 1;
}

async function runAll(args, tally) {
  const {
    chosen,
    filters,
    nativeFilters = filters,
  } = args.includes('changed') ? ofChange(args) : select(args);
  const ours = projects.filter((project) => chosen.includes(project));
  const native = presets.filter((preset) => chosen.includes(preset));
  const browsers = [...new Set(ours.flatMap(browsersOf))];
  const env = await setUp(
    // clang-tidy, which Node's tests run, configures the C++ tests.
    ...(native.length > 0 || ours.includes('node') ? ['native'] : []),
    ...(ours.length > 0 ? ['wasm'] : []),
    ...browsers,
    ...(ours.includes('node') ? ['oracles', 'style'] : []),
    // Without a web server only the tests that need one are skipped.
    ...(ours.includes('page') ? ['hosting'] : []),
  );
  noticeMissingBrowsers(browsers, tally);

  // The page's build has one busy core and one idle one, which the C++ tests take meanwhile.
  const built = ours.length > 0 ? build(env) : undefined;
  built?.catch(() => {});
  for (const preset of native) {
    await counting(tally, () =>
      part(preset, nativeFilters, () => runNativeTests(preset, nativeFilters, env)),
    );
  }
  if (ours.length > 0) {
    await counting(tally, async () => {
      await built;
      const counts = await runVitest(ours, filters, env);
      for (const project of ours) {
        await counting(tally, () => part(project, filters, () => counts[project]));
      }
    });
  }
  if (tally.passed + tally.failed + tally.skipped === 0) {
    throw new Failure(
      `No test's file or name contains ${filters.join(' or ')}, and no part is called so.\n${help}`,
    );
  }
}

/** The parts and files of the tests that a change can break. */
function ofChange(args) {
  if (args.length > 1) throw usageError(`\`changed\` stands alone.\n${help}`);
  const files = changedFiles();
  const { native, tests } = testsFor(files, testFiles());
  console.log(`Changed: ${files.join(', ')}`);
  const runs = [...(native ? ['the C++ tests'] : []), ...tests];
  if (runs.length === 0) throw new Failure('No test is picked for these files; `npm test` runs every test.');
  console.log(`Runs ${runs.join(', ')}.`);
  const projectOf = (test) =>
    /^tests\/(page|embed)\//.test(test) ? 'page' : test.startsWith('tests/engines/') ? 'engines' : 'node';
  const ours = projects.filter((project) => tests.some((test) => projectOf(test) === project));
  return { chosen: [...(native ? ['native'] : []), ...ours], filters: tests, nativeFilters: [] };
}

/** Names of parts choose parts; every other name filters the tests in them. */
function select(args) {
  const all = [...presets, ...projects];
  const named = all.filter((part) => args.includes(part));
  return {
    chosen: named.length > 0 ? named : all,
    filters: args.filter((arg) => !all.includes(arg)),
  };
}

/** Runs a part. It must run something, unless it was filtered or its browser is missing. */
async function part(name, filters, work) {
  const result = await work();
  if (filters.length > 0 || result.passed + result.failed + result.skipped > 0) return result;
  if (!inCi && missingPrograms(browsersOf(name)).length > 0) return { skipped: 1 };
  throw new Failure(`${name}: the test runner ran no test at all.`);
}

/** Adds up what `work` counts. A step that fails counts as one failure, and the other parts go on. */
async function counting(tally, work) {
  try {
    const result = await work();
    for (const kind of Object.keys(result ?? {})) tally[kind] += result[kind];
  } catch (error) {
    console.error(error instanceof Failure ? `\n${error.message}\n` : error);
    tally.failed += 1;
  }
}

function noticeMissingBrowsers(groups, tally) {
  const missing = missingPrograms(groups);
  if (missing.length === 0) return;
  const what = inCi ? 'with CI=true that is a failure' : 'the tests in those browsers are skipped';
  console.log(`Not on this machine: ${missing.join(', ')}; ${what}.`);
  if (inCi) tally.failed += 1;
}

runTool(import.meta.url, main);
