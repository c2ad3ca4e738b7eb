// npm run lint: every check that does not run the code. `npm test` runs clang-tidy on changed C++ files
// only.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildTypes } from './build.mjs';
import { setUp } from './setup.mjs';
import { ask, root, runTool, step, usageError } from './steps.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** Returns the C++ files of the checkout that match these patterns. */
export const cppFiles = (...endings) =>
  (ask('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...endings], { cwd: root }) ?? '')
    .split('\n')
    .filter((file) => file && existsSync(join(root, file)));

/**
 * Keeps the sources of the core, each of which has an entry in the compile commands that `configureTidy`
 * writes.
 */
export const tidied = (files) => files.filter((file) => /^src\/core\/.*\.cpp$/.test(file));

/** Returns the sources that differ from HEAD or, if none do, from the commit before it. */
export function changedCpp() {
  const lines = (...args) => (ask('git', args, { cwd: root }) ?? '').split('\n').filter(Boolean);
  const uncommitted = [
    ...lines('diff', '--name-only', 'HEAD'),
    ...lines('ls-files', '--others', '--exclude-standard'),
  ];
  const changed = uncommitted.length > 0 ? uncommitted : lines('diff', '--name-only', 'HEAD~1', 'HEAD');
  return tidied(changed).filter((file) => existsSync(join(root, file)));
}

const byHand = 'read the message above; `npx biome check --write` and `clang-format -i` mend most.';

/** Runs a check; returns a result that npm test can count. */
async function check(name, [program, ...args], env) {
  await step(name, { byHand }, (run) => run(program, args, { env, show: true }));
  return { passed: 1 };
}

/** Biome's check of TypeScript, JavaScript and CSS, which reads nothing that is built. */
export const biome = (env) => check('Biome', [bin('biome'), 'check', '--error-on-warnings'], env);

/** The rooms whose types are checked besides those of the typed API. */
export const typedRooms = ['src/wasm', 'web', 'tests'];

/** Checks a room's types, for which buildTypes must have run. Only what has changed is checked again. */
export const typesOf = (room, env) => {
  const incremental = ['--incremental', '--tsBuildInfoFile', `build/types/${room}`];
  return check(`Types of ${room}`, [bin('tsc'), '-p', `${room}/tsconfig.json`, ...incremental], env);
};

export const formatted = () => ['clang-format', '--dry-run', '-Werror', ...cppFiles('*.cpp', '*.h')];
/** Normal builds join the files of a room, so clang-tidy would have to guess the flags of each. */
export const configureTidy = ['cmake', '--preset', 'native', '-B', 'build/tidy', '-DSUPERPOSE_TOGETHER=OFF'];
// The native preset has g++'s flags, and clang warns about those that it does not know.
export const tidy = (file) => [
  ...['clang-tidy', '--quiet', '--extra-arg=-Wno-unused-command-line-argument'],
  ...['-p', join(root, 'build/tidy'), file],
];

async function main(args) {
  if (args.length > 0) throw usageError(`npm run lint takes no arguments, and got: ${args.join(' ')}`);
  const env = await setUp('wasm', 'native', 'style');
  await biome(env);
  await buildTypes(env);
  for (const room of typedRooms) await typesOf(room, env);
  await check('clang-format: C++', formatted(), env);
  await check('Configure for clang-tidy', configureTidy, env);
  const files = tidied(cppFiles('src/core/*.cpp'));
  const many = ['-P', String(availableParallelism()), '-n', '1', ...tidy('').slice(0, -1)];
  await step(`clang-tidy: ${files.length} files of the core`, { byHand }, (run) =>
    run('sh', ['-c', 'printf "%s\\n" "$0" | xargs "$@"', files.join('\n'), ...many], { env, show: true }),
  );
}

runTool(import.meta.url, main);
