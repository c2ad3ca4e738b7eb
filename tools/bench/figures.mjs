// node tools/bench/figures.mjs [--floor] [NAME ...]: how fast the page is, in Chromium. It measures the time
// to the first live figure, and the time of one slider step, from the input event to the frame that shows the
// answer: for every slider of the figures on the main path, the first slider of each figure in a card, and
// the largest map.
//
// "Work" is the step without its waiting: the processor time of all tasks on the page's thread and the
// worker's, by a trace. These are script, style, layout and paint of two frames (the slider's own and the
// answer's) for the whole page. It leaves out what runs beside them: the compositor, and filling tiles with
// pixels. "Ours" is work without the browser's style, layout and paint: computing, filling maps, drawing
// marks.
//
// A setting that starts a new training has another bound, to the first frame of the training; what the worker
// does after that is training, not work of a step.
//
// With --floor, it measures what the browser takes for a step that does nothing: one number beside one
// slider, in two frames like a figure's step, in a blank page as high as this one and in this page.
//
// Needs dist/, which npm run build makes.
import { preview } from 'vite';
import { root, runTool, usageError } from '../steps.mjs';
import { browsers } from './runtimes.mjs';
import { summary } from './statistics.js';

const steps = 40;
const throttled = 4;
const stepMark = 'superpose-step';
const [bound, trainingBound] = ['16 of work', '150 to the first frame'];
/** The page's largest map, 512 × 512, and one of half that size. */
const largest = { name: 'encoding', settings: { positions: 512, d: 512 } };

async function main(given) {
  const asked = given.filter((one) => one !== '--floor');
  await withPage(async (address) => {
    if (asked.length < given.length) {
      await onPage('chromium', address, printFloor);
      return;
    }
    const visits = [];
    for (let visit = 0; visit < 5; visit++) visits.push(Math.round(await firstFigure(address)));
    console.log(`First live figure: ${visits.join(', ')} ms after navigation`);
    await onPage('chromium', address, (browser) => everyFigure(browser, asked));
  });
  return 0;
}

