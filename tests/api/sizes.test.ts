// How many gzipped bytes of the library a reader's browser has to fetch.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test } from 'vitest';

const at = (name: string) => fileURLToPath(new URL(`../../build/package/${name}`, import.meta.url));
const kilobytes = (content: string | Uint8Array) => gzipSync(content, { level: 9 }).length / 1024;

test.each(['plain', 'relaxed'])('the %s modules: what a first figure waits for, and all', (simd) => {
  expect(kilobytes(readFileSync(at(`wasm/superpose-small-${simd}.wasm`)))).toBeLessThan(46);
  expect(1024 * kilobytes(readFileSync(at(`wasm/superpose-${simd}.wasm`)))).toBeLessThan(225_000);
});

/** A module and its imports, without `external`, as a bundler makes it from the package. */
async function bundled(name: string, ...external: RegExp[]): Promise<string> {
  const made = await build({
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
  const chunks = [made].flat().flatMap((part) => ('output' in part ? part.output : []));
  return chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
}

test('the JavaScript that a page starts with: what Emscripten writes, and the typed API', async () => {
  const api = await bundled('small.js', /superpose-plain\.js$/);
  expect(api).toContain('decomposeTerms');
  expect(api).not.toContain('principalAngles');
  // 0.1 of it starts a new instance after a call broke off.
  expect(kilobytes(api)).toBeLessThan(9.3);
  const glue = await bundled('wasm/superpose-plain.js');
  expect(glue).toContain('WebAssembly');
  expect(kilobytes(glue)).toBeLessThan(15);
});
