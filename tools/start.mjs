// npm start: builds, serves dist/ to this machine only, and prints the address.
import { join } from 'node:path';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, usageError } from './steps.mjs';

const defaultPort = 8417;

async function main(args) {
  const wish = readPort(args);
  await build(await setUp('wasm'));
  // Vite is not installed until setUp has run.
  const { preview } = await import('vite');
  const server = await preview({
    root,
    configFile: false,
    logLevel: 'warn',
    appType: 'mpa',
    build: { outDir: join(root, 'dist') },
    preview: { host: '127.0.0.1', port: wish },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.removeAllListeners(signal);
    process.on(signal, () => server.close().then(() => process.exit(0)));
  }
  const { port } = server.httpServer.address();
  if (port !== wish) console.log(`Port ${wish} is taken; ${port} is the next free one.`);
  console.log('Serving the page until Ctrl-C:');
  console.log(`http://127.0.0.1:${port}/`);
}

function readPort(args) {
  // npm takes "npm start --port N" without a "--" as one of its own settings: with the number, or as "true"
  // with the number left as an argument.
  const setting = process.env.npm_config_port?.replace('true', '');
  const words = [setting, ...args].filter(Boolean).join('=');
  const [, port] = words.match(/^(?:--port=)?([1-9]\d{0,4})$/) ?? (words === '' ? ['', defaultPort] : []);
  if (port <= 65535) return Number(port);
  throw usageError(`npm start takes --port N with N from 1 to 65535, and got: ${words.replaceAll('=', ' ')}`);
}

runTool(import.meta.url, main);
