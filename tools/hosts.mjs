// npm run hosts: builds sites with figures in the publishing tools that people use, and opens each in three
// browsers.
import { join } from 'node:path';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool } from './steps.mjs';

async function main(args) {
  const env = await setUp('wasm', 'chromium', 'engines');
  await build(env);
  const { createServer } = await import('vite');
  // Figures are loaded on demand, so the server must keep loading modules while it runs.
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    resolve: { alias: { 'add-or-concatenate': join(root, 'build/package/index.js') } },
  });
  try {
    const { main: run } = await server.ssrLoadModule('/tests/hosts/run.ts');
    return await run(args);
  } finally {
    await server.close();
  }
}

runTool(import.meta.url, main);
