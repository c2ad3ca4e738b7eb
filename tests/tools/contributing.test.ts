// The walk-throughs of CONTRIBUTING.md, followed to the letter in copies of the sources: what they make compiles, is linted
// and passes its own tests and those that cover every function or figure.
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { execute, root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';
import { follow } from './support/guide.ts';

const inCi = process.env.CI === 'true';
const bin = (name: string) => join(root, 'node_modules/.bin', name);

/** A copy in which a walk-through was followed, and what runs programs in it. */
function followed(heading: string, name: string) {
  // It has no node_modules of its own, so it finds those of the checkout around it.
  const copy = join(root, 'build', name);
  const env = buildEnvironment(copy);
  copySources(copy);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  follow(heading, copy);
  const run = async (program: string, ...args: string[]) => {
    const { code, stdout, stderr } = await execute(program, args, copy, env);
    expect({ program, args, code }, stdout + stderr).toEqual({ program, args, code: 0 });
    return stdout;
  };
  const runTests = async (...tests: string[]) => {
    const files = tests.map((file) => `tests/${file}.test.ts`);
    // Of both projects of the part node.
    const output = await run(
      bin('vitest'),
      'run',
      '--config',
      'tests/vitest.config.ts',
      '--project=node*',
      ...files,
    );
    for (const file of files) expect(output).toContain(file);
  };
  return { copy, run, runTests };
}

test('a figure is drawn, and is where every figure has to be', async () => {
  const { copy, run, runTests } = followed('Adding a figure', 'new-figure');
  for (const beside of ['build', 'dist']) symlinkSync(join(root, beside), join(copy, beside));
  await run(bin('tsc'), '-p', 'web/tsconfig.json');
  await run(bin('tsc'), '-p', 'tests/tsconfig.json');
  await run(bin('biome'), 'check', '--error-on-warnings', 'web/figures', 'web/worker', 'tests/figures');
  await runTests('figures/turns', 'figures/names');
});

// The rest of the library is already compiled, and is linked with the new code.
const archiveOf = (variant: string) => `build/wasm/libcore-${variant}.a`;
// Both: they share plain's JavaScript, and the linker gives imports their short names by how often they are used.
const variants = ['plain', 'relaxed'];
const compiled = variants.every((variant) => existsSync(join(root, archiveOf(variant))));
test.runIf(inCi || compiled)('an encoding is in the API, documented, and its tests pass', async () => {
  const { copy, run, runTests } = followed('Adding an encoding', 'new-encoding');
  cpSync(join(root, 'build/package'), join(copy, 'build/package'), { recursive: true });
  const bindings = readdirSync(join(root, 'src/wasm/second')).concat('../value.cpp');
  const objects = bindings.map((file) => join('CMakeFiles/bindings-second.dir/src/wasm/second', `${file}.o`));
  await run('cmake', '--preset', 'wasm', '-DSUPERPOSE_TOGETHER=OFF');
  await run('cmake', '--build', '--preset', 'wasm', '--target', ...objects);
  const link = async (variant: string) => {
    const archive = archiveOf(variant);
    cpSync(join(root, archive), join(copy, archive));
    const commands = await run('ninja', '-C', 'build/wasm', '-t', 'commands', `superpose-second-${variant}`);
    await run('sh', '-c', `cd build/wasm && ${commands.trim().split('\n').at(-1)}`);
  };
  await Promise.all(variants.map(link));

  await run(bin('tsc'), '-p', 'src/api/tsconfig.json');
  await run(bin('tsc'), '-p', 'tests/tsconfig.json');
  await run(bin('biome'), 'check', '--error-on-warnings', 'src/api', 'docs', 'tests/api');
  await runTests('api/encodings/nerf', 'api/wrongArguments', 'api/drift', 'tools/library');
});
