// npm test: the checks and tests of every change; quick: those of the library and the figures; test:all:
// every test. One closing line counts them. Neither ctest nor Vitest sets up a machine, builds what is
// tested, or counts the other's tests.
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, buildForNode, buildTypes } from './build.mjs';
import { missingPrograms } from './hostPackages.mjs';
import { biome, typedRooms, typesOf } from './lint.mjs';
import { setUp } from './setup.mjs';
import { Failure, root, runTool, usageError } from './steps.mjs';
import { runNativeTests, runVitest } from './testRunners.mjs';

const presets = ['sanitize', 'native'];
const projects = ['node', 'chromium', 'page', 'engines'];
const browsersOf = (project) =>
  ({ chromium: ['chromium'], page: ['chromium'], engines: ['engines'] })[project] ?? [];
const inCi = process.env.CI === 'true';

const help = `npm test                 runs what every change must pass
npm test -- quick        runs a minute of it: the library and the figures, in Node
npm run test:all         runs everything, before a release and once a week: the long tests (tests/**/*.long.test.ts)
                         too, the C++ tests as g++ builds them, and what is drawn at random with a new seed
npm test -- PART...      runs some parts: ${[...presets, ...projects].join(', ')}
                           sanitize  C++ tests, clang with address and undefined-behaviour checks
                           native    C++ tests, g++; in test:all, or by name
                           node      the typed API and the tools, in Node
                           chromium  what of the typed API a browser does otherwise
                           page      the built page, in Chromium
                           engines   the built page, in Firefox and WebKit
npm test -- NAME...      runs the test files whose path contains NAME, long ones too, and the C++ tests whose name
                         does; PART narrows it down
With CI=true a missing browser, numpy or model is a failure, otherwise a skip.`;

async function main(args) {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help);
    return 0;
  }
  const option = args.find((arg) => arg.startsWith('-'));
  if (option) throw usageError(`npm test knows no option ${option}.\n${help}`);
  const tally = { passed: 0, failed: 0, skipped: 0 };
  await counting(tally, () => runAll(select(args), tally));
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  return tally.failed === 0 ? 0 : 1;
}

/**
 * `extent` is quick, normal or all; names of parts choose parts; every other name filters the tests in them.
 */
function select(args) {
  const extent = ['quick', 'all'].find((word) => args.includes(word));
  const rest = args.filter((arg) => arg !== extent);
  if (extent && rest.length > 0) throw usageError(`\`${extent}\` stands alone.\n${help}`);
  const parts = [...presets, ...projects];
  const named = parts.filter((part) => rest.includes(part));
  const filters = rest.filter((arg) => !parts.includes(arg));
  const byExtent = { quick: ['node'], all: parts }[extent] ?? parts.filter((part) => part !== 'native');
  return {
    extent: extent ?? (filters.length > 0 ? 'all' : 'normal'),
    chosen: named.length > 0 ? named : byExtent,
    filters,
    // Except with `all`, the same numbers are drawn each time, so that a failure can be reproduced.
    seed: extent === 'all' ? (process.env.SUPERPOSE_SEED ?? String(randomInt(2 ** 31))) : undefined,
  };
}

async function runAll({ extent, chosen, filters, seed }, tally) {
  const ours = projects.filter((project) => chosen.includes(project));
  const native = presets.filter((preset) => chosen.includes(preset));
  const browsers = [...new Set(ours.flatMap(browsersOf))];
  const inNode = ours.includes('node') && extent !== 'quick';
  const setUpEnv = await setUp(
    // clang-tidy, which Node's tests run, configures the C++ tests.
    ...(native.length > 0 || inNode ? ['native'] : []),
    ...(ours.length > 0 ? ['wasm'] : []),
    ...browsers,
    ...(inNode ? ['oracles', 'style'] : []),
  );
  const missing = missingPrograms(browsers);
  if (missing.length > 0) console.log(`Not on this machine, so its tests do not run: ${missing.join(', ')}.`);
  if (missing.length > 0 && inCi) tally.failed += 1;
  if (seed) console.log(`Random draws use SUPERPOSE_SEED=${seed}; set it to repeat them.`);
  const env = seed ? { ...setUpEnv, SUPERPOSE_SEED: seed } : setUpEnv;

  // At once, because the C++ tests and the page's build each use only one core towards their ends.
  await Promise.all([
    (async () => {
      for (const preset of native) await counting(tally, () => runNativeTests(preset, filters, env));
    })(),
    ours.length > 0 &&
      counting(tally, async () => {
        // Checks that take seconds come before the modules, which take a minute to build.
        await counting(tally, () => biome(env));
        await buildTypes(env);
        for (const room of typedRooms) await counting(tally, () => typesOf(room, env));
        await (readsSite(ours, filters, extent) ? build(env) : buildForNode(env));
        const complete = ours.filter((project) => missingPrograms(browsersOf(project)).length === 0);
        return runVitest(ours, complete, filters, extent, env);
      }),
  ]);
  if (tally.passed + tally.failed + tally.skipped === 0) {
    throw new Failure(
      `No test file's path and no C++ test's name contains ${filters.join(' or ')}, and no part is called so.\n${help}`,
    );
  }
}

/** The folders whose tests run in Node on the library and the figures alone. */
const withoutSite = ['api', 'figures', 'worker', 'fuzz', 'soak'];

/** Whether a test that will run may read the page or the embeds, so that they must be built. */
function readsSite(chosen, filters, extent) {
  if (extent === 'quick') return false;
  if (chosen.some((project) => project !== 'node') || filters.length === 0) return true;
  const tests = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' });
  const named = tests.filter(
    (path) => path.endsWith('.test.ts') && filters.some((filter) => `tests/${path}`.includes(filter)),
  );
  return named.some((path) => !withoutSite.includes(path.split('/')[0]));
}

/**
 * Adds what `work` counts to the tally. A step that fails counts as one failure, and the other parts go on.
 */
async function counting(tally, work) {
  try {
    const result = await work();
    for (const kind of Object.keys(result ?? {})) tally[kind] += result[kind];
  } catch (error) {
    console.error(error instanceof Failure ? `\n${error.message}\n` : error);
    tally.failed += 1;
  }
}

runTool(import.meta.url, main);
