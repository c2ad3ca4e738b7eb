// node tools/bench/layerByLayer.mjs [--layers N]: the memory of a model that is run layer by layer, and how long it
// takes to cancel it, in Node and in Chromium. The model is made up, in GPT-2's layout and F16: its layers are what
// counts. Memory is what the processes hold at most, less what they held after a model of one layer of eight channels.
// Cancelled is a model of one layer, at times spread over its run.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { max, median, sum } from 'd3-array';
import { writeLargeModel } from '../largeModel.mjs';
import { memoryOf, startedBy } from '../processes.mjs';
import { root } from '../steps.mjs';

const megabyte = 2 ** 20;
const cancels = 40;

/** A folder with a model of this many layers, and the bytes of its file and of a layer in float32. */
function made(layers, d) {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-layers-'));
  const norm = (name) => ({ [`${name}.weight`]: [d], [`${name}.bias`]: [d] });
  const linear = (name, into, out) => ({ [`${name}.weight`]: [into, out], [`${name}.bias`]: [out] });
  const layerOf = (name) => ({
    ...norm(`${name}ln_1`),
    ...linear(`${name}attn.c_attn`, d, 3 * d),
    ...linear(`${name}attn.c_proj`, d, d),
    ...norm(`${name}ln_2`),
    ...linear(`${name}mlp.c_fc`, d, 4 * d),
    ...linear(`${name}mlp.c_proj`, 4 * d, d),
  });
  const shapes = { 'wte.weight': [1000, d], 'wpe.weight': [64, d], ...norm('ln_f') };
  for (let layer = 0; layer < layers; layer++) Object.assign(shapes, layerOf(`h.${layer}.`));
  // Halves from 2^-7 to 2^-6, of either sign.
  const half = (_, at) => ((at & 1) << 15) | (8 << 10) | ((at * 7919) & 1023);
  const halves = Uint16Array.from({ length: megabyte }, half);
  const bytes = writeLargeModel(join(folder, 'model.safetensors'), shapes, 'F16', halves);
  const config = { model_type: 'gpt2', n_head: Math.min(16, d / 8), layer_norm_epsilon: 1e-5 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return { folder, bytes, layer: 4 * sum(Object.values(layerOf('')), ([into, out = 1]) => into * out) };
}

/** Runs in Node and in the page alike. */
async function runOf({ load, openModel, layerByLayer }, sourceOf) {
  const superpose = await load();
  const ids = Array.from({ length: 64 }, (_, place) => (37 * place) % 1000);
  const once = async (place) => {
    const model = await openModel(superpose, sourceOf(place));
    const start = performance.now();
    const [found] = await layerByLayer(model, [{ ids }]);
    return { seconds: (performance.now() - start) / 1000, size: Math.hypot(...found.embedding) };
  };
  // From when a cancel is due, which a busy thread hears of later.
  const cancelled = async (place, times) => {
    const model = await openModel(superpose, sourceOf(place));
    const whole = (await once(place)).seconds * 1000;
    const waits = [];
    for (let time = 0; time < times; time++) {
      const stop = new AbortController();
      const due = performance.now() + (whole * time) / times;
      setTimeout(() => stop.abort(), due - performance.now());
      await layerByLayer(model, [{ ids }], { signal: stop.signal }).catch(() => {});
      // Some are through before.
      if (performance.now() > due) waits.push(performance.now() - due);
    }
    return waits;
  };
  return { once, cancelled };
}

/** Runs the small model, then the large one, and cancels the single layer. `processes` are those that hold their memory. */
async function measured({ once, cancelled }, processes) {
  await once(0);
  const pids = processes();
  const before = memoryOf(pids, 'status', 'VmRSS');
  const found = await once(1);
  const above = memoryOf(pids, 'status', 'VmHWM') - before;
  return { ...found, above, waits: await cancelled(2, cancels) };
}

async function inNode(folders) {
  const library = await import(join(root, 'build/package/index.js'));
  const found = await measured(await runOf(library, (place) => folders[place]), () => ['self']);
  console.log(JSON.stringify(found));
}

/** In a process that has held nothing else. */
const inNewNode = (folders) =>
  JSON.parse(execFileSync(process.execPath, [import.meta.filename, 'node', ...folders]));

async function inChromium(folders) {
  const { onPage, serve } = await import('./browsers.mjs');
  const { address, stop } = await serve({ '/': join(root, 'build/package') });
  try {
    return await onPage('chromium', `${address}THIRD-PARTY.txt`, async ({ page }) => {
      await page.setContent('<input type=file multiple>'.repeat(folders.length));
      for (const [place, folder] of folders.entries()) {
        const files = ['model.safetensors', 'config.json'].map((name) => join(folder, name));
        await page.locator('input').nth(place).setInputFiles(files);
      }
      await page.evaluate(`(async () => {
        const sourceOf = (place) => [...document.querySelectorAll('input')[place].files];
        globalThis.model = await (${runOf})(await import('/index.js'), sourceOf);
      })()`);
      const model = {
        once: (place) => page.evaluate((at) => globalThis.model.once(at), place),
        cancelled: (...given) => page.evaluate((all) => globalThis.model.cancelled(...all), given),
      };
      // Other browsers' renderers may come and go meanwhile.
      const renderers = () => startedBy(process.pid, 'type=renderer');
      return await measured(model, renderers);
    });
  } finally {
    await stop();
  }
}

async function main(layers) {
  const [small, large, single] = [made(1, 8), made(layers, 2048), made(1, 2048)];
  const folders = [small, large, single].map(({ folder }) => folder);
  const told = (bytes) => `${(bytes / megabyte).toFixed(0)} MB`;
  const allowed = 3 * large.layer + 150 * megabyte;
  console.log(
    `A model of ${told(large.bytes)}, ${layers} layers of ${told(large.layer)} each in float32. Allowed: ${told(allowed)}.`,
  );
  try {
    for (const [name, measure] of Object.entries({ Node: inNewNode, Chromium: inChromium })) {
      const { seconds, size, above, waits } = await measure(folders);
      console.log(`${name}: ${told(above)} above a small model, ${seconds.toFixed(1)} s for 64 tokens.`);
      const [longest, middle] = [max(waits), median(waits)].map((time) => time.toFixed(0));
      console.log(
        `${name}: of ${waits.length} cancels the longest took ${longest} ms, the median ${middle} ms. Allowed: 200 ms.`,
      );
      if (above > allowed || max(waits) > 200 || Math.abs(size - 1) > 1e-3) process.exitCode = 1;
    }
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

const options = { layers: { type: 'string', default: '20' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [inside, ...folders] = positionals;
await (inside === 'node' ? inNode(folders) : main(Number(values.layers)));
