// Vitest's runner of `npm run mutate -- --stryker`. A test runs once as it is, which says which of Stryker's mutants
// it meets, and then once with each of those that no test has killed yet: the files are loaded once, not once a mutant.
// What it finds it appends to a file line by line, so that whoever started it knows what hung or broke off.
import { appendFileSync, readFileSync } from 'node:fs';
import { TestRunner } from 'vitest';

const { getTestFn, getSuiteHooks } = TestRunner;
const { mutants, open, done, skipped, slowest, said, active } = JSON.parse(
  readFileSync(process.env.SUPERPOSE_MUTANTS, 'utf8'),
);
const isOpen = new Set(open);
const isDone = new Set([...done, ...skipped]);
const say = (what) => appendFileSync(said, `${JSON.stringify(what)}\n`);

/** What the instrumented sources share. They ask whether `activeMutant` is theirs, and count. */
globalThis.__stryker__ ??= {};
const shared = globalThis.__stryker__;
if (active) shared.activeMutant = active;
say({ process: process.pid });
/** How often each mutant's place is met: while files load, in the test that runs as it is, and in all that run changed. */
const [atLoad, inTest, unread] = [0, 1, 2].map(() => new Float64Array(mutants));
let counts = atLoad;
globalThis.superposeCounts = (...ids) => {
  for (const id of ids) counts[id] += 1;
};
const idsIn = (some) => [...some.keys()].filter((id) => some[id] > 0).map(String);
/** As Stryker: a mutant that is met a hundred times as often as its place was runs for ever. */
const hitsAllowed = 100;

/** The hooks around a test, the outermost first. */
function hooksOf(test, name) {
  const suites = [];
  for (
    let suite = test.suite ?? test.file;
    suite;
    suite = suite.suite ?? (suite === suite.file ? undefined : suite.file)
  )
    suites.unshift(suite);
  return suites.flatMap((suite) => getSuiteHooks(suite)[name]);
}

async function again(test) {
  for (const hook of hooksOf(test, 'afterEach')) await hook(test.context, test.suite);
  for (const hook of hooksOf(test, 'beforeEach')) await hook(test.context, test.suite);
  await getTestFn(test)();
}

const passes = (test) =>
  again(test).then(
    () => true,
    () => false,
  );

export default class extends TestRunner {
  async runTask(test) {
    if (isDone.has(test.id)) return;
    if (active) {
      await getTestFn(test)();
      return;
    }
    inTest.fill(0);
    counts = inTest;
    const begun = performance.now();
    await getTestFn(test)();
    const took = performance.now() - begun;
    counts = unread;
    const met = idsIn(inTest).filter((id) => isOpen.has(id));
    if (took > slowest) {
      say({ slow: test.id, name: test.fullName, took, met });
      counts = atLoad;
      return;
    }
    for (const id of met) await this.mutant(test, id, inTest[id] * hitsAllowed, took);
    say({ test: test.id, name: test.fullName, took });
    counts = atLoad;
  }

  async mutant(test, id, limit, took) {
    say({ begun: id, took });
    Object.assign(shared, { activeMutant: id, hitCount: 0, hitLimit: limit });
    const passed = await passes(test);
    const hits = shared.hitCount;
    Object.assign(shared, { activeMutant: undefined, hitCount: undefined });
    // What a test has kept from before is not made again: the mutant has to be there from the beginning.
    if (hits === 0) return say({ unmet: id });
    if (hits <= limit && passed) return say({ survived: id });
    // A mutant may leave something broken behind. Then it is not known which one the test has seen.
    if (!(await passes(test))) {
      say({ doubtful: id });
      process.kill(process.pid, 'SIGKILL');
    }
    isOpen.delete(id);
    say({ [hits > limit ? 'timeout' : 'killed']: id, by: test.fullName });
  }

  async onAfterRunFiles(files) {
    if (!active) say({ atLoad: idsIn(atLoad) });
    await super.onAfterRunFiles?.(files);
  }
}
