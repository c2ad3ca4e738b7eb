// npm run fuzz: hands every reader what strangers may give it, for as long as it is told: the core in C++ by libFuzzer
// under the sanitizers, the readers in TypeScript by a seeded generator.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { buildPreset, presetFolder } from './cmake.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, step, usageError } from './steps.mjs';

const help = `npm run fuzz                    a minute each, the core and the readers
npm run fuzz -- --seconds=N     so long each
npm run fuzz -- core | readers  one of them
npm run fuzz -- --seed=S        other inputs for the readers (1)`;

async function fuzzCore(seconds) {
  const env = await setUp('native');
  await buildPreset('fuzz', env);
  const corpus = join(root, 'build/fuzz/corpus');
  mkdirSync(corpus, { recursive: true });
  const program = join(presetFolder('fuzz'), 'fuzz');
  const args = [`-max_total_time=${seconds}`, '-max_len=600', '-timeout=20', '-print_final_stats=1'];
  await step(
    'Fuzz the core',
    {
      byHand:
        'the file that it names above, put into tests/core/fuzz/corpus, makes `npm test -- native fuzz` fail likewise.',
    },
    (run) => run(program, [...args, corpus, 'tests/core/fuzz/corpus'], { env, show: true }),
  );
}

async function fuzzReaders(seconds, seed) {
  const env = await setUp('wasm');
  await build(env);
  const vitest = join(root, 'node_modules/.bin/vitest');
  const args = ['run', '--config', 'tests/vitest.config.ts', '--project=node', 'tests/fuzz'];
  await step(
    'Fuzz the readers',
    { byHand: 'the seed and the number of the input, in the message above, make it again.' },
    (run) =>
      run(vitest, args, {
        env: { ...env, SUPERPOSE_FUZZ_SECONDS: String(seconds), SUPERPOSE_SEED: String(seed) },
        show: true,
      }),
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
  const [seconds, seed] = [number('seconds', 60), number('seed', 1)];
  const named = args.filter((arg) => !/^--(seconds|seed)=/.test(arg));
  const unknown = named.find((one) => !['core', 'readers'].includes(one));
  if (unknown) throw usageError(`npm run fuzz knows no ${unknown}.\n${help}`);
  const wanted = (part) => named.length === 0 || named.includes(part);
  if (wanted('core')) await fuzzCore(seconds);
  if (wanted('readers')) await fuzzReaders(seconds, seed);
}

runTool(import.meta.url, main);
