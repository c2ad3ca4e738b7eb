// The runtimes that the bench drives. Each asks a small server of its own for work and posts its
// measurements, so that one loop can give all of them a turn in every round.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, runnerImport } from 'vite';
import { chromiumOptions } from '../chromium.mjs';
import { relaxedSimdFlags } from '../relaxedSimd.mjs';
import { unlessStamped } from '../stamps.mjs';
import { ask, root } from '../steps.mjs';
import { native, nativeAvx2 } from './native.mjs';
import { straightFile } from './straight.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Builds the page of the bench; the engines' own .wasm files are served from where npm put them. */
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
  '/straight/': join(root, 'build/bench/straight'),
  '/ort/': join(root, 'node_modules/onnxruntime-web/dist'),
  '/tfjs/': join(root, 'node_modules/@tensorflow/tfjs-backend-wasm/dist'),
  '/': join(root, 'build/bench/page'),
};

/** The training peer that is not a package: straight.cpp, compiled by em++ with Eigen's own vectorization. */
export async function buildStraight({
  SUPERPOSE_EMSCRIPTEN: emscripten,
  SUPERPOSE_PREFIX: prefix = '/usr',
  ...env
}) {
  const flags = ['-std=c++20', '-O3', '-DNDEBUG', '-fno-exceptions', '-fno-rtti', '-msimd128', '-msse4.1'];
  flags.push('--no-entry', '-sSTANDALONE_WASM', '-sINITIAL_MEMORY=64MB', '-sSTACK_SIZE=1MB');
  flags.push('-sEXPORTED_FUNCTIONS=_begin,_ids,_step', '-Wno-version-check');
  await unlessStamped(
    'bench-straight',
    { inputs: ['tools/bench/straight.cpp'], outputs: [straightFile], key: flags.join(' ') },
    () => {
      mkdirSync(dirname(join(root, straightFile)), { recursive: true });
      const files = ['tools/bench/straight.cpp', '-o', straightFile, `-I${prefix}/include/eigen3`];
      execFileSync(join(emscripten, 'em++'), [...flags, ...files], {
        cwd: root,
        env: { ...process.env, ...env },
      });
    },
  );
}

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
    // Without cross-origin isolation: tfjs-backend-wasm uses threads where it can, and the bench compares one
    // thread. Later loads come from the cache, as on a second visit to a page.
    response.writeHead(200, {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'cache-control': 'max-age=3600',
    });
    response.end(readFileSync(file));
  });
  // A runtime is silent while it works, and also while the others do.
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
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A runtime: its server, and a function that opens the server's address. */
async function runtimeOf(name, start) {
  const of = await desk();
  try {
    const close = await start(of);
    return {
      name,
      order: of.order,
      about: () => of.order({ about: true }),
      close: async () => {
        await close();
        of.close();
      },
    };
  } catch (error) {
    of.close();
    throw error;
  }
}

const { module: engines } = await runnerImport(join(root, 'tests/engines/engines.ts'));

/** Functions that start a browser, which can open() an address, evaluate() in its page, and close(). */
export const browsers = {
  async chromium() {
    const { chromium } = await import('playwright');
    const browser = await chromium.launch(chromiumOptions);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    return {
      page,
      open: (address) => page.goto(address),
      evaluate: (inPage, given) => page.evaluate(inPage, given),
      close: () => browser.close(),
    };
  },
  firefox: engines.firefox,
  webkit: engines.webkit,
};

const inBrowser = (name, start) =>
  runtimeOf(name, async ({ address }) => {
    const browser = await start();
    await browser.open(address);
    return () => browser.close();
  });

const inNode = (name, program, flags) =>
  runtimeOf(name, async ({ address, fail }) => {
    const child = spawn(program, [...flags, here('./node.js'), address], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('exit', () => fail(`${name} has ended.`));
    return () => child.kill();
  });

/** The newest Node, from npm, in build/bench: Node 20 has relaxed SIMD only behind a flag. */
function newestNode() {
  const folder = join(root, 'build/bench/node-26');
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--prefix', folder, `${name}@26`], {
      stdio: 'ignore',
    });
  }
  return program;
}

/** WebKitGTK claims a Safari version that never existed; Debian knows its own. */
const webkitVersion = () =>
  `WebKitGTK ${ask('dpkg-query', ['-W', 'libwebkit2gtk-4.1-0'])?.split('\t')[1] ?? 'of unknown version'}`;

const makers = {
  chromium: () => inBrowser('Chromium', browsers.chromium),
  firefox: () => inBrowser('Firefox', browsers.firefox),
  webkit: async () => ({ ...(await inBrowser('WebKit', browsers.webkit)), about: webkitVersion }),
  node: () => inNode(`Node ${process.versions.node.split('.')[0]}`, process.execPath, relaxedSimdFlags),
  'node-26': () => inNode('Node 26', newestNode(), []),
  native,
  'native-avx2': nativeAvx2,
};
export const runtimeNames = Object.keys(makers);

/** Starts the runtimes that this machine has, and says which it lacks. `eigen` is the prefix of Eigen. */
export async function startRuntimes(wanted, eigen) {
  const started = [];
  for (const name of wanted) {
    try {
      started.push(await makers[name](eigen));
    } catch (error) {
      console.error(`Without ${name}: ${String(error.message).split('\n')[0]}`);
    }
  }
  return started;
}
