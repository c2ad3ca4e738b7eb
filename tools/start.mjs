// npm start: builds, serves dist/ to this machine only, and prints the address.
import { join } from 'node:path';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { Failure, root, runTool, usageError } from './steps.mjs';

const defaultPort = 8417;

async function main(args) {
  const given = readPort(args);
  await build(await setUp('wasm'));
  const server = await serve(given);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.removeAllListeners(signal);
    process.on(signal, () => server.close().then(() => process.exit(0)));
  }
  const { port } = server.httpServer.address();
  if (!given && port !== defaultPort)
    console.log(`Port ${defaultPort} is taken; ${port} is the next free one.`);
  console.log('Serving the page until Ctrl-C:');
  console.log(`http://127.0.0.1:${port}/`);
}

/** The requested port, or undefined. */
function readPort(args) {
  const words = args.flatMap((arg) => arg.split('='));
  // Given "npm start --port N" without a "--" before it, npm keeps the option as a setting of its own:
  // with the number, or as "true" with the number left as an argument.
  const setting = process.env.npm_config_port;
  if (setting) words.unshift('--port', ...(setting === 'true' ? [] : [setting]));
  if (words.length === 0) return undefined;
  const [option, port, ...rest] = words;
  if (option === '--port' && rest.length === 0 && /^[1-9]\d{0,4}$/.test(port ?? '') && port <= 65535)
    return Number(port);
  throw usageError(`npm start takes --port N with N from 1 to 65535, and got: ${words.join(' ')}`);
}

async function serve(given) {
  // Vite is not installed until setUp has run.
  const { preview } = await import('vite');
  try {
    return await preview({
      root,
      configFile: false,
      logLevel: 'warn',
      appType: 'mpa',
      build: { outDir: join(root, 'dist') },
      preview: { host: '127.0.0.1', port: given ?? defaultPort, strictPort: given !== undefined },
    });
  } catch (error) {
    if (!/already in use/.test(error.message)) throw error;
    throw new Failure(
      `Port ${given} is taken by another program. Choose another with --port N, or leave --port out for the next free one.`,
    );
  }
}

runTool(import.meta.url, main);
