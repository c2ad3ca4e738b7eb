// npm run fuzz: feeds untrusted input to every reader, for as long as you say. libFuzzer tests the core in
// C++ under the sanitizers; a seeded generator tests the readers in TypeScript.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { buildPreset, presetFolder } from './cmake.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, step, usageError } from './steps.mjs';

const help = `npm run fuzz                         the core, then the readers, a minute each
npm run fuzz -- core | readers       one of them
npm run fuzz -- --seconds=N          so long each
npm run fuzz -- --seed=S             other inputs for the readers (1)`;

async function fuzzCore({ seconds }) {
  const env = await setUp('native');
  await buildPreset('fuzz', env);
  const corpus = join(root, 'build/fuzz/corpus');
  mkdirSync(corpus, { recursive: true });
  // For inputs this short, entropic scheduling costs too much, and so does a long memory of freed blocks.
  const options = ['-max_len=400', '-timeout=20', '-entropic=0', '-print_final_stats=1'];
  const byHand =
    'the file that it names above, put into tests/core/fuzz/corpus, makes `npm test -- sanitize fuzz` fail likewise.';
  await step('Fuzz the core', { byHand }, (run) =>
    run(
      join(presetFolder('fuzz'), 'fuzz'),
      [...options, `-max_total_time=${seconds}`, corpus, 'tests/core/fuzz/corpus'],
      { env: { ...env, ASAN_OPTIONS: 'malloc_context_size=2:quarantine_size_mb=4' }, show: true },
    ),
  );
}

async function fuzzReaders({ seconds, seed }) {
  const env = await setUp('wasm');
  await build(env);
  const args = ['run', '--config', 'tests/vitest.config.ts', '--project=node', 'tests/fuzz'];
  const byHand = 'the seed and the number of the input, in the message above, make it again.';
  await step('Fuzz the readers', { byHand }, (run) =>
    run(join(root, 'node_modules/.bin/vitest'), args, {
      env: { ...env, SUPERPOSE_FUZZ_SECONDS: String(seconds), SUPERPOSE_SEED: String(seed) },
      show: true,
    }),
  );
}

async function main(args) {
  const how = { seconds: 60, seed: 1 };
  const named = [];
  for (const arg of args) {
    const [, name, number] = arg.match(/^--(seconds|seed)=(\d+)$/) ?? [];
    if (name) how[name] = Number(number);
    else if (['core', 'readers'].includes(arg)) named.push(arg);
    else throw usageError(`npm run fuzz knows no ${arg}.\n${help}`);
  }
  if (!named.includes('readers')) await fuzzCore(how);
  if (!named.includes('core')) await fuzzReaders(how);
}

runTool(import.meta.url, main);
