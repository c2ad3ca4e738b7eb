// The figures for Node, beside the typed API that they call.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const root = resolve(import.meta.dirname, '../..');

export default defineConfig({
  root: import.meta.dirname,
  ssr: { noExternal: true, external: ['@huggingface/tokenizers'] },
  build: {
    ssr: resolve(import.meta.dirname, 'index.ts'),
    outDir: resolve(root, 'build/package/headless'),
    emptyOutDir: true,
    target: 'node20',
    rollupOptions: {
      external: ['superpose'],
      output: { paths: { superpose: '../index.js' }, codeSplitting: false },
    },
  },
});
