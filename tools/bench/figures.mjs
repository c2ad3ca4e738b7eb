// node tools/bench/figures.mjs [NAME ...]: how fast the page in dist/ is, in Chromium. It measures the time to
// the first live figure, and that of a slider step, from the input event to the frame that shows the answer: for every
// slider of the figures on the main path, the first slider of each figure in a card, and the largest map.
//
// "Work" is the step without its waiting: the processor time of all tasks of the page and its worker, by a trace. These
// are script, style, layout and paint of two frames (the slider's own and the answer's) for the whole page, without what
// runs beside them: the compositor, and filling tiles with pixels. "Ours" is work without the browser's style, layout and
// paint. A setting that starts a new training is measured to the training's first frame; the rest is no work of a step.
import { join } from 'node:path';
import { median, quantile } from 'd3-array';
import { runnerImport } from 'vite';
import { root, runTool, usageError } from '../steps.mjs';
import { inPage } from './inPage.js';

const from = async (file) => (await runnerImport(join(root, 'tests', file))).module;
const { freshChromium } = await from('engines/chromium.ts');
const { serve } = await from('hosts/serve.ts');
const chromium = () => freshChromium({ viewport: { width: 1440, height: 900 } });

const steps = 40;
const throttled = 4;
/** The page's largest map, 512 × 512. */
const largest = { name: 'encoding', settings: { positions: 512, d: 512 } };

async function main(args) {
  const { address, stop } = await serve({ '/': join(root, 'dist') });
  /** The central figure's section. */
  const central = `${address}#dot-products`;
  try {
    const visits = [];
    for (let visit = 0; visit < 5; visit++) visits.push(Math.round(await firstFigure(central)));
    console.log(`First live figure: ${visits.join(', ')} ms after navigation`);
    const browser = await chromium();
    try {
      await browser.open(central);
      await everyFigure(browser, args);
    } finally {
      await browser.close();
    }
  } finally {
    await stop();
  }
}

const shown = (time) => time.toFixed(1);

/** Rows as Markdown, with a function of a row for each heading; the first `words` columns are words, the others numbers. */
function table(words, rows, columns) {
  const headings = Object.keys(columns);
  const aligned = headings.map((_, at) => (at < words ? '---' : '---:'));
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return [headings, aligned, ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

const worked = {
  'work, median ms': ({ work }) => (work ? shown(median(work)) : 'trains'),
  ours: ({ ours }) => (ours ? shown(median(ours)) : 'trains'),
};

async function everyFigure(browser, asked) {
  await browser.evaluate(inPage);
  const names = await browser.evaluate(() =>
    [...document.querySelectorAll('superpose-figure')].map((figure) => figure.getAttribute('name')),
  );
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown) throw usageError(`There is no figure ${unknown} on the page. There are ${names.join(', ')}.`);
  const wanted = asked.length > 0 ? asked : names;
  const sliders = await browser.evaluate((names) => globalThis.bench.slidersOf(names), wanted);
  if (wanted.includes(largest.name)) sliders.push(largest);
  const session = await browser.page.context().newCDPSession(browser.page);
  const throttle = (rate) => session.send('Emulation.setCPUThrottlingRate', { rate });
  const rows = [];
  for (const { name, settings = {}, slider } of sliders) {
    const order = { name, settings, slider, count: steps };
    const take = () => browser.evaluate((order) => globalThis.bench.stepsOf(order), order);
    const usual = await take();
    if (!usual) continue;
    await throttle(throttled);
    const slow = await take();
    await throttle(1);
    const set = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
    rows.push({
      label: [name, usual.slider, ...set].join(', '),
      bound: usual.trains ? '150 to the first frame' : '16 of work',
      usual: usual.times,
      slow: slow.times,
      ...(usual.trains ? {} : await workOf(browser, take)),
    });
  }
  const columns = {
    'figure, slider': ({ label }) => label,
    'bound, ms': ({ bound }) => bound,
    ...worked,
    'input to frame': ({ usual }) => shown(median(usual)),
    '95th percentile': ({ usual }) => shown(quantile(usual, 0.95)),
    '95th at 4× throttle': ({ slow }) => shown(quantile(slow, 0.95)),
  };
  console.log(table(2, rows, columns));
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
  const threadNames = new Set(['CrRendererMain', 'DedicatedWorker thread']);
  const named = events.filter(({ name, args }) => name === 'thread_name' && threadNames.has(args.name));
  const threads = new Set(named.map(({ tid }) => tid));
  const mark = await page.evaluate(() => globalThis.bench.mark);
  const marks = events.filter(({ name }) => name === mark);
  const processes = new Set(marks.map(({ pid }) => pid));
  const starts = marks.map(({ ts }) => ts).sort((a, b) => a - b);
  const [work, ours] = [starts.map(() => 0), starts.map(() => 0)];
  for (const { name, ph, pid, tid, ts, dur, tdur = 0 } of events) {
    const task = name === 'RunTask';
    if (!(task || rendering.has(name)) || ph !== 'X' || !threads.has(tid) || !processes.has(pid)) continue;
    // The task that begins a step contains the step's mark.
    const step = starts.findLastIndex((start) => start <= ts + dur);
    if (step < 0) continue;
    if (task) work[step] += tdur / 1000;
    ours[step] += (task ? tdur : -tdur) / 1000;
  }
  return { work, ours };
}

/** The first visit of a new browser, with nothing else open. */
async function firstFigure(central) {
  const { page, close } = await chromium();
  try {
    await page.addInitScript(() => {
      addEventListener('superpose-drawn', ({ target }) => {
        if (target.getAttribute('name') === 'dot-products') globalThis.firstDrawn ??= performance.now();
      });
    });
    await page.goto(central);
    const drawn = await page.waitForFunction(() => globalThis.firstDrawn);
    return await drawn.jsonValue();
  } finally {
    await close();
  }
}

await runTool(import.meta.url, main);
