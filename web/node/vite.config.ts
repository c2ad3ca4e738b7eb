// Builds the figures for Node, beside the typed API that they call, and the command.
import { chmodSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, defineConfig } from 'vite';
import { noticeCollector } from '../build/notices.js';

const root = resolve(import.meta.dirname, '../..');

const notices = noticeCollector();
const outDir = resolve(root, 'build/package/node');

export default defineConfig({
  root: import.meta.dirname,
  ssr: { noExternal: true, external: ['@resvg/resvg-js'] },
  build: {
    ssr: resolve(import.meta.dirname, 'index.ts'),
    outDir,
    emptyOutDir: true,
    target: 'node20',
    rollupOptions: {
      external: ['add-or-concatenate'],
      // Minified, which makes the package a fifth smaller.
      output: {
        paths: { 'add-or-concatenate': '../index.js' },
        codeSplitting: false,
        minify: true,
      },
    },
  },
  plugins: [notices.plugin(), { name: 'after', closeBundle: buildCommand }],
});

/** The command imports the figures' bundle instead of holding another copy. */
async function buildCommand() {
  notices.write(resolve(root, 'build/package/THIRD-PARTY.txt'));
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: 'node20',
      rollupOptions: {
        input: { command: resolve(import.meta.dirname, 'command/superpose.ts') },
        external: ['add-or-concatenate', '../index.js'],
        output: {
          entryFileNames: '[name].js',
          // Chunks lie beside the command, so that their imports have the same relative paths.
          chunkFileNames: 'command-[name].js',
          paths: (id) =>
            id === 'add-or-concatenate' ? '../index.js' : id.endsWith('node/index.js') ? './index.js' : id,
          minify: true,
        },
      },
    },
  });
  // npx sets the mode only once, when it first links to a folder, and runs a later build's file as it is.
  chmodSync(resolve(outDir, 'command.js'), 0o755);
}
