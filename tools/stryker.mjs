// npm run mutate -- --stryker: every mutant that Stryker makes of the typed API, nothing excluded. Stryker's instrumenter
// puts all of them into the sources, each behind a switch, and strykerRunner.mjs throws the switches: Stryker's own runner
// takes what is also run while test files load for constants, which is nearly all here, and runs every test for each.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { relaxedSimdFlags } from './relaxedSimd.mjs';
import { Failure, root } from './steps.mjs';

/** The last for Node 20. It brings 67 packages, so it is installed below build/, and only when it is asked for. */
export const strykerVersion = '9.6.1';

const folder = join(root, 'build/stryker');
/** The copy whose package is full of mutants. */
const tree = join(root, 'build/mutants/stryker');
const listFile = join(root, 'web/docs/stryker.json');
/** What is in the copy now. */
const madeFile = join(folder, 'mutants.json');
const stateFile = join(folder, 'state.json');
/** What the runner is told and what it says; two may be at work. */
const saidFile = (slot) => join(folder, `said-${slot}.jsonl`);
const jobFile = (slot) => join(folder, `job-${slot}.json`);
const slots = [0, 1];
/** When to stop, whatever is at work then. */
let until = Infinity;

/** The processor's milliseconds that a test takes as it is: in each round, those up to so many. The quick ones kill most. */
const rounds = [40, 400, 2000];

const hashOf = (...texts) =>
  texts
    .reduce((hash, text) => hash.update(text), createHash('sha256'))
    .digest('hex')
    .slice(0, 12);
const filesBelow = (name, ending) =>
  readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort();

/** Not what runs no code of the API, runs it in another process, or runs it until memory shows. */
const testFiles = () =>
  filesBelow('tests/api', '.test.ts').filter((file) => !/(soak|drift|sizes|glue|readme)\.test/.test(file));

async function install() {
  if (existsSync(join(folder, 'node_modules/@stryker-mutator/instrumenter'))) return;
  mkdirSync(folder, { recursive: true });
  const options = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund'];
  const what = `@stryker-mutator/instrumenter@${strykerVersion}`;
  const child = spawn('npm', ['install', ...options, what], { cwd: folder, stdio: 'inherit' });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Failure('npm did not install Stryker.');
}

/** Stryker counts what is met in objects, by text. Loops over millions of numbers want an array. */
const countedQuickly = (code) =>
  code
    .replace(/stryCov_9fa48\([^)]+\)/g, (call) => call.replaceAll('"', ''))
    .replace('function stryCov_9fa48()', 'stryCov_9fa48 = globalThis.superposeCounts;\n$&');

/** The checkout again, with every mutant in its package: what the mutants are, by the names that the switches have. */
async function instrument() {
  if (!existsSync(join(root, 'build/package/index.js')))
    throw new Failure('There is no build/package. `npm run build` makes it.');
  const sources = filesBelow('src/api', '.ts').filter((file) => !file.endsWith('.d.ts'));
  const files = sources.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, 'src/api', name), 'utf8'),
  }));
  const hash = hashOf(...files.map(({ content }) => content));
  const earlier = existsSync(madeFile) ? JSON.parse(readFileSync(madeFile, 'utf8')) : {};
  const copied = ['src', 'tests', 'web', 'tools'];
  if (earlier.hash !== hash) copied.push('build/package');
  for (const name of copied) {
    rmSync(join(tree, name), { recursive: true, force: true });
    cpSync(join(root, name), join(tree, name), { recursive: true });
  }
  for (const name of ['package.json', 'README.md']) cpSync(join(root, name), join(tree, name));
  for (const name of ['node_modules', 'build/model']) {
    if (existsSync(join(tree, name)) || !existsSync(join(root, name))) continue;
    symlinkSync(join(root, name), join(tree, name));
  }
  if (earlier.hash === hash) return earlier;
  const from = createRequire(join(folder, 'package.json'));
  const load = (name) => import(pathToFileURL(from.resolve(name)));
  const { createInstrumenter } = await load('@stryker-mutator/instrumenter');
  const { createInjector } = await load('typed-inject');
  const { transform } = await import('esbuild');
  const quiet = new Proxy({}, { get: (_, name) => (/^is/.test(name) ? () => false : () => {}) });
  const instrumenter = createInjector().provideValue('logger', quiet).injectFunction(createInstrumenter);
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const made = await instrumenter.instrument(files, options);
  for (const { name, content } of made.files) {
    const { code } = await transform(content, {
      loader: 'ts',
      target: 'es2024',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    });
    writeFileSync(join(tree, 'build/package', name.replace(/\.ts$/, '.js')), countedQuickly(code));
  }
  writeFileSync(join(tree, 'stryker.vitest.mjs'), vitestConfig);
  const hashes = Object.fromEntries(files.map(({ name, content }) => [name, hashOf(content)]));
  const places = {};
  const mutants = made.mutants.map(({ id, fileName: file, location, mutatorName, replacement }) => {
    places[file] = (places[file] ?? 0) + 1;
    // What a mutant came to stays so as long as its file is what it was.
    const key = `${file} ${hashes[file]} ${places[file]}`;
    return {
      id,
      key,
      file,
      line: location.start.line + 1,
      column: location.start.column + 1,
      mutatorName,
      replacement,
    };
  });
  writeFileSync(madeFile, JSON.stringify({ hash, mutants }));
  return { hash, mutants };
}

