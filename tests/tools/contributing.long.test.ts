// The walk-throughs of CONTRIBUTING.md, followed to the letter in copies of the sources: the result compiles
// and passes Biome, its own tests, and those that cover every function or figure.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { execute, root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';
import { withoutNumpy } from './support/numpy.ts';
import { anchorIn, linesOf, walkThroughs } from './support/walkThroughs.ts';

/** Follows the walk-through with this heading in `copy`. */
function follow(heading: string, copy: string): void {
  const walkThrough = walkThroughs.find((candidate) => candidate.heading === heading);
  expect(walkThrough, heading).toBeDefined();
  for (const edit of walkThrough?.edits ?? []) {
    const path = join(copy, edit.file);
    const lines = linesOf(copy, edit.file);
    if (!edit.side || !lines) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, edit.text);
      continue;
    }
    const at = anchorIn(lines, edit);
    // A line of a table is written without its indentation, a block with it.
    const indent = edit.text.includes('\n') ? '' : (lines[at]?.match(/^ */)?.[0] ?? '');
    const place = edit.side === 'below' ? at + 1 : at;
    lines.splice(place, edit.side === 'in place of' ? 1 : 0, indent + edit.text.replace(/\n$/, ''));
    writeFileSync(path, lines.join('\n'));
  }
}

const inCi = process.env.CI === 'true';
const bin = (name: string) => join(root, 'node_modules/.bin', name);

type Followed = ReturnType<typeof followed>;

/** A copy in which a walk-through was followed, and a function that runs programs in the copy. */
function followed(heading: string, name: string) {
  // Inside the checkout, because the copy has no node_modules of its own and so finds the checkout's.
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
    // The tests may belong to either of the two projects of the part node.
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

test('a figure is drawn, and stands wherever figures are listed', async () => {
  const { copy, run, runTests } = followed('Adding a figure', 'new-figure');
  for (const beside of ['build', 'dist']) symlinkSync(join(root, beside), join(copy, beside));
  await run(bin('tsc'), '-p', 'web/tsconfig.json');
  await run(bin('tsc'), '-p', 'tests/tsconfig.json');
  await run(bin('biome'), 'check', '--error-on-warnings', 'web/figures', 'web/worker', 'tests/figures');
  await runTests('figures/turns', 'figures/everyFigure');
});

// The rest of the library is already compiled, and is linked with the new code.
const archiveOf = (variant: string) => `build/wasm/libcore-${variant}.a`;
// Both variants are linked: they share plain's JavaScript, and the linker gives imports short names by how
// often the imports are used.
const variants = ['plain', 'relaxed'];
const modules = ['superpose', 'superpose-small'];
const compiled = variants.every((variant) => existsSync(join(root, archiveOf(variant))));

/** Copies the built library, and the declarations that other code is compiled against. */
function withLibrary(copy: string): void {
  for (const built of ['build/package', 'build/declarations'])
    cpSync(join(root, built), join(copy, built), { recursive: true });
}

/**
 * Compiles the bindings and links both modules of both variants. The objects `ofCore` replace those in the
 * archives.
 */
async function relink({ copy, run }: Followed, ofCore: string[] = []) {
  withLibrary(copy);
  const commandsOf = async (target: string) =>
    (await run('ninja', '-C', 'build/wasm', '-t', 'commands', target)).trim().split('\n');
  const linkerOf = async (target: string) => (await commandsOf(target)).at(-1) ?? '';
  const linkers = await Promise.all(modules.map((name) => linkerOf(`${name}-plain`)));
  const bindings = linkers.join(' ').match(/\S*bindings-\w+\.dir\S*\.o/g) ?? [];
  await run('cmake', '--build', '--preset', 'wasm', '--target', ...bindings, ...ofCore, 'declared');
  const link = async (variant: string) => {
    const archive = archiveOf(variant);
    cpSync(join(root, archive), join(copy, archive));
    const commands = await commandsOf(`superpose-${variant}`);
    const archiver = commands.find((line) => line.includes(`libcore-${variant}.a`) && line.includes(' qc '));
    const [, program] = archiver?.match(/(\S+) qc /) ?? [];
    for (const object of ofCore)
      await run('sh', '-c', `cd build/wasm && ${program} rcs ${archive.slice(11)} ${object}`);
    for (const name of modules)
      await run('sh', '-c', `cd build/wasm && ${await linkerOf(`${name}-${variant}`)}`);
  };
  await Promise.all(variants.map(link));
  await run(bin('tsc'), '-p', 'src/api/tsconfig.json');
  await run(bin('tsc'), '-p', 'tests/tsconfig.json');
}

test.runIf(inCi || compiled)(
  'an encoding is in the API, documented, offered by figures, and its tests pass',
  async () => {
    const all = followed('Adding an encoding', 'new-encoding');
    await all.run('cmake', '--preset', 'wasm');
    await relink(all);
    await all.run(bin('tsc'), '-p', 'web/tsconfig.json');
    await all.run(
      bin('biome'),
      'check',
      '--error-on-warnings',
      'src/api',
      'docs',
      'tests/api',
      'web/figures',
    );
    await all.runTests(
      'api/encodings/nerf',
      'api/complete',
      'api/memory',
      'api/wrongArguments',
      'api/drift',
      'figures/encoding',
    );
  },
);

test.runIf(inCi || compiled)('a measurement is in the API and in the readout of its figure', async () => {
  const all = followed('Adding a measurement', 'new-measurement');
  await all.run('cmake', '--preset', 'wasm');
  await relink(all, ['CMakeFiles/core-common.dir/core_small_encodings.cpp.o']);
  await all.run(bin('tsc'), '-p', 'web/tsconfig.json');
  await all.run(bin('biome'), 'check', '--error-on-warnings', 'src/api', 'web/figures', 'tests/figures');
  await all.runTests('figures/turnsCompleted', 'figures/encoding', 'api/encodings/encodings', 'api/drift');
});

test.skipIf(withoutNumpy)(
  'a family of models is recognized, run and taken apart as numpy does it',
  async () => {
    const { copy, run, runTests } = followed('Adding a family', 'new-family');
    withLibrary(copy);
    await run(bin('tsc'), '-p', 'src/api/tsconfig.json');
    await run(bin('tsc'), '-p', 'tests/tsconfig.json');
    await run(bin('biome'), 'check', '--error-on-warnings', 'src/api/model');
    await runTests('api/model/drawnModels', 'api/model/families');
  },
);

test.runIf(inCi || compiled)('a scheme is in the registry, the API, its figure and the page', async () => {
  const all = followed('Adding a scheme', 'new-scheme');
  await all.run('cmake', '--preset', 'wasm');
  await relink(all, ['CMakeFiles/core-common.dir/core_small_scores.cpp.o']);
  await all.run(bin('tsc'), '-p', 'web/tsconfig.json');
  await all.run(bin('biome'), 'check', '--error-on-warnings', 'src/api', 'web/figures', 'tests/api');
  await all.runTests('api/scores/huang', 'api/scores/schemes', 'api/drift', 'figures/schemes', 'tools/lists');
});
