// The built JavaScript and modules: what must be the same in all builds, and how large they may be.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../build/package/wasm/${name}`, import.meta.url));
const script = (module: string) => read(`superpose-${module}.js`).toString();
const modules = ['plain', 'relaxed', 'small-plain', 'small-relaxed'];

test('the JavaScript of both builds is the same but for the name of the .wasm', () => {
  for (const part of ['', 'small-']) {
    expect(script(`${part}relaxed`).replaceAll('relaxed', 'plain')).toBe(script(`${part}plain`));
  }
});

/** The JavaScript that starts every module. */
const glue = script('plain');
const namesIn = (pattern: RegExp) => [...glue.matchAll(pattern)].map(([, name]) => name as string);

test.each(modules)('the JavaScript of the %s build makes no code out of text', (simd) => {
  expect(script(simd)).not.toMatch(/\bnew Function\b|\bFunction\(|\beval\(/);
});

test.each(modules)(
  'what the %s build imports the one JavaScript provides, and finds what it needs',
  async (simd) => {
    const compiled = await WebAssembly.compile(read(`superpose-${simd}.wasm`));
    const [all = ''] = namesIn(/wasmImports=\{([^}]*)\}/g);
    const provided = all.split(',').map((pair) => pair.split(':')[0]);
    const imported = WebAssembly.Module.imports(compiled).map(({ name }) => name);
    expect(imported.length).toBeGreaterThan(20);
    expect(imported.filter((name) => !provided.includes(name))).toEqual([]);
    const needed = namesIn(/wasmExports\["(\w+)"\]/g);
    const exported = WebAssembly.Module.exports(compiled).map(({ name }) => name);
    expect(needed.length).toBeGreaterThan(4);
    expect(needed.filter((name) => !exported.includes(name))).toEqual([]);
  },
);

// Products use fused multiply-adds only in the build that is told to.
test('only the relaxed build has fused multiply-adds, in its products of both precisions', () => {
  const count = (simd: string, opcode: number) =>
    read(`superpose-${simd}.wasm`)
      .toString('latin1')
      .split(String.fromCharCode(0xfd, opcode, 2)).length - 1;
  const [float, double] = [0x85, 0x87];
  for (const opcode of [float, double]) {
    expect(count('plain', opcode)).toBe(0);
    // A tile of a product has ten or eight sums; where there are few rows, a pair of rows has two.
    expect(count('relaxed', opcode)).toBeGreaterThanOrEqual(20);
  }
});

const at = (name: string) => fileURLToPath(new URL(`../../build/package/${name}`, import.meta.url));
const kilobytes = (content: string | Uint8Array) => gzipSync(content, { level: 9 }).length / 1024;

test.each(['plain', 'relaxed'])('the %s modules: what a first figure waits for, and all', (simd) => {
  expect(kilobytes(readFileSync(at(`wasm/superpose-small-${simd}.wasm`)))).toBeLessThan(46);
  expect(1024 * kilobytes(readFileSync(at(`wasm/superpose-${simd}.wasm`)))).toBeLessThan(200_000);
});

/** The code of a module and its imports, except `external` ones, as a bundler makes it from the package. */
async function bundled(name: string, ...external: RegExp[]): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rollupOptions: {
        input: at(name),
        external,
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  });
  const chunks = [output].flat().flatMap((part) => ('output' in part ? part.output : []));
  return chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
}

test('the JavaScript that a page starts with: what Emscripten writes, and the typed API', async () => {
  const api = await bundled('smallModule.js', /superpose-plain\.js$/);
  expect(api).toContain('combineTerms');
  expect(api).not.toContain('chanceAngles');
  // 0.1 KB of this is the code that starts a new instance after a call broke off.
  expect(kilobytes(api)).toBeLessThan(9.3);
  const glue = await bundled('wasm/superpose-plain.js');
  expect(glue).toContain('WebAssembly');
  expect(kilobytes(glue)).toBeLessThan(15);
});
