// npm run lint: every check that does not run the code. `npm test` does them for changed C++ files only.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { ask, root, runTool, step, usageError } from './steps.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** The C++ files of the checkout with these endings; headers are read with the files that include them. */
export const cppFiles = (...endings) =>
  (ask('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...endings], { cwd: root }) ?? '')
    .split('\n')
    .filter((file) => file && existsSync(join(root, file)));

/** The files of the core, which have an entry each in the compile commands that `configureTidy` writes. */
export const tidied = (files) => files.filter((file) => /^src\/core\/.*\.cpp$/.test(file));

/** Those that differ from HEAD, or else from the commit before it. */
export function changedCpp() {
  const lines = (...args) => (ask('git', args, { cwd: root }) ?? '').split('\n').filter(Boolean);
  const uncommitted = [
    ...lines('diff', '--name-only', 'HEAD'),
    ...lines('ls-files', '--others', '--exclude-standard'),
  ];
  const changed = uncommitted.length > 0 ? uncommitted : lines('diff', '--name-only', 'HEAD~1', 'HEAD');
  return tidied(changed).filter((file) => existsSync(join(root, file)));
}

/** Only what has changed since the last time is looked at again. */
const types = (room) => [
  ...[bin('tsc'), '-p', `${room}/tsconfig.json`],
  ...['--incremental', '--tsBuildInfoFile', `build/types/${room}`],
];
/** The command of each checker. */
export const checks = {
  'Biome: TypeScript, JavaScript, CSS': [bin('biome'), 'check', '--error-on-warnings'],
  'Types of the bindings': types('src/wasm'),
  'Types of the page': types('web'),
  'Types of the tests': types('tests'),
};
export const formatted = () => ['clang-format', '--dry-run', '-Werror', ...cppFiles('*.cpp', '*.h')];
/** Builds join the files of a room, and clang-tidy would guess the flags of one that it is not told of. */
export const configureTidy = ['cmake', '--preset', 'native', '-B', 'build/tidy', '-DSUPERPOSE_TOGETHER=OFF'];
// The native preset is g++'s, and clang warns of what g++ alone knows.
export const tidy = (file) => [
  ...['clang-tidy', '--quiet', '--extra-arg=-Wno-unused-command-line-argument'],
  ...['-p', join(root, 'build/tidy'), file],
];

async function main(args) {
  if (args.length > 0) throw usageError(`npm run lint takes no arguments, and got: ${args.join(' ')}`);
  const env = await setUp('wasm', 'native', 'style');
  const byHand = 'read the message above; `npx biome check --write` and `clang-format -i` mend most.';
  const check = (name, [program, ...rest]) =>
    step(name, { byHand }, (run) => run(program, rest, { env, show: true }));
  for (const [name, command] of Object.entries(checks)) await check(name, command);
  await check('clang-format: C++', formatted());
  await check('Configure for clang-tidy', configureTidy);
  const files = tidied(cppFiles('src/core/*.cpp'));
  const many = ['-P', String(availableParallelism()), '-n', '1', ...tidy('').slice(0, -1)];
  await step(`clang-tidy: ${files.length} files of the core`, { byHand }, (run) =>
    run('sh', ['-c', 'printf "%s\\n" "$0" | xargs "$@"', files.join('\n'), ...many], { env, show: true }),
  );
}

runTool(import.meta.url, main);
