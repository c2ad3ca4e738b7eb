// What `npm run bench` runs: the library and its peers, in Node and in Chromium, on one thread each.
import { join, resolve } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { chromiumOptions, chromiumPath } from '../chromium.mjs';
import { relaxedSimdFlags } from '../relaxedSimd.mjs';

const root = resolve(import.meta.dirname, '../..');
const shared = {
  root,
  cacheDir: 'build/vite-bench',
  resolve: { alias: { superpose: join(root, 'build/package/index.js') } },
};
const benchmark = { include: ['tools/bench/*.bench.js'] };

export default defineConfig({
  root,
  test: {
    fileParallelism: false,
    projects: [
      {
        ...shared,
        test: {
          name: 'node',
          benchmark,
          execArgv: relaxedSimdFlags,
          // Node finds no modules without an extension.
          server: { deps: { inline: [/@tensorflow/] } },
        },
      },
      {
        ...shared,
        // TensorFlow.js starts threads in an isolated page, and one thread is compared with one.
        test: {
          name: 'chromium',
          benchmark: chromiumPath ? benchmark : { include: [] },
          browser: {
            enabled: true,
            headless: true,
            provider: playwright({ launchOptions: chromiumOptions }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
