// npm run mutate: changes the sources a little, one change at a time, and runs the tests that should see it. What no
// test sees is printed and kept: web/docs/mutants.json has every change and what became of it, and a run that is
// stopped goes on where it was.
import { spawn } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { chosen, mutantsOf, mutated } from './mutants.mjs';
import { setUp } from './setup.mjs';
import { ask, Failure, root, runTool, usageError } from './steps.mjs';
import { stryker, strykerVersion } from './stryker.mjs';

const help = `npm run mutate                  goes on in all areas
npm run mutate -- AREA...       in some: core (C++), api, worker, embeds
  --mutants=N                   how many of an area in all, drawn over all of its files (core 600, api 200, worker 140, embeds 60)
  --minutes=M                   stops after so long; the next run goes on
  --seed=S                      which ones are drawn (1)
  --again                       tries those again that survived, and those that are newly drawn
npm run mutate -- --stryker [TEST...]
                                every mutant that Stryker ${strykerVersion} makes of the typed API, in the test files whose names
                                contain a TEST, or in all; takes --minutes, and what was killed is not tried again as
                                long as its file is what it was`;

const listFile = join(root, 'web/docs/mutants.json');
/** The copy that is changed: one for each area, so that two can be at work. */
let tree;

/** Each area: where its sources are, and how many changes. */
const areas = {
  core: { folder: 'src/core', ending: '.cpp', wanted: 600 },
  api: { folder: 'src/api', ending: '.ts', wanted: 200 },
  worker: { folder: 'web/worker', ending: '.ts', wanted: 140 },
  embeds: { folder: 'web/embed', ending: '.ts', wanted: 60 },
};

const sourcesOf = ({ folder, ending }) =>
  Object.fromEntries(
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(ending) && !/\.d\.ts$|\.config\.ts$/.test(file))
      .sort()
      .map((file) => [`${folder}/${file}`, readFileSync(join(root, folder, file), 'utf8')]),
  );

/** What tells a change from every other one, as long as its line is what it was. */
const keyOf = ({ file, line, kind, before, after }) => JSON.stringify([file, line, kind, before, after]);

function entryOf(mutant, text) {
  const lines = (whole) => whole.split('\n')[mutant.line - 1]?.trim() ?? '';
  const { file, line, kind } = mutant;
  return { file, line, kind, before: lines(text), after: lines(mutated(text, mutant)) };
}

const survivorsAmong = (sources, survived, drawn) =>
  Object.entries(sources)
    .flatMap(([file, text]) => mutantsOf(text).map((mutant) => ({ file, ...mutant })))
    .map((mutant) => ({ mutant, entry: entryOf(mutant, sources[mutant.file]) }))
    .filter(({ entry }) => survived.has(keyOf(entry)) && !drawn.has(keyOf(entry)));

const readList = () => (existsSync(listFile) ? JSON.parse(readFileSync(listFile, 'utf8')) : []);

/** One entry a line, in the order of the sources. */
function writeList(entries) {
  const sorted = [...entries].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  writeFileSync(listFile, `[\n${sorted.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`);
}

/**
 * Runs a program at the lowest priority: its exit code, or undefined after `seconds`. The processor's time counts if
 * `processor` is set: beside other work the clock runs on and a program does not.
 */
function run(command, args, { seconds = 900, processor = false, ...options } = {}) {
  return new Promise((resolve) => {
    const limit = processor ? ['sh', '-c', `ulimit -S -t ${Math.ceil(seconds)}; exec "$0" "$@"`] : [];
    const child = spawn('nice', ['-n', '19', ...limit, command, ...args], {
      cwd: tree,
      stdio: 'ignore',
      detached: true,
      ...options,
    });
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        process.kill(-child.pid, 'SIGKILL');
      },
      // One that sleeps takes no processor time, so that the clock has the last word.
      seconds * (processor ? 20 : 1) * 1000,
    );
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(late || signal === 'SIGXCPU' ? undefined : signal ? 1 : code);
    });
  });
}

