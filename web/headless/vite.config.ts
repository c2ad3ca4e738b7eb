// The figures for Node, beside the typed API that they call.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { noticeCollector } from '../notices.js';

const root = resolve(import.meta.dirname, '../..');

const notices = noticeCollector();

export default defineConfig({
  root: import.meta.dirname,
  ssr: { noExternal: true, external: ['@huggingface/tokenizers', '@resvg/resvg-js'] },
  build: {
    ssr: true,
    outDir: resolve(root, 'build/package/headless'),
    emptyOutDir: true,
    target: 'node20',
    rollupOptions: {
      input: {
        index: resolve(import.meta.dirname, 'index.ts'),
        command: resolve(import.meta.dirname, '../command/superpose.ts'),
      },
      external: ['superpose'],
      output: {
        paths: { superpose: '../index.js' },
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
      },
    },
  },
  plugins: [
    notices.plugin(),
    {
      name: 'write-notices',
      closeBundle: () =>
        notices.write(resolve(root, 'build/package/THIRD-PARTY.txt'), ['@huggingface/tokenizers']),
    },
  ],
});
