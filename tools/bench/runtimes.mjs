// The runtimes that the bench drives. Each takes an order and answers with its measurements.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { missingPrograms } from '../hostPackages.mjs';
import { relaxedSimdFlags } from '../relaxedSimd.mjs';
import { root } from '../steps.mjs';
import { browsers, serve } from './browsers.mjs';

const here = (name) => join(import.meta.dirname, name);

/** What the page of the bench loads. The library keeps its files, and the peers' .wasm files stay where npm put them. */
export async function buildPage() {
  const external = [join(root, 'build/package/*')];
  // Our package.json says that no module has side effects, but TensorFlow.js's gradients are one.
  const options = { bundle: true, format: 'esm', ignoreAnnotations: true, logLevel: 'error' };
  await build({ entryPoints: [here('page.js')], outdir: join(root, 'build/bench'), external, ...options });
}

/** Without cross-origin isolation: tfjs-backend-wasm uses threads where it can, and the bench compares one thread. */
async function inBrowser(start) {
  const browser = await start();
  const { address, stop } = await serve({ '/': root });
  await browser.open(`${address}tools/bench/page.html`);
  // A driver may be back before the page's module has run.
  await browser.evaluate(() => import(document.scripts[0].src).then(() => true));
  return {
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

function inNode() {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = fork(here('node.js'), { execArgv: relaxedSimdFlags, stdio });
  const ended = once(child, 'exit').then(() => [{ failed: 'Node has ended.' }]);
  return {
    async order(what) {
      child.send(what);
      const [answer] = await Promise.race([once(child, 'message'), ended]);
      if (answer.failed) throw new Error(answer.failed);
      return answer;
    },
    close: () => child.kill(),
  };
}

const makers = {
  node: inNode,
  chromium: () => inBrowser(browsers.chromium),
  firefox: () => inBrowser(browsers.firefox),
  webkit: () => inBrowser(browsers.webkit),
};
export const runtimeNames = Object.keys(makers);

/** Programs of a runtime that are not on this machine. */
const lacking = (name) =>
  name === 'node'
    ? []
    : missingPrograms([name === 'chromium' ? 'chromium' : 'engines']).filter(
        (program) => name === 'chromium' || /firefox/.test(program) === (name === 'firefox'),
      );

/** Starts a runtime; undefined, with a sentence on the console, where the machine cannot. */
export async function startRuntime(name) {
  const missing = lacking(name);
  if (missing.length > 0) {
    console.log(`Without ${name}: not on this machine: ${missing.join(', ')}. \`npm test\` installs them.\n`);
    return undefined;
  }
  try {
    return await makers[name]();
  } catch (error) {
    console.log(`Without ${name}: ${String(error.message).split('\n')[0]}\n`);
    return undefined;
  }
}
