// node tools/bench/figures.mjs [NAME ...] measures how fast the pages in dist/ are in Chromium: the time to
// the first live figure of the first page, and the time of a slider step on both, from the input event to the
// frame that shows the result. It moves every slider of the figures in beats, and the first slider of each
// figure in a card: within a drag, and into the figure's first view and out of it, where the page also shows
// or hides a caption and a button.
//
// "Work" is the step without waiting: the processor time of all tasks of the page and its worker, from a
// trace. It includes script, style, layout and paint of two frames (the slider's and the result's) for the
// entire page, but not the compositor and the filling of tiles with pixels. A setting that starts training
// is measured to the training's first frame.
import { join } from 'node:path';
import { median, quantile, sum } from 'd3-array';
import { runnerImport } from 'vite';
import { root, runTool, usageError } from '../steps.mjs';

const from = async (file) => (await runnerImport(join(root, file), { logLevel: 'error' })).module;
const { freshChromium } = await from('tests/engines/chromium.ts');
const { serve } = await from('tests/hosts/serve.ts');
const { unfold, untilDrawn } = await from('tests/page/support/shown.ts');
const { pageFolders, placesOn, sourceOf } = await from('web/build/places.ts');
const chromium = () => freshChromium({ viewport: { width: 1440, height: 900 } });

const steps = 40;

async function main(args) {
  const { address, stop } = await serve({ '/': join(root, 'dist') });
  try {
    const visits = [];
    for (let visit = 0; visit < 5; visit++) visits.push(Math.round(await firstFigure(address)));
    console.log(`First live figure: ${visits.join(', ')} ms after navigation`);
    const places = pageFolders.map((folder) => placesOn(sourceOf(folder)));
    const unknown = args.find((name) => !places.flat().includes(name));
    if (unknown) throw usageError(`There is no figure ${unknown} on a page.`);
    console.log(
      '| figure, slider | work, mean ms | at the first view | input to frame, median ms | 95th percentile |',
    );
    console.log('| --- | ---: | ---: | ---: | ---: |');
    for (const folder of pageFolders) {
      const browser = await chromium();
      try {
        await browser.open(address + folder);
        await everyFigure(browser, args);
      } finally {
        await browser.close();
      }
    }
  } finally {
    await stop();
  }
}

async function everyFigure({ page, evaluate }, requested) {
  const names = await evaluate(() =>
    [...document.querySelectorAll('superpose-figure')].map((figure) => figure.getAttribute('name')),
  );
  for (const name of names.filter((name) => requested.length === 0 || requested.includes(name))) {
    do {
      await evaluate(unfold, name);
      // Only near figures compute. Work of other figures must not count for this one.
      await evaluate(slidersOf, name);
    } while (!(await evaluate(untilDrawn, name)) || (await evaluate(anyBusy)));
    for (const slider of await evaluate(slidersOf, name)) {
      const { values, trains } = await evaluate(sliderOf, name, slider);
      const between = (from, to, count = steps) => evaluate(stepsOf, name, slider, count, from, to);
      const [first, next, afterNext] = values;
      // The first steps may still compile code.
      await between(next, afterNext, 2);
      const times = await between(next, afterNext);
      const work = trains
        ? ['trains', 'trains']
        : [
            await workOf(page, () => between(next, afterNext)),
            await workOf(page, () => between(first, next)),
          ];
      const numbers = [...work, median(times), quantile(times, 0.95)].map(
        (value) => value.toFixed?.(1) ?? value,
      );
      console.log(`| ${[`${name}, ${slider}`, ...numbers].join(' | ')} |`);
    }
  }
}

/** The mean processor time of the tasks of a step, in ms, over the steps that `take` makes. */
async function workOf(page, take) {
  const tracer = page.context().browser();
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
  await tracer.startTracing(page, { categories });
  await take();
  const { traceEvents: events } = JSON.parse((await tracer.stopTracing()).toString());
  const named = events.filter(({ name, args }) => name === 'thread_name' && pageThreads.has(args.name));
  const threads = new Set(named.map(({ tid }) => tid));
  const tasks = events.filter(({ name, ph, tid }) => name === 'RunTask' && ph === 'X' && threads.has(tid));
  return sum(tasks, ({ tdur = 0 }) => tdur) / 1000 / steps;
}
const pageThreads = new Set(['CrRendererMain', 'DedicatedWorker thread']);
const anyBusy = () => [...document.querySelectorAll('superpose-figure')].some(({ busy }) => busy);

/**
 * Runs in the page: scrolls to a figure and returns the names of its sliders, all of them on the main path
 * and the first of them in a card.
 */
function slidersOf(name) {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  figure.scrollIntoView({ block: 'center', behavior: 'instant' });
  const sliders = [...figure.shadowRoot.querySelectorAll('input[type=range]')].map((slider) => slider.name);
  return figure.closest('details') ? sliders.slice(0, 1) : sliders;
}

/**
 * Runs in the page: returns a slider's value and the next two in one direction, and whether the slider starts
 * training instead of only changing the view.
 */
function sliderOf(name, sliderName) {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  const slider = figure.shadowRoot.querySelector(`input[type=range][name="${sliderName}"]`);
  const first = Number(slider.value);
  const step = Number(slider.step) || 1;
  const towards = first + 2 * step <= Number(slider.max) ? step : -step;
  const { figure: definition, settings } = figure.request;
  return {
    values: [first, first + towards, first + 2 * towards],
    trains: definition.live !== undefined && !definition.live.looks(settings).includes(sliderName),
  };
}

/**
 * Runs in the page: moves a slider from one value to the next and back, and returns the time of each step,
 * from the input event to the frame after the picture was drawn.
 */
async function stepsOf(name, sliderName, count, first, next) {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  const slider = figure.shadowRoot.querySelector(`input[type=range][name="${sliderName}"]`);
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const times = [];
  for (let k = 0; k < count; k++) {
    figure.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    await frame();
    const drawn = new Promise((resolve) => {
      figure.addEventListener('superpose-drawn', resolve, { once: true });
    });
    const start = performance.now();
    slider.value = String(k % 2 === 0 ? next : first);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await drawn;
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}

/** The first visit of a new browser, with nothing else open. */
async function firstFigure(address) {
  const { page, close } = await chromium();
  try {
    await page.goto(address, { waitUntil: 'commit' });
    // Checks in every animation frame.
    const drawn = await page.waitForFunction(
      () => document.querySelector('superpose-figure')?.result && performance.now(),
    );
    return await drawn.jsonValue();
  } finally {
    await close();
  }
}

await runTool(import.meta.url, main);
