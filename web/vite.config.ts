import { cpSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const here = import.meta.dirname;

/** The model's files go beside the page as they are; without them the page says what is missing. */
function modelFiles(): Plugin {
  return {
    name: 'model-files',
    apply: 'build',
    closeBundle() {
      const model = resolve(here, '../build/model');
      if (existsSync(model)) cpSync(model, resolve(here, '../dist/model'), { recursive: true });
    },
  };
}

export default defineConfig({
  root: here,
  // Relative addresses, so that the site works from any folder of any server.
  base: './',
  resolve: { alias: { superpose: resolve(here, '../build/package/index.js') } },
  worker: { format: 'es' },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
  },
  plugins: [modelFiles()],
});
