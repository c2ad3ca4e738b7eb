// The model files that a state reads, for a file that carries them: recorded by computing it again.
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import { figures } from '../../web/figures/index.ts';
import { excerptOf } from '../../web/worker/excerpt.ts';
import { library } from '../../web/worker/library.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const model = new URL('../../build/model/', import.meta.url);
const asked: string[] = [];

/** A server of the model's files, some of which may be missing. */
function serve(lost?: RegExp): void {
  asked.length = 0;
  vi.stubGlobal('fetch', async (address: URL) => {
    asked.push(address.pathname.split('/').at(-1) as string);
    if (lost?.test(address.pathname) || !existsSync(address)) return new Response('', { status: 404 });
    return new Response(readFileSync(address));
  });
}

const job = { signal: new AbortController().signal, progress: () => {} };
const stateOf = async (name: keyof typeof figures, change: object = {}) => ({
  ...(initialState(
    (await (figures[name] as () => Promise<{ controls: object }>)()).controls as never,
  ) as State),
  ...change,
});
/** The small module is already there; nothing of it is fetched. */
const { small } = library();

test('of no model, nothing', async () => {
  await small();
  serve();
  const found = await excerptOf(library({}, {}, small), model)(
    'dot-products',
    await stateOf('dot-products'),
    job,
  );
  expect(found).toBeUndefined();
});

// This test comes first: figures remember what they have read.
test.runIf(inject('withModel'))(
  'a file that is not there is said, with what the server answered',
  async () => {
    await small();
    serve(/words-/);
    const state = await stateOf('one-score', { text: 'the bank' });
    await expect(excerptOf(library({}, {}, small), model)('one-score', state, job)).rejects.toThrow(
      /The server answered 404 \(.*words-\d+\.bin\)\./,
    );
  },
);

test('where a figure fails and the manifest too, no rejection is left behind', async () => {
  await small();
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  serve(/manifest/);
  const run = excerptOf(library({}, {}, small), model)('no-such-figure', {}, job);
  await expect(run).rejects.toThrow('There is no figure called “no-such-figure”.');
  // Node reports rejections after everything due has run.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
