// One classic script that holds a figure's page and its worker, for build/site/singlePage.ts to put in
// pages.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { noticeCollector } from '../build/notices.js';

const root = resolve(import.meta.dirname, '../..');
const notices = noticeCollector();

/**
 * Keeps the bundler from including files by their address: the .wasm is handed in, and the model's address
 * and the code for Node are not used here.
 */
export const withoutWasmAddress = (): Plugin => ({
  name: 'without-wasm-address',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('/build/package/') ? code.replaceAll('import.meta.url', "'about:blank'") : undefined,
});

export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: { 'add-or-concatenate': resolve(root, 'build/package/index.js') } },
  plugins: [
    withoutWasmAddress(),
    notices.plugin(),
    {
      name: 'notice-line',
      closeBundle: () => writeFileSync(resolve(root, 'build/single/notices.txt'), notices.line()),
    },
  ],
  publicDir: false,
  build: {
    outDir: resolve(root, 'build/single'),
    emptyOutDir: true,
    target: 'es2022',
    lib: {
      entry: resolve(import.meta.dirname, 'single.ts'),
      formats: ['iife'],
      name: 'superpose',
      fileName: () => 'single.js',
    },
    rollupOptions: { output: { codeSplitting: false } },
  },
});