const vitestConfig = `import { existsSync } from 'node:fs';
import { join } from 'node:path';
const root = import.meta.dirname;
const given = process.env.SUPERPOSE_TESTS.split(' ');
class AsGiven {
  shard(files) { return files; }
  sort(files) {
    const place = ({ moduleId }) => given.findIndex((one) => moduleId.endsWith(one));
    return [...files].sort((a, b) => place(a) - place(b));
  }
}
export default {
  root,
  resolve: { alias: { superpose: join(root, 'build/package/index.js') } },
  test: {
    include: given,
    runner: join(root, 'tools/strykerRunner.mjs'),
    testTimeout: 0,
    hookTimeout: 0,
    teardownTimeout: 1000,
    // A mutant can leave a promise behind that fails when its test has long been counted.
    dangerouslyIgnoreUnhandledErrors: true,
    execArgv: ${JSON.stringify(relaxedSimdFlags)},
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: AsGiven },
    provide: { withModel: existsSync(join(root, 'build/model/manifest.json')) },
  },
};
`;

const readState = () =>
  existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : { outcomes: {}, tests: {}, fromTheStart: {} };

/** The processor's seconds that a process has had, and whether it wants more; undefined when it is gone. */
function processorOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return { seconds: (Number(fields[11]) + Number(fields[12])) / 100, sleeps: fields[0] === 'S' };
  } catch {
    return undefined;
  }
}

/** How long a test may take with a mutant in it, of the processor's seconds, and how long it may sleep. */
const allowed = (took) => 10 + (10 * took) / 1000;
const sleepAllowed = 30_000;

/**
 * Runs test files with the runner: the lines that it said, whether all passed, and whether it had to be ended, because
 * `begun` was the last that it said for too long.
 */
