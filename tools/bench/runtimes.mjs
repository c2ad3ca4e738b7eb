// The runtimes that the bench drives. Each takes an order and answers with its measurements, so that one loop can
// give all of them a turn in every round.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { relaxedSimdFlags } from '../relaxedSimd.mjs';
import { unlessStamped } from '../stamps.mjs';
import { ask, root } from '../steps.mjs';
import { browsers, serve } from './browsers.mjs';
import { native, nativeAvx2 } from './native.mjs';

const here = (name) => join(import.meta.dirname, name);
const folder = join(root, 'build/bench');

/** The training peer that is not a package: straight.cpp, compiled by em++ with Eigen's own vectorization. */
function buildStraight(env) {
  const [source, output] = ['tools/bench/straight.cpp', 'build/bench/straight.js'];
  const flags = `-std=c++20 -O3 -DNDEBUG -fno-exceptions -fno-rtti -msimd128 -msse4.1 -sINITIAL_MEMORY=64MB
    -sSTACK_SIZE=1MB -sEXPORTED_FUNCTIONS=_begin,_ids,_step -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=web -sSINGLE_FILE
    -Wno-version-check`.split(/\s+/);
  const stamp = { inputs: [source], outputs: [output], key: flags.join(' ') };
  return unlessStamped('bench-straight', stamp, () => {
    const eigen = `-I${env.SUPERPOSE_PREFIX ?? '/usr'}/include/eigen3`;
    mkdirSync(folder, { recursive: true });
    const compiler = join(env.SUPERPOSE_EMSCRIPTEN, 'em++');
    execFileSync(compiler, [...flags, source, '-o', output, eigen], { cwd: root, env });
  });
}

/** What the page of the bench loads. The library keeps its files, and the peers' .wasm files stay where npm put them. */
export async function buildPage(env) {
  await buildStraight(env);
  const [entryPoints, external] = [[here('page.js')], [join(root, 'build/package/*')]];
  // Our package.json says that no module has side effects, but TensorFlow.js's gradients are one.
  const options = { bundle: true, format: 'esm', ignoreAnnotations: true, logLevel: 'error' };
  await build({ entryPoints, outdir: folder, external, ...options });
}

/**
 * Without cross-origin isolation: tfjs-backend-wasm uses threads where it can, and the bench compares one thread. Later
 * loads come from the cache, as on a second visit to a page.
 */
async function inBrowser(name, start) {
  const browser = await start();
  const { address, stop } = await serve({ '/': root }, { 'Cache-Control': 'max-age=3600' });
  await browser.open(`${address}tools/bench/page.html`);
  // A driver may be back before the page's module has run.
  await browser.evaluate(() => import(document.scripts[0].src).then(() => true));
  return {
    name,
    /** Asks for the answer again and again, because a driver waits only so long. */
    async order(what) {
      await browser.evaluate((what) => {
        globalThis.answered = globalThis.answer(what).then((found) => ({ found }));
      }, what);
      for (;;) {
        const answer = await browser.evaluate(() =>
          Promise.race([globalThis.answered, new Promise((passed) => setTimeout(passed, 20_000))]),
        );
        if (answer) return answer.found;
      }
    },
    async close() {
      await browser.close();
      await stop();
    },
  };
}

function inNode(name, execPath, execArgv) {
  const child = fork(here('node.js'), { execPath, execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(() => [{ failed: `${name} has ended.` }]);
  return {
    name,
    async order(what) {
      child.send(what);
      const [answer] = await Promise.race([once(child, 'message'), ended]);
      if (answer.failed) throw new Error(answer.failed);
      return answer;
    },
    close: () => child.kill(),
  };
}

/** The newest Node, from npm, in build/bench: Node 20 has relaxed SIMD only behind a flag. */
function newestNode() {
  const prefix = join(folder, 'node-26');
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(prefix, 'node_modules', name, 'bin/node');
  if (!existsSync(program)) {
    mkdirSync(prefix, { recursive: true });
    const flags = ['--no-save', '--no-package-lock', '--prefix', prefix];
    execFileSync('npm', ['install', ...flags, `${name}@26`], { stdio: 'ignore' });
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
