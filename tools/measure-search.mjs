// How long a search for one word in the whole vocabulary takes in Chromium, for docs/evidence.md. It is
// not a test, because no test depends on a clock. Run after a build: node tools/measure-search.mjs
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { chromiumOptions } from './chromium.mjs';
import { root, runTool } from './steps.mjs';

const types = { js: 'text/javascript', wasm: 'application/wasm' };
const sizes = { vocabulary: 30522, positions: 128, width: 384, words: 20 };

/** Runs in the page: milliseconds for each of a few words. */
async function measure({ vocabulary, positions, width, words, simd }) {
  const { load } = await import('/index.js');
  const superpose = await load({ simd });
  const draw = (rows, seed) =>
    superpose.randomNormal({ rows, columns: width, seed, precision: 'float32', standardDeviation: 0.05 });
  const search = superpose.collisionSearch({ tokens: draw(vocabulary, 1), positions: draw(positions, 2) });
  const times = [];
  for (let word = 0; word < words; word++) {
    const start = performance.now();
    search.nearestTokens(word);
    times.push(performance.now() - start);
  }
  search.delete();
  return times;
}

runTool(import.meta.url, async () => {
  const browser = await chromium.launch(chromiumOptions);
  const page = await browser.newPage();
  // Serves the built package from a host that does not exist.
  await page.route('http://superpose.invalid/**', async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === '/') return route.fulfill({ contentType: 'text/html', body: '<!doctype html>' });
    const body = await readFile(join(root, 'build/package', path));
    return route.fulfill({ contentType: types[path.split('.').pop()], body });
  });
  await page.goto('http://superpose.invalid/');
  for (const simd of ['plain', 'relaxed']) {
    const times = (await page.evaluate(measure, { ...sizes, simd })).sort((a, b) => a - b);
    const ms = (at) => `${Math.round(times[at])} ms`;
    console.log(
      `${simd} SIMD, one word against ${sizes.vocabulary} × ${sizes.positions} of width ${sizes.width}, ` +
        `${times.length} words: median ${ms(times.length / 2)}, slowest ${ms(times.length - 1)}`,
    );
  }
  await browser.close();
});