function runTests(files, job, said) {
  const [saidHere, jobHere] = [saidFile(job.slot), jobFile(job.slot)];
  writeFileSync(saidHere, '');
  writeFileSync(
    jobHere,
    JSON.stringify({ mutants: 0, open: [], done: [], skipped: [], slowest: 0, said: saidHere, ...job }),
  );
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--config', 'stryker.vitest.mjs', ...(job.active ? ['--bail=1'] : [])],
    {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: {
        ...process.env,
        CI: 'true',
        SUPERPOSE_MUTANTS: jobHere,
        SUPERPOSE_TESTS: files.map((file) => `tests/api/${file}`).join(' '),
        NODE_OPTIONS: '--max-old-space-size=3000',
      },
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  return new Promise((resolve) => {
    let [read, late, stopped, worker, since, awake, begun] = [
      0,
      false,
      false,
      undefined,
      0,
      Date.now(),
      undefined,
    ];
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const listen = () => {
      const text = readFileSync(saidHere, 'utf8');
      const whole = text.slice(read, text.lastIndexOf('\n') + 1);
      read += whole.length;
      for (const line of whole.split('\n').filter(Boolean)) {
        const what = JSON.parse(line);
        if (what.process) worker = what.process;
        if (what.begun) {
          begun = what;
          since = processorOf(worker)?.seconds ?? 0;
          awake = Date.now();
        }
        if (what.doubtful) end();
        said(what);
      }
    };
    const timer = setInterval(() => {
      listen();
      if (Date.now() > until) {
        stopped = true;
        end();
      }
      const used = worker && processorOf(worker);
      if (!used) return;
      if (!used.sleeps) awake = Date.now();
      if (!begun && !job.active) return;
      const took = job.active ? job.took : begun.took;
      if (used.seconds - since > allowed(took) || Date.now() - awake > sleepAllowed) {
        late = true;
        end();
      }
    }, 500);
    child.on('close', (code) => {
      clearInterval(timer);
      listen();
      resolve({ passed: code === 0, late, stopped, printed });
    });
  });
}

/** Of every mutant that no test has killed yet, the tests of a file that meet it and take up to `slowest` milliseconds. */
async function meet({ file, hash }, mutants, state, save, slowest, slot) {
  const tests = state.tests;
  if (tests[file]?.hash !== hash)
    tests[file] = {
      hash,
      done: [],
      slow: {},
      unmet: [],
      doubtful: [],
      atLoad: [],
      survived: [],
      took: {},
      upTo: 0,
    };
  const mine = tests[file];
  const isLeft = ({ key, id }) => !state.outcomes[key] && !mine.doubtful.includes(id);
  const byId = Object.fromEntries(mutants.map((mutant) => [mutant.id, mutant]));
  // A later round has something to do where a slow test meets a mutant that is still there.
  const isWanted = ([test, met]) =>
    mine.took[test] > mine.upTo && mine.took[test] <= slowest && met.some((id) => isLeft(byId[id]));
  if (mine.upTo >= slowest) return false;
  if (mine.upTo > 0 && !Object.entries(mine.slow).some(isWanted)) {
    mine.upTo = slowest;
    return false;
  }
  const add = (list, id) => list.includes(id) || list.push(id);
  for (let tries = 0; mine.upTo < slowest; tries += 1) {
    const open = mutants.filter(isLeft);
    let begun;
    let ended = false;
    const tooSlow = Object.keys(mine.slow).filter((test) => mine.took[test] > slowest);
    const job = {
      mutants: mutants.length,
      open: open.map(({ id }) => id),
      done: mine.done,
      skipped: tooSlow,
      slowest,
      slot,
    };
    const { passed, late, stopped, printed } = await runTests([file], job, (what) => {
      const id = what.killed ?? what.timeout ?? what.survived ?? what.unmet ?? what.doubtful;
      if (what.begun) begun = what.begun;
      if (id) begun = undefined;
      if (what.killed || what.timeout)
        state.outcomes[byId[id].key] ??= {
          outcome: what.killed ? 'killed' : 'timeout',
          by: `${file}: ${what.by}`,
        };
      if (what.survived) add(mine.survived, id);
      if (what.unmet) add(mine.unmet, id);
      if (what.doubtful) add(mine.doubtful, id);
      if (what.slow) mine.slow[what.slow] = what.met;
      if (what.slow ?? what.test) mine.took[what.slow ?? what.test] = what.took;
      if (what.test) {
        mine.done.push(what.test);
        delete mine.slow[what.test];
      }
      if (what.atLoad) {
        ended = true;
        mine.atLoad = what.atLoad;
      }
      save();
    });
    if (stopped) {
      save(true);
      return false;
    }
    if (late && begun)
      state.outcomes[byId[begun].key] ??= { outcome: 'timeout', by: `${file}, by the clock` };
    else if (begun) add(mine.doubtful, begun);
    if (ended) mine.upTo = slowest;
    save(true);
    if (ended ? !passed : tries > 300 || (!late && !begun && mine.doubtful.length === 0))
      throw new Failure(`The unchanged tests of ${file} fail.\n${printed.slice(-3000)}`);
  }
  return true;
}

/** What of the slots is free takes the next of the list. */
async function inSlots(list, work) {
  const left = [...list];
  await Promise.all(
    slots.map(async (slot) => {
      while (left.length > 0) await work(left.shift(), slot);
    }),
  );
}

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/**
 * A mutant in everything that is run from the first line on, by the quick tests of the files that saw it only so: those
 * of its own room first.
 */
async function meetFromTheStart(mutant, state, save, slot) {
  const isNear = ({ file }) => roomOf(file) === roomOf(mutant.file);
  const files = Object.entries(state.tests)
    .filter(([, { atLoad, unmet, doubtful }]) => [...atLoad, ...unmet, ...doubtful].includes(mutant.id))
    .map(([file, { slow, took }]) => ({
      file,
      slow: Object.keys(slow),
      took: sum(Object.entries(took).map(([test, each]) => (test in slow ? 0 : each))),
    }))
    .sort((a, b) => isNear(b) - isNear(a) || a.took - b.took);
  const seen = hashOf(...files.map(({ file }) => state.tests[file].hash));
  if (files.length === 0 || state.fromTheStart[mutant.key] === seen) return false;
  const { passed, late, stopped } = await runTests(
    files.map(({ file }) => file),
    {
      active: mutant.id,
      skipped: files.flatMap(({ slow }) => slow),
      took: sum(files.map(({ took }) => took)),
      slot,
    },
    () => {},
  );
  if (stopped) return false;
  if (late) state.outcomes[mutant.key] = { outcome: 'timeout', by: 'from the first line on' };
  else if (!passed) state.outcomes[mutant.key] = { outcome: 'killed', by: 'from the first line on' };
  else state.fromTheStart[mutant.key] = seen;
  save(true);
  return true;
}

/** One letter for each of a file's mutants, in the instrumenter's order. */
const letters = { killed: 'k', timeout: 't', survived: 's', uncovered: 'n', untried: 'u' };
const outcomeOf = Object.fromEntries(Object.entries(letters).map(([outcome, letter]) => [letter, outcome]));

const readList = () => (existsSync(listFile) ? JSON.parse(readFileSync(listFile, 'utf8')).files : []);

/** What an earlier run found of files that are still what they were. */
function known() {
  const outcomes = {};
  for (const { file, sha256, outcomes: all } of readList()) {
    for (const [place, letter] of [...all].entries()) {
      const outcome = outcomeOf[letter];
      if (outcome === 'killed' || outcome === 'timeout')
        outcomes[`${file} ${sha256} ${place + 1}`] = { outcome };
    }
  }
  return outcomes;
}

const roomOf = (file) => (file.includes('/') ? file.split('/')[0] : 'top');

/**
 * Every mutant and what became of it, and the survivors by place. What no test has met is a survivor too; what none has
 * been run with is not tried yet.
 */
function writeList(mutants, state, whole) {
  const tests = Object.values(state.tests);
  const ran = new Set(tests.flatMap(({ survived }) => survived));
  const met = new Set(
    tests.flatMap(({ slow, unmet, doubtful, atLoad }) => [
      ...Object.values(slow).flat(),
      ...unmet,
      ...doubtful,
      ...atLoad,
    ]),
  );
  const left = ({ id, key }) => {
    if (ran.has(id) || state.fromTheStart[key]) return 'survived';
    return met.has(id) || !whole ? 'untried' : 'uncovered';
  };
  const files = new Map();
  for (const mutant of mutants) {
    const [file, sha256] = mutant.key.split(' ');
    const entry = files.get(file) ?? { file, sha256, outcomes: '', survivors: [] };
    files.set(file, entry);
    const outcome = state.outcomes[mutant.key]?.outcome ?? left(mutant);
    entry.outcomes += letters[outcome];
    if (outcome === 'survived' || outcome === 'uncovered')
      entry.survivors.push(
        [`${mutant.line}:${mutant.column}`, mutant.mutatorName, mutant.replacement.slice(0, 80)].join('  '),
      );
  }
  const all = [...files.values()];
  const rooms = [...new Set(all.map(({ file }) => roomOf(file)))].map((room) => {
    const outcomes = all
      .filter(({ file }) => roomOf(file) === room)
      .map((entry) => entry.outcomes)
      .join('');
    const count = (letter) => outcomes.split(letter).length - 1;
    const counts = Object.fromEntries(
      Object.entries(letters).map(([outcome, letter]) => [outcome, count(letter)]),
    );
    return { room, mutants: outcomes.length, ...counts };
  });
  writeFileSync(listFile, `${JSON.stringify({ stryker: strykerVersion, rooms, files: all }, null, 1)}\n`);
  return rooms;
}

/** Goes on where the last run stopped, for so many minutes, in the test files of these names or in all; writes the list. */
export async function stryker({ minutes = Infinity, named = [] } = {}) {
  until = Date.now() + minutes * 60_000;
  await install();
  const { mutants, hash } = await instrument();
  const state = readState();
  Object.assign(state.outcomes, known());
  let saved = 0;
  const save = (now) => {
    if (!now && Date.now() - saved < 3000) return;
    saved = Date.now();
    writeFileSync(stateFile, JSON.stringify(state));
  };
  const support = filesBelow('tests/api/support', '.ts').map((file) =>
    readFileSync(join(root, 'tests/api/support', file)),
  );
  // What trains and what reads models comes last: it takes minutes as it is, and meets what others have killed by then.
  const isHeavy = (file) => /^(training|model)\/|Oracle/.test(file);
  const files = testFiles()
    .sort((a, b) => isHeavy(a) - isHeavy(b))
    .map((file) => ({ file, hash: hashOf(hash, ...support, readFileSync(join(root, 'tests/api', file))) }));
  // The names of mutants are those of these sources, and a test that has changed says something else.
  for (const file of Object.keys(state.tests)) {
    if (!files.some((one) => one.file === file && one.hash === state.tests[file].hash))
      delete state.tests[file];
  }
  const isNamed = (file) => named.length === 0 || named.some((part) => file.includes(part));
  const asked = files.filter(({ file }) => isNamed(file));
  if (asked.length === 0)
    throw new Failure(`No test file of the typed API has ${named.join(' or ')} in its name.`);
  const count = () => mutants.filter(({ key }) => state.outcomes[key]).length;
  for (const slowest of rounds) {
    await inSlots(asked, async (file, slot) => {
      if (Date.now() > until) return;
      const begun = Date.now();
      if (!(await meet(file, mutants, state, save, slowest, slot))) return;
      const seconds = ((Date.now() - begun) / 1000).toFixed(0);
      console.log(
        `${count()} of ${mutants.length} killed after tests of up to ${slowest} ms, ${file.file} (${seconds} s)`,
      );
    });
  }
  const metInTests = new Set(Object.values(state.tests).flatMap(({ survived }) => survived));
  const before = new Set(
    Object.entries(state.tests).flatMap(([file, { atLoad, unmet, doubtful }]) =>
      isNamed(file) ? [...atLoad, ...unmet, ...doubtful] : [],
    ),
  );
  // First what no test meets otherwise.
  const left = mutants
    .filter(({ id, key }) => before.has(id) && !state.outcomes[key])
    .sort((a, b) => metInTests.has(a.id) - metInTests.has(b.id));
  await inSlots(left, async (mutant, slot) => {
    if (Date.now() > until) return;
    if (!(await meetFromTheStart(mutant, state, save, slot))) return;
    console.log(
      `${count()} of ${mutants.length} killed after ${mutant.file}:${mutant.line} from the first line on`,
    );
  });
  const whole = files.every(
    ({ file, hash: now }) => state.tests[file]?.hash === now && state.tests[file].upTo > 0,
  );
  for (const { room, killed, timeout, survived, uncovered, untried } of writeList(mutants, state, whole)) {
    const tried = killed + timeout + survived + uncovered;
    const share = ((100 * (killed + timeout)) / Math.max(tried, 1)).toFixed(1);
    console.log(`${room}: ${tried} tried, ${killed + timeout} killed, ${share} %; ${untried} not tried yet`);
  }
}
