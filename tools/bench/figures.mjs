// node tools/bench/figures.mjs [NAME ...]: how long the page takes, in Chromium: to its first live figure, and for one
// step of each figure's first slider, from the input event to the frame that shows the answer.
// Needs dist/, which npm run build makes.
import { chromium } from 'playwright';
import { preview } from 'vite';
import { root, runTool, usageError } from '../steps.mjs';
import { summary } from './statistics.js';

const steps = 40;
const throttled = 4;

async function main(asked) {
  const server = await preview({ root, build: { outDir: 'dist' }, preview: { port: 0 }, logLevel: 'error' });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const [address] = server.resolvedUrls.local;
    console.log(`First live figure: ${(await firstFigure(browser, address)).join(', ')} ms after navigation`);
    const page = await opened(browser, address);
    const all = await page.evaluate(() =>
      [...document.querySelectorAll('superpose-figure')].map((figure) => figure.getAttribute('name')),
    );
    const unknown = asked.find((name) => !all.includes(name));
    if (unknown) throw usageError(`There is no figure ${unknown} on the page. There are ${all.join(', ')}.`);
    console.log('| figure, its first slider | median ms | 95th percentile | 95th at 4× throttle |');
    console.log('| --- | ---: | ---: | ---: |');
    for (const name of asked.length > 0 ? asked : all) {
      const usual = await stepTimes(page, name, 1);
      if (!usual) continue;
      const slow = await stepTimes(page, name, throttled);
      const [step, throttledStep] = [usual.times, slow.times].map(summary);
      console.log(
        `| ${name}, ${usual.slider} | ${step.median_ms.toFixed(1)} | ${step.p95_ms.toFixed(1)} | ${throttledStep.p95_ms.toFixed(1)} |`,
      );
    }
  } finally {
    await browser.close();
    await server.close();
  }
  return 0;
}

async function opened(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    addEventListener('superpose-drawn', ({ target }) => {
      if (target.getAttribute('name') === 'dot-products') globalThis.firstDrawn ??= performance.now();
    });
  });
  // To the section of the central figure, as a link to it does.
  await page.goto(`${address}#dot-products`);
  await page.waitForFunction(() => globalThis.firstDrawn !== undefined);
  return page;
}

/** Five visits, each with an empty cache. */
async function firstFigure(browser, address) {
  const times = [];
  for (let visit = 0; visit < 5; visit++) {
    const page = await opened(browser, address);
    times.push(Math.round(await page.evaluate(() => globalThis.firstDrawn)));
    await page.context().close();
  }
  return times;
}

async function stepTimes(page, name, rate) {
  const session = await page.context().newCDPSession(page);
  await page.locator(`superpose-figure[name="${name}"]`).scrollIntoViewIfNeeded();
  await page.waitForFunction(
    (one) => document.querySelector(`superpose-figure[name="${one}"]`).result,
    name,
    { timeout: 120_000 },
  );
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  const found = await page.evaluate(
    async ([one, count]) => {
      const figure = document.querySelector(`superpose-figure[name="${one}"]`);
      const slider = figure.shadowRoot.querySelector('input[type=range]');
      if (!slider) return undefined;
      const times = [];
      const frame = () => new Promise((shown) => requestAnimationFrame(shown));
      const first = Number(slider.value);
      const step = Number(slider.step) || 1;
      const up = first + step <= Number(slider.max) ? step : -step;
      for (let k = 0; k < count; k++) {
        await frame();
        const started = performance.now();
        const drawn = new Promise((done) => figure.addEventListener('superpose-drawn', done, { once: true }));
        slider.value = String(k % 2 === 0 ? first + up : first);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        await drawn;
        await frame();
        times.push(performance.now() - started);
      }
      return { slider: slider.name, times };
    },
    [name, steps],
  );
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await session.detach();
  return found;
}

await runTool(import.meta.url, main);
