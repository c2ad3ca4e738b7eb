// A large file of the reader's own costs no more memory than the few rows that are read from it.
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { ask } from '../../tools/steps.mjs';
import { readFigure } from './support/shown.ts';
import { figureOf, visit } from './support/visit.ts';

const d = 768;
const megabyte = 2 ** 20;

/** A file in GPT-2's layout with a vocabulary large enough for 500 MB. */
const shapes = {
  'wte.weight': [162_000, d],
  'wpe.weight': [1024, d],
  'h.0.ln_1.weight': [d],
  'h.0.ln_1.bias': [d],
  'h.0.attn.c_attn.weight': [d, 3 * d],
  'h.0.attn.c_attn.bias': [3 * d],
};
const numbers = Float32Array.from({ length: megabyte }, (_, at) => Math.sin(at * at) / 10);

/** Writes a safetensors file of `shapes`, filled with `numbers` again and again, and returns its bytes. */
function writeLargeModel(path: string): number {
  let offset = 0;
  const header = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const begin = offset;
      offset += shape.reduce((product, extent) => product * extent, numbers.BYTES_PER_ELEMENT);
      return [name, { dtype: 'F32', shape, data_offsets: [begin, offset] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const chunk = Buffer.from(numbers.buffer);
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([length, text]));
  for (let left = offset; left > 0; left -= chunk.length)
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  closeSync(file);
  return 8 + text.length + offset;
}

/**
 * The memory of this process's descendants in bytes; shared memory counts in part. The program's own files do
 * not count: when another browser ends, a larger part of them would count as this one's.
 */
function memoryOfTree(): number {
  const listed: string = ask('ps', ['-ewwo', 'pid=,ppid=']) ?? '';
  const all = [...listed.matchAll(/(\d+) +(\d+)/g)].map(([, own, parent]) => [Number(own), Number(parent)]);
  const tree = [process.pid];
  for (const one of tree) tree.push(...all.flatMap(([own = 0, parent]) => (parent === one ? [own] : [])));
  let kilobytes = 0;
  for (const one of tree.slice(1)) {
    try {
      const text = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8');
      for (const [, number] of text.matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+)/gm)) kilobytes += Number(number);
    } catch {
      // It has ended.
    }
  }
  return 1024 * kilobytes;
}

/** Collects the garbage of a page and its workers. */
async function collectorOf(page: Page): Promise<() => Promise<void>> {
  const engine = await page.context().newCDPSession(page);
  const workers = new Set<string>();
  const answers = new Map<string, () => void>();
  engine.on('Target.attachedToTarget', ({ sessionId }) => workers.add(sessionId));
  engine.on('Target.detachedFromTarget', ({ sessionId }) => {
    workers.delete(sessionId);
    answers.get(sessionId)?.();
  });
  engine.on('Target.receivedMessageFromTarget', ({ sessionId }) => answers.get(sessionId)?.());
  await engine.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  const method = 'HeapProfiler.collectGarbage';
  return async () => {
    await engine.send(method);
    for (const sessionId of workers) {
      const answered = new Promise<void>((done) => answers.set(sessionId, done));
      await engine.send('Target.sendMessageToTarget', {
        sessionId,
        message: JSON.stringify({ id: 1, method }),
      });
      await answered;
    }
  };
}

test.runIf(readdirSync('/').includes('proc'))('a chosen file of 500 MB costs less than 250 MB', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-large-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'model.safetensors');
  const size = writeLargeModel(path);
  expect(size).toBeGreaterThan(500e6);
  const { page } = await visit({ of: 'user-model' });
  const card = page.locator('#user-model');
  await card.locator('summary').first().click();
  const input = card.locator('input[type=file]').first();
  const figuresShown = async () => {
    for (const name of ['user-model-overlap', 'user-model-heads', 'user-model-one-score']) {
      await figureOf(page, name).scrollIntoViewIfNeeded();
      await expect
        .poll(() => page.evaluate(readFigure, name).then((one) => one?.drawn !== undefined && !one.busy), {
          timeout: 120_000,
        })
        .toBe(true);
    }
  };
  // A browser decides by itself when to collect garbage, so up to 100 MB more or less would be counted.
  const collectGarbage = await collectorOf(page);
  const memoryInUse = async () => {
    await collectGarbage();
    return memoryOfTree();
  };
  // All modules and code are loaded, because a small model was opened before.
  const small = fileURLToPath(new URL('../reference/checkpoints/gpt2/', import.meta.url));
  const first = await memoryInUse();
  await input.setInputFiles(readdirSync(small).map((file) => small + file));
  await figuresShown();
  const before = await memoryInUse();
  let peak = before;
  let watching = true;
  onTestFinished(() => {
    watching = false;
    return watch;
  });
  const watch = (async () => {
    while (watching) {
      peak = Math.max(peak, await memoryInUse());
      await setTimeout(50);
    }
  })();
  await input.setInputFiles(path);
  await card.getByLabel('By its tensors it may be').selectOption('GPT-2');
  await card.getByRole('button', { name: 'Open as this' }).click();
  await card.getByLabel('Heads of the first layer').waitFor();
  await card.getByLabel('Heads of the first layer').fill('12');
  await card.getByLabel('ε of its norms').fill('0.00001');
  await card.getByRole('button', { name: 'Open with these' }).click();
  // The small model's figures are gone by then.
  await expect
    .poll(() => card.locator('.user-model > [role=status]').textContent(), { timeout: 120_000 })
    .toMatch(/GPT-2, [1-9][\d.]* MB; opened/);
  await figuresShown();
  watching = false;
  await watch;
  const shown = (bytes: number) => `${(bytes / megabyte).toFixed(0)} MB`;
  console.log(
    `A file of ${shown(size)}: the browser's processes had ${shown(first)} with the page, ${shown(before)} with a model of a few kilobytes, and ${shown(peak)} at most with this one.`,
  );
  expect(before).toBeGreaterThan(50 * megabyte);
  expect(peak - before).toBeLessThan(250 * megabyte);
});