/** Serves dist/ while `work` is done with its address. */
export async function withPage(work) {
  const server = await preview({ root, build: { outDir: 'dist' }, preview: { port: 0 }, logLevel: 'error' });
  try {
    return await work(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
}

/** A link to the central figure's section. */
const central = (address) => `${address}#dot-products`;

/** Calls `work` with a browser that shows that section. */
export async function onPage(name, address, work) {
  const browser = await browsers[name]();
  try {
    await browser.open(central(address));
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** Times of a figure's slider steps (the first slider by default), with its name; undefined without any. */
export const sliderSteps = (browser, name, count = steps, settings = {}, slider = undefined) =>
  browser.evaluate(stepInPage, [
    name,
    count,
    stepMark,
    Object.entries(settings).map(([key, value]) => [key, String(value)]),
    slider,
  ]);

async function printFloor(browser) {
  console.log('| one slider and one number | work, median ms | ours |');
  console.log('| --- | ---: | ---: |');
  const step = async (name) => {
    const { work, ours } = await workOf(browser, () => browser.evaluate(bareSteps, [steps, stepMark]));
    console.log(`| ${name} | ${middle(work)} | ${middle(ours)} |`);
  };
  // Visiting gives the figures on the path their live height.
  await browser.evaluate(visitPath);
  const height = await browser.evaluate(() => document.documentElement.scrollHeight);
  await step(`this page, ${height} px high`);
  await browser.page.setContent(`<!doctype html><title>Blank</title><body style="height:${height}px">`);
  await step('a blank page as high');
}

const middle = (times) => summary(times).median_ms.toFixed(1);

async function everyFigure(browser, asked) {
  const figures = await browser.evaluate(() =>
    [...document.querySelectorAll('superpose-figure')].map((figure) => ({
      name: figure.getAttribute('name'),
      carded: figure.closest('details') !== null,
    })),
  );
  const all = figures.map(({ name }) => name);
  const unknown = asked.find((name) => !all.includes(name));
  if (unknown) throw usageError(`There is no figure ${unknown} on the page. There are ${all.join(', ')}.`);
  console.log(
    '| figure, slider | bound, ms | work, median ms | ours | input to frame | 95th percentile | 95th at 4× throttle |',
  );
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
  const session = await browser.page.context().newCDPSession(browser.page);
  const wanted = [...figures, largest].filter(({ name }) => asked.length === 0 || asked.includes(name));
  const measured = [];
  for (const { name, carded, settings } of wanted) {
    const sliders = carded === false ? await browser.evaluate(slidersInPage, name) : [undefined];
    for (const slider of sliders) measured.push({ name, settings, slider });
  }
  for (const { name, settings, slider } of measured) {
    const take = () => sliderSteps(browser, name, steps, settings, slider);
    const usual = await take();
    if (!usual) continue;
    await session.send('Emulation.setCPUThrottlingRate', { rate: throttled });
    const slow = await take();
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    const [step, throttledStep] = [usual.times, slow.times].map(summary);
    const set = Object.entries(settings ?? {}).map(([key, value]) => `${key} = ${value}`);
    const cells = [[name, usual.slider, ...set].join(', ')];
    if (usual.trains) cells.push(trainingBound, 'trains', 'trains');
    else {
      const { work, ours } = await workOf(browser, take);
      cells.push(bound, middle(work), middle(ours));
    }
    cells.push(...[step.median_ms, step.p95_ms, throttledStep.p95_ms].map((time) => time.toFixed(1)));
    console.log(`| ${cells.join(' | ')} |`);
  }
}

/** The tasks of a frame apart from script. */
const rendering = new Set(['UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize', 'Commit']);

/** For each step of `take`: the processor time of the tasks between its mark and the next one's, in ms. */
async function workOf({ page }, take) {
  const tracer = page.context().browser();
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'blink.user_timing'];
  await tracer.startTracing(page, { categories });
  await take();
  const { traceEvents: events } = JSON.parse((await tracer.stopTracing()).toString());
  const named = (name) =>
    events.filter((event) => event.name === 'thread_name' && event.args.name === name).map(({ tid }) => tid);
  const threads = new Set([...named('CrRendererMain'), ...named('DedicatedWorker thread')]);
  const marks = events.filter(({ name }) => name === stepMark);
  const processes = new Set(marks.map(({ pid }) => pid));
  const starts = marks.map(({ ts }) => ts).sort((a, b) => a - b);
  const [work, ours] = [starts.map(() => 0), starts.map(() => 0)];
  for (const { name, ph, pid, tid, ts, dur, tdur } of events) {
    const task = name === 'RunTask';
    if (!(task || rendering.has(name)) || ph !== 'X' || !threads.has(tid) || !processes.has(pid)) continue;
    // The task that begins a step contains the step's mark.
    const step = starts.findLastIndex((start) => start <= ts + dur);
    if (step < 0) continue;
    const time = (tdur ?? 0) / 1000;
    if (task) work[step] += time;
    ours[step] += task ? time : -time;
  }
  return { work, ours };
}

/** The first visit of a new browser, with nothing else open. */
async function firstFigure(address) {
  const { page, close, open, evaluate } = await browsers.chromium();
  try {
    await page.addInitScript(() => {
      addEventListener('superpose-drawn', ({ target }) => {
        if (target.getAttribute('name') === 'dot-products') globalThis.firstDrawn ??= performance.now();
      });
    });
    await open(central(address));
    await page.waitForFunction(() => globalThis.firstDrawn !== undefined);
    return await evaluate(() => globalThis.firstDrawn);
  } finally {
    await close();
  }
}

/** In the page: the names of a figure's sliders, once it is there. */
async function slidersInPage(name) {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  while (!figure.result) {
    figure.scrollIntoView({ block: 'center', behavior: 'instant' });
    await new Promise((passed) => setTimeout(passed, 200));
  }
  return [...figure.shadowRoot.querySelectorAll('input[type=range]')].map((slider) => slider.name);
}

/** In the page: brings every figure of the path into view, one after another, until it is drawn. */
async function visitPath() {
  for (const figure of document.querySelectorAll('superpose-figure')) {
    if (figure.closest('details')) continue;
    while (!figure.result) {
      figure.scrollIntoView({ block: 'center', behavior: 'instant' });
      await new Promise((passed) => setTimeout(passed, 200));
    }
  }
}

/** In the page: slider steps that change only one number, once in each of two frames. */
async function bareSteps([count, mark]) {
  const figure = document.querySelector('superpose-figure[name="dot-products"]');
  const box = document.createElement('div');
  const slider = Object.assign(document.createElement('input'), { type: 'range', min: 0, max: 1 });
  const number = document.createElement('p');
  box.append(slider, number);
  if (figure) figure.before(box);
  else document.body.append(box);
  box.scrollIntoView({ block: 'center', behavior: 'instant' });
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  slider.addEventListener('input', () => {
    number.textContent = slider.value;
  });
  await new Promise((passed) => setTimeout(passed, 1000));
  for (let k = 0; k < count; k++) {
    await frame();
    performance.mark(mark);
    slider.value = String(k % 2);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();
    number.textContent = `${slider.value}.`;
    await frame();
  }
  box.remove();
}

/** In the page, where only what is inside this function exists. */
async function stepInPage([name, count, mark, settings, wanted]) {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  const card = figure.closest('details');
  if (card) card.open = true;
  if (settings.length > 0) await figure.show(settings);
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  // A drawing still in progress would be mistaken for the first step's. And while the figures above load,
  // they may push this one out of view, where nothing is drawn.
  let drawings = 0;
  figure.addEventListener('superpose-drawn', () => {
    drawings += 1;
  });
  for (let before = -1; !figure.result || before !== drawings; ) {
    before = drawings;
    figure.scrollIntoView({ block: 'center', behavior: 'instant' });
    await new Promise((passed) => setTimeout(passed, 1000));
  }
  const slider = figure.shadowRoot.querySelector(`input[type=range]${wanted ? `[name="${wanted}"]` : ''}`);
  if (!slider) return undefined;
  const times = [];
  const first = Number(slider.value);
  const step = Number(slider.step) || 1;
  const up = first + step <= Number(slider.max) ? step : -step;
  for (let k = 0; k < count; k++) {
    figure.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    await frame();
    performance.mark(mark);
    const started = performance.now();
    const drawn = new Promise((done) => {
      figure.addEventListener('superpose-drawn', done, { once: true });
    });
    slider.value = String(k % 2 === 0 ? first + up : first);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await drawn;
    await frame();
    times.push(performance.now() - started);
  }
  // Whether the slider starts a new training, rather than only changing the view of one.
  const { figure: drawn, settings: state } = figure.asking;
  const trains = drawn.runs !== undefined && !drawn.runs.looks(state).includes(slider.name);
  return { slider: slider.name, times, trains };
}

await runTool(import.meta.url, main);