/** A copy of the checkout to change; what others build in the checkout stays as it is. */
function copyTree(name) {
  mkdirSync(tree, { recursive: true });
  const copied =
    name === 'core' ? ['src/core'] : ['src', 'tests', 'web', 'tools', 'package.json', 'README.md'];
  for (const one of copied) {
    cpSync(join(root, one), join(tree, one), { recursive: true, preserveTimestamps: true });
  }
  if (name === 'core') return;
  for (const name of ['node_modules', 'build/model']) {
    if (existsSync(join(tree, name)) || !existsSync(join(root, name))) continue;
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    symlinkSync(join(root, name), join(tree, name));
  }
}

/** What the native build makes a file and a room's tests with. A change then costs one file and a link. */
let commands;

async function prepareCore(env) {
  await buildPreset('native', env);
  const build = presetFolder('native');
  const compiled = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8'));
  commands = {
    // Warnings are no errors in a change that leaves a variable unused; less optimised it compiles sooner.
    compile: Object.fromEntries(
      compiled.map(({ file, command }) => [
        relative(root, file),
        command.replace(/ -W\S+/g, '').replace(/ -O\d /, ' -O1 -w '),
      ]),
    ),
    link: Object.fromEntries(
      readdirSync(join(root, 'src/core')).map((room) => {
        const all = ask('ninja', ['-C', build, '-t', 'commands', `${room}_test`]).split('\n');
        return [room, all.at(-1).match(/^: && (.*?) && /)[1]];
      }),
    ),
  };
}

const testProgram = (room) => join(presetFolder('native'), 'tests/core', `${room}_test`);

/** What becomes of a change in C++: killed, timeout, survived, or invalid when it does not compile. */
async function outcomeOfCore(file, env, limits) {
  const room = file.split('/')[2];
  const [source, object, program] = [file, 'changed.o', 'changed_test'].map((name) => join(tree, name));
  const inShell = (command) => run('sh', ['-c', command], { env, cwd: presetFolder('native') });
  const compile = commands.compile[file].replace(/ -o \S+ -c \S+$/, ` -o ${object} -c ${source}`);
  if ((await inShell(compile)) !== 0) return 'invalid';
  // What an object defines is not taken from the library behind it.
  const link = commands.link[room].replace(/ -o (\S+)/, ` -o ${program} ${object}`);
  if ((await inShell(link)) !== 0) return 'invalid';
  const args = ['--gtest_fail_fast', '--gtest_brief=1'];
  const code = await run(program, args, { env, cwd: root, seconds: limits[room], processor: true });
  return code === undefined ? 'timeout' : code === 0 ? 'survived' : 'killed';
}

/** How long a room's tests may take: five times what they take unchanged, and 20 seconds. */
async function timesOfCore(env) {
  const limits = {};
  for (const room of Object.keys(commands.link)) {
    const started = Date.now();
    if ((await run(testProgram(room), ['--gtest_brief=1'], { env, cwd: root })) !== 0)
      throw new Failure(`The unchanged tests of ${room} fail.`);
    limits[room] = 20 + (5 * (Date.now() - started)) / 1000;
  }
  return limits;
}

/** The test files for a change in TypeScript: those of its name, of its room, and then of its whole layer. */
function testsOfScript(file) {
  const [, , room] = file.split('/');
  const name = basename(file, '.ts');
  const all = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' }).map(
    (one) => `tests/${one}`,
  );
  const tests = all.filter((one) => one.endsWith('.test.ts'));
  const isNamed = (one) => basename(one).split('.')[0] === name;
  if (file.startsWith('web/embed/')) {
    // Those that take the module by itself, without building anything.
    const takes = new RegExp(`/embed/${name}\\.ts'|\\('${name}'`);
    const own = tests.filter(
      (one) => one.startsWith('tests/embed/') && takes.test(readFileSync(join(root, one), 'utf8')),
    );
    if (own.length === 0) throw new Failure(`No test takes ${file} by itself.`);
    return [own];
  }
  if (!file.startsWith('src/api/')) {
    const near = tests.filter(
      (one) =>
        one.startsWith(`tests/${file.split('/')[1]}/`) || (one.startsWith('tests/figures/') && isNamed(one)),
    );
    return [near.filter(isNamed), near.filter((one) => !isNamed(one))].filter((some) => some.length > 0);
  }
  const api = tests.filter((one) => one.startsWith('tests/api/') && existsInNode(one));
  const own = api.filter((one) => one.startsWith(`tests/api/${room}/`) || isNamed(one));
  const shared = api.filter(
    (one) =>
      !own.includes(one) &&
      /\/(errors|wrongArguments|memory|module|recovery|properties|readme|figures|oracles)\.test/.test(one),
  );
  return [own, shared].filter((some) => some.length > 0);
}

