// Callers who wait for the same bytes, any of whom may stop waiting at any time.
import { getEventListeners } from 'node:events';
import { openModel, type Slices } from 'add-or-concatenate';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inPieces } from '../../../build/package/model/pieces.js';
import { plain } from '../support/builds.ts';
import { files, loadTiny, weights } from './tinyMinilm.ts';

/** Lets all pending tasks run. */
const settle = () => new Promise<void>((go) => setImmediate(go));

/** A promise, and the functions that settle it. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((take, fail) => {
    resolve = take;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** A call, with its expected and its actual outcome. */
interface Call {
  stop: AbortController;
  fetch: Fetch | undefined;
  expected: 'waits' | 'has it' | Error;
  actual: 'waits' | 'has it' | Error;
}

interface Fetch {
  signal: AbortSignal | undefined;
  end(error?: Error): void;
  isDone: boolean;
}

const steps = fc.array(
  fc.oneof(
    fc.constant({ do: 'call' } as const),
    fc.record({ do: fc.constant('abort' as const), which: fc.nat(5) }),
    fc.record({ do: fc.constantFrom('come' as const, 'fail' as const), which: fc.nat(5) }),
  ),
  { maxLength: 14 },
);

test('in any order of callers, each gets the piece unless it stopped waiting itself', async () => {
  const property = fc.asyncProperty(steps, async (steps) => {
    const fetches: Fetch[] = [];
    const calls: Call[] = [];
    let isThere = false;
    const file = inPieces('x', [{ name: 'x.bin', bytes: 4 }], (_, bytes, { signal }) => {
      const { promise, resolve, reject } = deferred<Uint8Array>();
      const end = (error?: Error) => (error ? reject(error) : resolve(new Uint8Array(bytes)));
      fetches.push({ signal, end, isDone: false });
      return promise;
    });
    const waiting = (fetch: Fetch) =>
      calls.filter((call) => call.fetch === fetch && call.expected === 'waits');
    for (const step of steps) {
      if (step.do === 'call') {
        // A call joins the last fetch if that is under way and somebody waits for it.
        const last = fetches.at(-1);
        const joined = last && !last.isDone && waiting(last).length > 0 ? last : undefined;
        const call: Call = {
          stop: new AbortController(),
          fetch: undefined,
          expected: isThere ? 'has it' : 'waits',
          actual: 'waits',
        };
        const before = fetches.length;
        const reading = file.read(1, 2, { signal: call.stop.signal });
        reading.then(
          (bytes) => {
            call.actual = bytes.byteLength === 2 ? 'has it' : new Error('other bytes');
          },
          (error: Error) => {
            call.actual = error;
          },
        );
        await settle();
        expect(fetches.length - before).toBe(isThere || joined ? 0 : 1);
        call.fetch = isThere ? undefined : fetches.at(-1);
        calls.push(call);
      } else if (step.do === 'abort') {
        const call = calls[step.which];
        const reason = new Error(`caller ${step.which}`);
        if (call?.expected === 'waits') call.expected = reason;
        call?.stop.abort(reason);
      } else {
        const fetch = fetches[step.which];
        if (!fetch || fetch.isDone) continue;
        fetch.isDone = true;
        const error = step.do === 'fail' ? new Error('no network') : undefined;
        for (const call of waiting(fetch)) call.expected = error ?? 'has it';
        // Bytes that came too late for their callers serve the next one, unless another fetch has been
        // started since.
        if (!error && fetch === fetches.at(-1)) isThere = true;
        fetch.end(error);
      }
      await settle();
      expect(calls.map(({ actual }) => actual)).toEqual(calls.map(({ expected }) => expected));
      for (const fetch of fetches)
        if (!fetch.isDone) expect(fetch.signal?.aborted).toBe(waiting(fetch).length === 0);
    }
  });
  await fc.assert(property, { seed: Number(process.env.SUPERPOSE_SEED ?? 1), numRuns: 400 });
});

test('two decompositions of a model share its first layer; one that is stopped at any read does not affect the other', async () => {
  const question = { ids: [1, 4, 2] };
  const config = files['config.json'] as Uint8Array;
  /** A model that calls `heard` at each read. */
  const opened = async (heard: () => void) => {
    const file = (name: string, bytes: Uint8Array): Slices => ({
      name,
      size: bytes.length,
      async read(offset, length, watch) {
        heard();
        await settle();
        watch?.signal?.throwIfAborted();
        return bytes.slice(offset, offset + length);
      },
    });
    return openModel(plain, [file('model.safetensors', weights), file('config.json', config)]);
  };
  const { logits } = await (await opened(() => {})).decompose(question);
  let reads = 0;
  for (let at = 1; at <= reads + 1; at++) {
    const stop = new AbortController();
    const reason = new Error('enough');
    let count = 0;
    let hasBegun = false;
    const events: string[] = [];
    const model = await opened(() => {
      if (hasBegun && ++count === at) {
        stop.abort(reason);
        events.push('aborted');
      }
    });
    hasBegun = true;
    const stopped = model.decompose(question, {
      signal: stop.signal,
      progress: () => events.push('progress'),
    });
    const other = model.decompose(question);
    const [first, second] = await Promise.allSettled([stopped, other]);
    reads = Math.max(reads, count);
    if (events.includes('aborted')) expect(first).toEqual({ status: 'rejected', reason });
    else expect(first.status).toBe('fulfilled');
    expect(events.lastIndexOf('progress')).toBeLessThan(
      events.includes('aborted') ? events.indexOf('aborted') : 999,
    );
    expect(second.status === 'fulfilled' && second.value.logits).toEqual(logits);
  }
  expect(reads).toBeGreaterThan(8);
});

test('of MiniLM’s pieces too: a sentence that is no longer wanted takes no words from the next one', async () => {
  const expected = (await (await loadTiny()).minilm.decompose('the river')).logits;
  const { promise: gate, resolve: open } = deferred<void>();
  const { minilm } = await loadTiny(
    {},
    {
      async read(file, _, watch) {
        if (file.startsWith('words')) await gate;
        watch?.signal?.throwIfAborted();
        return files[file] as Uint8Array;
      },
    },
  );
  const stop = new AbortController();
  const stopped = minilm.decompose('the river', { signal: stop.signal });
  const other = minilm.decompose('the river');
  await settle();
  stop.abort(new Error('enough'));
  open();
  await expect(stopped).rejects.toThrow('enough');
  expect((await other).logits).toEqual(expected);
});

test('many reads with one signal listen to it once, as Node warns of more than ten', async () => {
  const pieces = Array.from({ length: 30 }, (_, at) => ({ name: `${at}.bin`, bytes: 4 }));
  const { promise: gate, resolve: open } = deferred<void>();
  const file = inPieces('x', pieces, async (_, bytes) => gate.then(() => new Uint8Array(bytes)));
  const stop = new AbortController();
  const reading = file.read(0, 120, { signal: stop.signal });
  await settle();
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  stop.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  open();
});
