// node tools/bench/layerByLayer.mjs: the memory of a model that is run layer by layer, in Node and in Chromium. The model
// is made up, in GPT-2's layout and F16: its layers are what counts, so the same numbers are repeated. Memory is what the
// processes hold at most while it runs, less what they held after a model of one layer of eight channels.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { chromiumOptions } from '../chromium.mjs';

const root = resolve(import.meta.dirname, '../..');
const packaged = join(root, 'build/package/index.js');
const megabyte = 2 ** 20;
const heads = 16;

/** A folder with a model of this many layers, and the bytes of its file and of a layer in float32. */
function made(layers, d) {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-layers-'));
  const layer = {
    'ln_1.weight': [d],
    'ln_1.bias': [d],
    'attn.c_attn.weight': [d, 3 * d],
    'attn.c_attn.bias': [3 * d],
    'attn.c_proj.weight': [d, d],
    'attn.c_proj.bias': [d],
    'ln_2.weight': [d],
    'ln_2.bias': [d],
    'mlp.c_fc.weight': [d, 4 * d],
    'mlp.c_fc.bias': [4 * d],
    'mlp.c_proj.weight': [4 * d, d],
    'mlp.c_proj.bias': [d],
  };
  const shapes = { 'wte.weight': [1000, d], 'wpe.weight': [64, d] };
  for (let number = 0; number < layers; number++)
    for (const [name, shape] of Object.entries(layer)) shapes[`h.${number}.${name}`] = shape;
  Object.assign(shapes, { 'ln_f.weight': [d], 'ln_f.bias': [d] });
  const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);
  let offset = 0;
  const header = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const end = offset + 2 * sizeOf(shape);
    header[name] = { dtype: 'F16', shape, data_offsets: [offset, end] };
    offset = end;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  // Halves from 2^-7 to 2^-6, of either sign.
  const halves = Uint16Array.from(
    { length: megabyte },
    (_, at) => ((at & 1) << 15) | (8 << 10) | ((at * 7919) & 1023),
  );
  const chunk = Buffer.from(halves.buffer);
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  writeSync(file, length);
  writeSync(file, text);
  for (let left = offset; left > 0; left -= chunk.length)
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  closeSync(file);
  const config = { model_type: 'gpt2', n_head: Math.min(heads, d / 8), layer_norm_epsilon: 1e-5 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const ofLayer = Object.values(layer).reduce((sum, shape) => sum + 4 * sizeOf(shape), 0);
  return { folder, bytes: 8 + text.length + offset, layer: ofLayer };
}

/** Runs in Node and in the page alike. */
async function run({ load, openModel, layerByLayer }, sourceOf) {
  const superpose = await load();
  const ids = Array.from({ length: 64 }, (_, place) => (37 * place) % 1000);
  const once = async (place) => {
    const model = await openModel(superpose, sourceOf(place));
    const start = performance.now();
    const [found] = await layerByLayer(model, [{ ids }]);
    return { seconds: (performance.now() - start) / 1000, size: Math.hypot(...found.embedding) };
  };
  return once;
}

/** Bytes that these processes hold at most, since `reset`; Linux alone tells. */
const status = (pid, name) =>
  1024 *
  Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${name}:\\s+(\\d+)`))?.[1] ?? 0);

/** A process's children, theirs, and so on. */
const startedBy = (pid) =>
  (spawnSync('pgrep', ['-P', pid], { encoding: 'utf8' }).stdout.match(/\d+/g) ?? []).flatMap((child) => [
    child,
    ...startedBy(child),
  ]);

async function inNode(small, large) {
  const once = await run(await import(packaged), (place) => [small, large][place]);
  await once(0);
  const before = status('self', 'VmRSS');
  const { seconds, size } = await once(1);
  console.log(JSON.stringify({ seconds, size, above: status('self', 'VmHWM') - before }));
}

async function inChromium(small, large) {
  const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };
  const server = createServer((question, answer) => {
    const { pathname } = new URL(question.url, 'http://localhost');
    const page = pathname === '/';
    const at = join(root, 'build/package', page ? '' : pathname);
    try {
      const body = page
        ? '<!doctype html><input type=file multiple><input type=file multiple>'
        : readFileSync(at);
      answer.writeHead(200, { 'content-type': page ? 'text/html' : (types[extname(at)] ?? 'text/plain') });
      answer.end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const browser = await chromium.launch(chromiumOptions);
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    for (const [place, folder] of [small, large].entries())
      await page
        .locator('input')
        .nth(place)
        .setInputFiles(['model.safetensors', 'config.json'].map((name) => join(folder, name)));
    await page.evaluate(
      async ([source]) => {
        const library = await import('/index.js');
        const inputs = document.querySelectorAll('input');
        globalThis.once = await new Function(`return ${source}`)()(library, (place) => [
          ...inputs[place].files,
        ]);
        await globalThis.once(0);
      },
      [run.toString()],
    );
    // Other browsers' renderers may come and go meanwhile.
    const renderers = startedBy(process.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('type=renderer'),
    );
    const sum = (name) => renderers.reduce((all, pid) => all + status(pid, name), 0);
    const before = sum('VmRSS');
    const found = await page.evaluate(() => globalThis.once(1));
    return { ...found, above: sum('VmHWM') - before };
  } finally {
    await browser.close();
    server.close();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { layers: { type: 'string', default: '20' }, width: { type: 'string', default: '2048' } },
});
if (positionals[0] === 'node') await inNode(positionals[1], positionals[2]);
else {
  const small = made(1, 8);
  const large = made(Number(values.layers), Number(values.width));
  const told = (bytes) => `${(bytes / megabyte).toFixed(0)} MB`;
  const allowed = 3 * large.layer + 150 * megabyte;
  console.log(
    `A model of ${told(large.bytes)}, ${values.layers} layers of ${told(large.layer)} each in float32. Allowed: ${told(allowed)}.`,
  );
  try {
    const script = [fileURLToPath(import.meta.url), 'node', small.folder, large.folder];
    const child = spawnSync(process.execPath, script, { encoding: 'utf8' });
    if (child.status !== 0) throw new Error(child.stderr);
    const tell = (name, { seconds, size, above }) => {
      console.log(`${name}: ${told(above)} above a small model, ${seconds.toFixed(1)} s for 64 tokens.`);
      if (above > allowed || Math.abs(size - 1) > 1e-3) process.exitCode = 1;
    };
    tell('Node', JSON.parse(child.stdout));
    tell('Chromium', await inChromium(small.folder, large.folder));
  } finally {
    for (const { folder } of [small, large]) rmSync(folder, { recursive: true });
  }
}
