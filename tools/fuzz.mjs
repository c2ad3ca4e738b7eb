// npm run fuzz: feeds untrusted input to every reader, for as long as you say. libFuzzer tests the core in
// C++ under the sanitizers; a seeded generator tests the readers in TypeScript.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { buildPreset, buildTargets, presetFolder } from './cmake.mjs';
import { relaxedSimdFlags } from './relaxedSimd.mjs';
import { setUp } from './setup.mjs';
import { ask, root, runTool, step, usageError } from './steps.mjs';

const help = `npm run fuzz                    a minute each, the core and the readers
npm run fuzz -- --seconds=N     so long each, shared by all kinds of input
npm run fuzz -- --runs=N        so many inputs instead: of the core in all, and of each reader (of models a tenth)
npm run fuzz -- core | corpus | readers  one of them; the corpus is what the core's inputs left, in WebAssembly
npm run fuzz -- --seed=S        other inputs for the readers (1)`;

// For inputs this short, entropic scheduling costs too much, and so does a long memory of freed blocks.
const options = ['-max_len=400', '-timeout=20', '-entropic=0', '-print_final_stats=1'];
const sanitizers = 'malloc_context_size=2:quarantine_size_mb=4';

const edges = /DONE\s+cov: (\d+)/;

/** A function that looks up a number in the log of a step. */
function logOf(name) {
  const text = readFileSync(join(root, `build/logs/${name}.log`), 'utf8');
  return (pattern) => Number(text.match(pattern)?.[1]);
}

async function fuzzCore({ seconds, runs }) {
  const env = { ...(await setUp('native')), ASAN_OPTIONS: sanitizers };
  await buildPreset('fuzz', env);
  const program = join(presetFolder('fuzz'), 'fuzz');
  const kinds = ask(program, [], { env: { ...env, SUPERPOSE_FUZZ: 'list' } })
    .split('\n')
    .map((line) => line.split(' '));
  const shares = kinds.reduce((sum, [, share]) => sum + Number(share), 0);
  const total = { inputs: 0, seconds: 0 };
  for (const [kind, share] of kinds) {
    const corpus = join(root, 'build/fuzz/corpus', kind);
    mkdirSync(corpus, { recursive: true });
    const end =
      runs === undefined
        ? `-max_total_time=${Math.ceil(seconds / kinds.length)}`
        : `-runs=${Math.ceil((runs * share) / shares)}`;
    const started = Date.now();
    await step(
      `Fuzz the core, ${kind}`,
      {
        byHand:
          'the file that it names above, put into tests/core/fuzz/corpus, makes `npm test -- native fuzz` fail likewise.',
      },
      (run) =>
        run(program, [...options, end, corpus, 'tests/core/fuzz/corpus'], {
          env: { ...env, SUPERPOSE_FUZZ: kind },
        }),
    );
    const log = logOf(`fuzz-the-core-${kind}`);
    const inputs = log(/number_of_executed_units:\s*(\d+)/);
    console.log(`  ${inputs} inputs, ${log(edges)} edges, ${log(/peak_rss_mb:\s*(\d+)/)} MB at most`);
    total.inputs += inputs;
    total.seconds += (Date.now() - started) / 1000;
  }
  const corpora = kinds.map(([kind]) => `build/fuzz/corpus/${kind}`);
  const together = 'What the core’s inputs reach together';
  await step(together, { byHand: 'its log has what the program printed.' }, (run) =>
    run(program, ['-runs=0', '-entropic=0', ...corpora], { env }),
  );
  console.log(
    `The core: ${total.inputs} inputs in ${Math.round(total.seconds)} s, ` +
      `${Math.round(total.inputs / total.seconds)} a second, ${logOf('what-the-core-s-inputs-reach-together')(edges)} edges.`,
  );
}

/** Runs the saved inputs of the core in both builds that users get. */
async function playCorpus() {
  const env = await setUp('wasm');
  const builds = ['plain', 'relaxed'];
  await buildTargets(
    'wasm',
    env,
    builds.map((one) => `corpus-${one}`),
  );
  const kept = ['tests/core/fuzz/corpus', 'build/fuzz/corpus'].filter((one) => existsSync(join(root, one)));
  for (const one of builds) {
    const program = join(presetFolder('wasm'), `corpus-${one}.cjs`);
    const byHand = 'its log names the assertion that failed.';
    await step(`The corpus in WebAssembly, ${one}`, { byHand }, (run) =>
      run(process.execPath, [...relaxedSimdFlags, program, ...kept], { env, show: true }),
    );
  }
}

async function fuzzReaders({ seconds, runs, seed }) {
  const env = await setUp('wasm');
  await build(env);
  const vitest = join(root, 'node_modules/.bin/vitest');
  const args = ['run', '--config', 'tests/vitest.config.ts', '--project=node', 'tests/fuzz'];
  const long = runs === undefined ? { SUPERPOSE_FUZZ_SECONDS: seconds } : { SUPERPOSE_FUZZ_RUNS: runs };
  await step(
    'Fuzz the readers',
    { byHand: 'the seed and the number of the input, in the message above, make it again.' },
    (run) => run(vitest, args, { env: { ...env, ...long, SUPERPOSE_SEED: String(seed) }, show: true }),
  );
}

async function main(args) {
  if (args.includes('--help')) {
    console.log(help);
    return;
  }
  const number = (name, otherwise) => {
    const given = args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
    if (given !== undefined && !/^\d+$/.test(given))
      throw usageError(`--${name} takes a whole number.\n${help}`);
    return given === undefined ? otherwise : Number(given);
  };
  const how = { seconds: number('seconds', 60), runs: number('runs'), seed: number('seed', 1) };
  const named = args.filter((arg) => !/^--(seconds|runs|seed)=/.test(arg));
  const unknown = named.find((one) => !['core', 'corpus', 'readers'].includes(one));
  if (unknown) throw usageError(`npm run fuzz knows no ${unknown}.\n${help}`);
  const wanted = (part) => named.length === 0 || named.includes(part);
  if (wanted('core')) await fuzzCore(how);
  if (wanted('corpus')) await playCorpus();
  if (wanted('readers')) await fuzzReaders(how);
}

runTool(import.meta.url, main);
