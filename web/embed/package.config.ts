// The package's embed: modules that call the typed API beside them, and a worker as text.
import { copyFileSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { noticeCollector } from '../build/notices.js';
import { independent, onlyHalf, ownProperties, smaller } from '../build/plugins.js';
import { withoutWasmAddress } from './vite.config.js';

const root = resolve(import.meta.dirname, '../..');
const outDir = resolve(root, 'build/package/embed');
const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
const notices = noticeCollector();

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  resolve: { alias: { 'add-or-concatenate': resolve(root, 'build/package/index.js') } },
  define: { __SUPERPOSE_VERSION__: JSON.stringify(version) },
  worker: {
    format: 'iife',
    plugins: () => [onlyHalf('compute'), withoutWasmAddress(), notices.plugin()],
    // A site's bundler sees nothing in the worker, which is a string in one of the modules.
    rolldownOptions: { output: { minify: true } },
  },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: { entry: resolve(import.meta.dirname, 'package.ts'), formats: ['es'], fileName: 'embed' },
    rollupOptions: {
      transform: independent,
      external: /build\/package\/index\.js$/,
      // Annotations for bundlers stay.
      output: {
        chunkFileNames: '[name].js',
        paths: () => '../index.js',
        comments: { legal: false, annotation: true, jsdoc: false },
      },
    },
  },
  plugins: [
    onlyHalf('figure'),
    ownProperties(),
    notices.plugin(),
    // Without compression, what a debugger shows keeps its structure.
    smaller({ defaults: false }, { comments: /@vite-ignore|webpackIgnore|[@#]__PURE__/ }),
    {
      name: 'after',
      closeBundle() {
        for (const types of ['index', 'react'].map((name) => `${name}.d.ts`)) {
          copyFileSync(resolve(import.meta.dirname, types), resolve(outDir, types));
        }
        notices.write(resolve(outDir, 'THIRD-PARTY.txt'));
      },
    },
  ],
});