/** What the Node projects run. */
const existsInNode = (test) => !/\/(soak|drift|sizes|glue)\.test/.test(test);

async function prepareScripts(env, compiled = false) {
  for (const folder of ['package', 'single', 'stamps']) {
    rmSync(join(tree, 'build', folder), { recursive: true, force: true });
  }
  cpSync(join(root, 'build/package'), join(tree, 'build/package'), { recursive: true });
  if (compiled) return;
  if (
    (await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'src/api/tsconfig.json'], {
      env,
      stdio: 'inherit',
    })) !== 0
  )
    throw new Failure('The unchanged typed API does not compile.');
}

/** The exit code of these tests; what they say is in tests.log of the area's tree. */
async function runTests(tests, project, seconds, env) {
  const said = openSync(join(tree, 'tests.log'), 'w');
  const vitest = join(root, 'node_modules/.bin/vitest');
  // What hangs in a test is ended there, what hangs altogether by the clock.
  const options = [`--project=${project}*`, '--bail=1', '--testTimeout=100000'];
  const args = ['run', '--config', 'tests/vitest.config.ts', ...options, ...tests];
  const code = await run(vitest, args, {
    env: { ...env, NODE_OPTIONS: '--max-old-space-size=3000', NO_COLOR: '1' },
    stdio: ['ignore', said, said],
    seconds,
  });
  closeSync(said);
  return code;
}

const testsLog = () => readFileSync(join(tree, 'tests.log'), 'utf8');
/** Whether what failed was waited for too long. */
const wasLate = () => /in time|timed out|Timeout/.test(testsLog());
/** The first test that failed. */
const whatKilled = () => testsLog().match(/^ *FAIL .*? (tests\/.*)$/m)?.[1] ?? '';

async function outcomeOfScript(file, text, env) {
  const { transform } = await import('esbuild');
  const compiled = await transform(text, { loader: 'ts', target: 'es2024' }).catch(() => undefined);
  const unchanged = await transform(readFileSync(join(root, file), 'utf8'), {
    loader: 'ts',
    target: 'es2024',
  });
  if (!compiled || compiled.code === unchanged.code) return 'invalid';
  if (file.startsWith('src/api/')) {
    writeFileSync(
      join(tree, file.replace('src/api', 'build/package').replace(/\.ts$/, '.js')),
      compiled.code,
    );
  }
  const project = file.startsWith('web/embed/') ? 'page' : 'node';
  for (const tests of testsOfScript(file)) {
    let code = await runTests(tests, project, 240, env);
    // Other work on the machine may make it late, but hardly twice.
    if (code !== 0 && (code === undefined || wasLate())) code = await runTests(tests, project, 240, env);
    if (code !== 0) return code === undefined ? 'timeout' : 'killed';
  }
  return 'survived';
}

