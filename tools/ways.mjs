// node tools/ways.mjs: how long two ways through the house are. It counts the files that one step of ρ in
// `dot-products` enters, from the input to the picture, with the arrays that it copies between JavaScript and
// the module's memory; and the files that `superpose decompose --text` loads, with the figures among them.
// A file is entered when one of its functions runs. Both are counted in the sources, unbundled.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { build } from './build.mjs';
import { chromiumOptions } from './chromium.mjs';
import { setUp } from './setup.mjs';
import { Failure, root, runTool, usageError } from './steps.mjs';
import { readResult, resultFile } from './testResults.mjs';

async function main(args) {
  if (args.length > 0) throw usageError(`node tools/ways.mjs takes no arguments, and got: ${args.join(' ')}`);
  await build(await setUp('wasm'));
  const { entered, copies } = await sliderStep();
  print(`ρ of dot-products enters ${entered.length} files and makes ${copies} copies:`, entered);
  const loaded = commandFiles();
  const figures = loaded.filter((file) => /^web\/figures\/(?!figure\.|controls\.)/.test(file));
  print(`superpose decompose --text loads ${loaded.length} files, ${figures.length} of web/figures:`, loaded);
}

const print = (title, files) => console.log([title, ...files.map((file) => `  ${file}`)].join('\n'));

/** The sources that a step of the slider enters, of the page and of its worker. */
async function sliderStep() {
  const server = await serve();
  const browser = await chromium.launch(chromiumOptions);
  try {
    const page = await browser.newPage();
    const threads = await covered(page);
    await page.goto(`${server.resolvedUrls.local[0]}ways`);
    const rho = page.locator('superpose-figure input[type=range]').first();
    const drawn = () =>
      page.evaluate(() => new Promise((done) => addEventListener('superpose-drawn', done, { once: true })));
    const step = async () => {
      const next = drawn();
      await rho.press('ArrowRight');
      await next;
      await page.waitForTimeout(1000);
    };
    await rho.waitFor();
    await page.waitForTimeout(3000);
    // Twice, so that what is made once and kept is there.
    await step();
    await step();
    for (const thread of threads) {
      await thread('Runtime.evaluate', { expression: countCopies });
      await thread('Profiler.takePreciseCoverage');
    }
    await step();
    const [entered, copies] = [new Set(), []];
    for (const thread of threads) {
      const { result } = await thread('Profiler.takePreciseCoverage');
      for (const { url, functions } of result)
        if (functions.some(({ ranges, functionName }) => functionName && ranges[0].count > 0))
          entered.add(url);
      const counted = await thread('Runtime.evaluate', { expression: 'globalThis.copied' });
      copies.push(counted.result.value);
    }
    const own = server.resolvedUrls.local[0];
    const files = [...entered]
      .filter((url) => url.startsWith(own))
      .map((url) => sourceOf(url.slice(own.length)));
    return { entered: sorted(files), copies: copies.reduce((sum, count) => sum + count, 0) };
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Counts copies of arrays into the module's memory and out of it, which is the one with whole pages. */
const countCopies = `{
  globalThis.copied = 0;
  const typed = Object.getPrototypeOf(Float64Array.prototype);
  const ofModule = (array) => array?.buffer?.byteLength >= 2 ** 20 && array.buffer.byteLength % 2 ** 16 === 0;
  for (const name of ['set', 'slice']) {
    const before = typed[name];
    typed[name] = function (...given) {
      if (ofModule(this) || ofModule(given[0])) globalThis.copied += 1;
      return before.apply(this, given);
    };
  }
}`;

/** The bundler's server, which serves each source by itself, with a page of one figure. */
async function serve() {
  const page = `<!doctype html><title>Ways</title><superpose-figure name="dot-products"></superpose-figure>
    <script type="module" src="/embed/embed.ts"></script>`;
  const server = await createServer({
    configFile: false,
    root: join(root, 'web'),
    logLevel: 'error',
    cacheDir: join(root, 'build/ways'),
    define: { __SUPERPOSE_VERSION__: '"ways"' },
    resolve: { alias: { superpose: join(root, 'build/package/index.js') } },
    server: { fs: { allow: [root] }, hmr: false, watch: null },
    plugins: [
      {
        name: 'ways',
        configureServer: ({ middlewares }) => {
          middlewares.use('/ways', (_, response) =>
            response.setHeader('content-type', 'text/html').end(page),
          );
        },
      },
    ],
  });
  return server.listen();
}

/** Commands of the page's thread, and of each worker that starts, with precise coverage on from their start. */
async function covered(page) {
  const session = await page.context().newCDPSession(page);
  const threads = [];
  const start = async (send) => {
    threads.push(send);
    await send('Profiler.enable');
    await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  };
  await start((method, params) => session.send(method, params));
  let id = 0;
  const waiting = new Map();
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const answer = JSON.parse(message);
    waiting.get(answer.id)?.(answer.result);
  });
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type !== 'worker') return;
    start((method, params = {}) => {
      const message = JSON.stringify({ id: ++id, method, params });
      const answer = new Promise((done) => waiting.set(id, done));
      session.send('Target.sendMessageToTarget', { message, sessionId });
      return answer;
    });
  });
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  return threads;
}

/** The sources that the command loads, each by itself. */
function commandFiles() {
  const list = resultFile('ways.txt');
  rmSync(list, { force: true });
  const hooks = `data:text/javascript,${encodeURIComponent(
    `import { register } from 'node:module'; register(${JSON.stringify(import.meta.resolve('./waysLoader.mjs'))});`,
  )}`;
  const command = ['--import', hooks, 'web/node/command/superpose.ts', 'decompose', '--text', 'The cat sat.'];
  const env = { ...process.env, SUPERPOSE_WAYS: list };
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Failure(`superpose decompose failed: ${stderr}`);
  return sorted(readResult(list).trim().split('\n').map(sourceOf));
}

const sourceOf = (path) =>
  path
    .replace(/[?#].*$/, '')
    .replace(/^@fs|^file:\/\//, '')
    .replace(`${root}/`, '')
    .replace(/^(?!build|node_modules|src|web)/, 'web/')
    .replace(/^build\/package\/(?!wasm)(.*)\.js$/, 'src/api/$1.ts');
const sorted = (files) => [...new Set(files)].filter((file) => /^(web|src)\//.test(file)).sort();

await runTool(import.meta.url, main);
