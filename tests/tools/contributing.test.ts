// The worked example of an encoding in CONTRIBUTING.md, followed to the letter in a copy of the sources: it
// compiles natively and for the web, and its tests pass, as do the tests that cover every function.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../tools/steps.mjs';
import { execute, root } from '../package/support/project.ts';
import { buildEnvironment, copySources } from './support/copy.ts';

const inCi = process.env.CI === 'true';
// It has no node_modules of its own, so it finds those of the checkout around it.
const copy = join(root, 'build/new-encoding');
const inCopy = (file: string) => join(copy, file);
const bin = (name: string) => join(root, 'node_modules/.bin', name);
const env = buildEnvironment(copy);

const guide = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8');
const section = guide.split(/^## /m).find((text) => text.startsWith('Adding an encoding')) ?? '';

const touched = new Set<string>();

/** Writes a file, or inserts text beside the first line that reads `line` in an existing file. */
function write(file: string, side: string | undefined, line: string, text: string) {
  touched.add(file);
  if (!side) {
    expect(existsSync(inCopy(file)), file).toBe(false);
    mkdirSync(dirname(inCopy(file)), { recursive: true });
    return writeFileSync(inCopy(file), text);
  }
  const lines = readFileSync(inCopy(file), 'utf8').split('\n');
  const at = lines.findIndex((one) => one.trim() === line);
  expect(at, `${file} has no line ${line}`).toBeGreaterThan(-1);
  lines.splice(side === 'above' ? at : at + 1, 0, text.replace(/\n$/, ''));
  return writeFileSync(inCopy(file), lines.join('\n'));
}

const run = async (program: string, ...args: string[]) => {
  const { code, stdout, stderr } = await execute(program, args, copy, env);
  expect({ program, args, code }, stdout + stderr).toEqual({ program, args, code: 0 });
  return stdout;
};

beforeAll(() => {
  copySources(copy);
  cpSync(join(root, 'build/package'), inCopy('build/package'), { recursive: true });
  // The paragraph above a block names its file and, for an existing file, a line in it.
  const blocks = [...section.matchAll(/\n\n([^\n](?:[^\n]|\n(?!\n))*)\n\n```\w+\n([\s\S]*?)^```$/gm)];
  expect(blocks.length).toBeGreaterThan(5);
  for (const [, above = '', code = ''] of blocks) {
    const [, file = '', , side, line = ''] =
      above.match(/`((?:src|web|docs|tests)\/[\w./]+\.\w+)`(, (above|below) `([^`]+)`)?/) ?? [];
    write(file, side, line, code);
  }
  const rows = [...section.matchAll(/^\| `(.*?)` \| `(.*?)` \| `(.*?)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(3);
  for (const [, file = '', line = '', text = ''] of rows) {
    const before = readFileSync(inCopy(file), 'utf8').split('\n');
    const indent = before.find((one) => one.trim() === line)?.match(/^ */)?.[0] ?? '';
    write(file, 'below', line, indent + text);
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('it touches as many files as it says', () => {
  expect(touched.size).toBe(Number(section.match(/It touches (\d+) files/)?.[1]));
});

test.runIf(inCi || (which('g++') && existsSync('/usr/include/gtest')))(
  'the C++ compiles where CMake has it, and its own test passes',
  async () => {
    const objects = [
      'CMakeFiles/core.dir/src/core/encodings/nerf.cpp.o',
      'tests/core/CMakeFiles/encodings_test.dir/encodings/nerf_test.cpp.o',
    ];
    // Compiled separately, it need not wait for the rest of its room.
    await run('cmake', '--preset', 'native', '-DSUPERPOSE_TOGETHER=OFF');
    await run('cmake', '--build', '--preset', 'native', '--target', ...objects);
    const program = inCopy('build/native/nerf');
    const paths = objects.map((object) => inCopy(join('build/native', object)));
    await run('g++', ...paths, '-lgtest_main', '-lgtest', '-o', program);
    expect(await run(program)).toContain('[  PASSED  ] 1 test.');
  },
);

// The rest of the library is already compiled, and is linked with the new code.
const archiveOf = (variant: string) => `build/wasm/libcore-${variant}.a`;
// Both: they share plain's JavaScript, and the linker gives imports their short names by how often they are used.
const variants = ['plain', 'relaxed'];
const compiled = variants.every((variant) => existsSync(join(root, archiveOf(variant))));
test.runIf(inCi || compiled)('the API has it, documented, and its tests pass', async () => {
  const nerf = 'CMakeFiles/core-common.dir/src/core/encodings/nerf.cpp.o';
  const bindings = readdirSync(join(root, 'src/wasm/second')).concat('../value.cpp');
  const objects = bindings.map((file) => join('CMakeFiles/bindings-second.dir/src/wasm/second', `${file}.o`));
  await run('cmake', '--preset', 'wasm', '-DSUPERPOSE_TOGETHER=OFF');
  await run('cmake', '--build', '--preset', 'wasm', '--target', nerf, ...objects);
  const link = async (variant: string) => {
    const archive = archiveOf(variant);
    cpSync(join(root, archive), inCopy(archive));
    await run(join(env.SUPERPOSE_EMSCRIPTEN ?? '', 'emar'), 'q', archive, `build/wasm/${nerf}`);
    const commands = await run('ninja', '-C', 'build/wasm', '-t', 'commands', `superpose-second-${variant}`);
    await run('sh', '-c', `cd build/wasm && ${commands.trim().split('\n').at(-1)}`);
  };
  await Promise.all(variants.map(link));

  await run(bin('tsc'), '-p', 'src/api/tsconfig.json');
  await run(bin('tsc'), '-p', 'tests/tsconfig.json');
  await run(bin('biome'), 'check', '--error-on-warnings', 'src/api', 'docs', 'tests/api');
  const files = ['api/encodings/nerf', 'api/wrongArguments', 'api/drift', 'tools/library'];
  const tests = files.map((file) => `tests/${file}.test.ts`);
  // Of both projects of the part node.
  const output = await run(
    bin('vitest'),
    'run',
    '--config',
    'tests/vitest.config.ts',
    '--project=node*',
    ...tests,
  );
  for (const file of tests) expect(output).toContain(file);
});