async function area(name, { mutants, minutes, seed, again }) {
  const started = Date.now();
  tree = join(root, 'build/mutants', name);
  const sources = sourcesOf(areas[name]);
  const wanted = chosen(sources, mutants ?? areas[name].wanted, seed);
  // What the web calls is compiled already.
  const isWeb = areas[name].folder.startsWith('web/');
  const env = isWeb ? process.env : await setUp(name === 'core' ? 'native' : 'wasm');
  copyTree(name);
  if (name === 'core') await prepareCore(env);
  else await prepareScripts(env, isWeb);
  const limits = name === 'core' ? await timesOfCore(env) : {};
  const drawn = wanted.map((mutant) => ({ mutant, entry: entryOf(mutant, sources[mutant.file]) }));
  const mine = (entry) => entry.file.startsWith(`${areas[name].folder}/`);
  // What is no longer so in the sources says nothing of them.
  const isSo = ({ file, line, before }) => sources[file]?.split('\n')[line - 1]?.trim() === before;
  let entries = readList().filter((entry) => !mine(entry) || isSo(entry));
  writeList(entries);
  const survived = new Set(entries.filter(({ outcome }) => outcome === 'survived').map(keyOf));
  // Those too that were drawn of an earlier tree.
  if (again)
    drawn.push(...survivorsAmong(sources, survived, new Set(drawn.map(({ entry }) => keyOf(entry)))));
  const known = new Set(entries.map(keyOf).filter((key) => !(again && survived.has(key))));
  for (const { mutant, entry } of drawn) {
    if (known.has(keyOf(entry))) continue;
    if (minutes && Date.now() - started > minutes * 60_000) break;
    const file = join(tree, mutant.file);
    const text = mutated(sources[mutant.file], mutant);
    writeFileSync(file, text);
    const begun = Date.now();
    const outcome = await (name === 'core'
      ? outcomeOfCore(mutant.file, env, limits)
      : outcomeOfScript(mutant.file, text, env));
    writeFileSync(file, sources[mutant.file]);
    if (name === 'api') await outcomeBack(mutant.file, sources[mutant.file]);
    entries = [...readList().filter((one) => keyOf(one) !== keyOf(entry)), { ...entry, outcome }];
    writeList(entries);
    const took = ((Date.now() - begun) / 1000).toFixed(1);
    console.log(`${outcome} in ${took} s  ${entry.file}:${entry.line}  ${entry.after}`);
    if (outcome === 'killed' && name !== 'core') console.log(`  by ${whatKilled()}`);
  }
  console.log(summary(name, readList().filter(mine), wanted.length));
}

/** The compiled file as it was. */
async function outcomeBack(file, text) {
  const { transform } = await import('esbuild');
  const { code } = await transform(text, { loader: 'ts', target: 'es2024' });
  writeFileSync(join(tree, file.replace('src/api', 'build/package').replace(/\.ts$/, '.js')), code);
}

function summary(name, entries, wanted) {
  const count = (outcome) => entries.filter((entry) => entry.outcome === outcome).length;
  const [killed, late, survived] = ['killed', 'timeout', 'survived'].map(count);
  const tried = killed + late + survived;
  const share = tried === 0 ? '' : `, ${((100 * (killed + late)) / tried).toFixed(1)} %`;
  return `${name}: ${tried} of ${wanted} tried, ${killed + late} killed (${late} by the clock)${share}, ${survived} survived, ${count('invalid')} were no program.`;
}

async function main(args) {
  if (args.includes('--help')) {
    console.log(help);
    return 0;
  }
  const option = (name) => {
    const given = args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
    if (given !== undefined && !/^\d+(\.\d+)?$/.test(given))
      throw usageError(`--${name} takes a number.\n${help}`);
    return given === undefined ? undefined : Number(given);
  };
  const options = {
    mutants: option('mutants'),
    minutes: option('minutes'),
    seed: option('seed') ?? 1,
    again: args.includes('--again'),
  };
  const named = args.filter((arg) => !arg.startsWith('--'));
  if (args.includes('--stryker')) {
    await stryker({ ...options, named });
    return 0;
  }
  const unknown = named.find((one) => !Object.hasOwn(areas, one));
  if (unknown) throw usageError(`There is no area ${unknown}.\n${help}`);
  for (const name of named.length > 0 ? named : Object.keys(areas)) await area(name, options);
  return 0;
}

runTool(import.meta.url, main);
