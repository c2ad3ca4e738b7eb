// How long the page takes for its table of ten schemes by five tasks, with as many workers as the machine has
// room for and with one: node tools/training-page.mjs [--rounds N], after npm run build. web/docs/training.md
// quotes its output.
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { preview } from 'vite';
import { chromiumOptions } from './chromium.mjs';
import { root } from './steps.mjs';
import { withoutServiceWorker } from './withoutServiceWorker.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const schemes = [
  'none',
  'add',
  'sinusoid',
  'concat',
  'concat-8',
  'concat-24',
  'untied',
  'rope',
  'alibi',
  't5',
];
const link = `#v=1&figure=schemes-tasks&size=large&seeds=1&tasks=badge.lookup.roll.prev.rev&schemes=${schemes.join('.')}`;

const dist = join(root, 'dist');
const server = await preview({
  configFile: false,
  root: dist,
  build: { outDir: '.' },
  plugins: [withoutServiceWorker(dist)],
  preview: { port: 0, host: '127.0.0.1' },
});
const address = server.resolvedUrls?.local[0];
const browser = await chromium.launch(chromiumOptions);

/** In the page: milliseconds from the request to the first cell and to the last. */
async function timed(name) {
  await customElements.whenDefined('superpose-figure');
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  await figure.loaded();
  const drawn = (done) =>
    new Promise((resolve) => {
      figure.addEventListener('superpose-drawn', function heard() {
        const cells = figure.result.data.cells.flat().flatMap(({ runs }) => runs);
        if (!done(cells)) return;
        figure.removeEventListener('superpose-drawn', heard);
        resolve(performance.now());
      });
    });
  const start = performance.now();
  const first = drawn((cells) => cells.some(Boolean));
  const last = drawn((cells) => cells.length === 50 && cells.every(Boolean));
  return [(await first) - start, (await last) - start];
}

const printed = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;
console.log(`${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}`);
for (const [what, line] of [
  [`${availableParallelism()} workers`, ''],
  ['one worker', 'self.Worker = undefined;'],
]) {
  for (let round = 0; round < Number(values.rounds); round++) {
    const page = await browser.newPage();
    if (line) {
      await page.route(/\/worker-[^/]*\.js$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: `${line}\n${await response.text()}` });
      });
    }
    await page.goto(address + link);
    const [first, last] = await page.evaluate(timed, 'schemes-tasks');
    console.log(`${what}: first cell after ${printed(first)}, 50 cells after ${printed(last)}`);
    await page.close();
  }
}
await browser.close();
await server.close();
