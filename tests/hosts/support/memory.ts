// What figures cost a reader's machine: requests, workers, and the memory of the browser's processes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { chromiumOptions } from '../../../tools/chromium.mjs';
import { memoryOf, startedBy } from '../../../tools/processes.mjs';
import { root } from '../../../tools/steps.mjs';
import { readFigures } from '../../embed/support/figures.ts';
import { serve } from './serve.ts';

/** Figures in turn: one that needs nothing from the model, and one that does. */
const figureAt = (place: number) =>
  place % 2 === 0
    ? `<superpose-figure name="dot-products" n="${place + 4}"></superpose-figure>`
    : `<superpose-figure name="one-score" text="${Array(place + 2)
        .fill('river')
        .join(' ')}"></superpose-figure>`;

/**
 * Prints a row for pages with no figure, one, two and ten; returns whether nothing is fetched twice and one
 * worker computes.
 */
export async function memory(): Promise<boolean> {
  let within = true;
  const folder = join(root, 'build/hosts/memory');
  mkdirSync(folder, { recursive: true });
  console.log('\nChromium and its processes, after every figure was shown:');
  console.log(
    '| figures | requests | twice | .wasm | model | workers | MB |\n| --- | --- | --- | --- | --- | --- | --- |',
  );
  for (const figures of [0, 1, 2, 10]) {
    const cors = { 'Access-Control-Allow-Origin': '*' };
    const dist = await serve({ '/superpose/': join(root, 'dist') }, cors);
    const body = Array.from({ length: figures }, (_, place) => figureAt(place)).join('');
    writeFileSync(
      join(folder, 'index.html'),
      `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Figures</title><body><p>A post.</p>${body}<script type="module" src="${dist.address}superpose/embed.js"></script>`,
    );
    const post = await serve({ '/': folder });
    const server = await chromium.launchServer(chromiumOptions);
    try {
      const browser = await chromium.connect(server.wsEndpoint());
      const page = await browser.newPage();
      await page.goto(post.address);
      for (let place = 0; place < figures; place++) {
        await page.evaluate(
          (at) => document.querySelectorAll('superpose-figure')[at]?.scrollIntoView(),
          place,
        );
        await page.waitForFunction(
          (at) =>
            document
              .querySelectorAll('superpose-figure')
              [at]?.shadowRoot?.querySelector('.finding, .problem'),
          place,
          { timeout: 60_000 },
        );
      }
      const problem = (await page.evaluate(readFigures)).find((one) => one.problem);
      if (problem) throw new Error(problem.problem);
      // Give unneeded memory time to be freed.
      await page.waitForTimeout(3000);
      const paths = dist.requests.map((path) => path.replace('/superpose/', ''));
      const twice = paths.length - new Set(paths).size;
      const workers = page.workers().length;
      if (twice > 0 || workers > 1) within = false;
      const browserPid = server.process().pid as number;
      // The processes' own memory, and their part of what they share.
      const bytes = memoryOf([browserPid, ...startedBy(browserPid)], 'smaps_rollup', 'Pss');
      const count = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length;
      const cells = [
        figures,
        paths.length,
        twice,
        count(/\.wasm$/),
        count(/^model\//),
        workers,
        Math.round(bytes / 2 ** 20),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    } finally {
      await server.close();
      await post.stop();
      await dist.stop();
    }
  }
  return within;
}
