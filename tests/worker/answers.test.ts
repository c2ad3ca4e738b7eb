// The answering side: a question, its progress, its end or failure, and cancelling; a library that fails and
// is asked again; a page's own thread, in slices.
import { describe, expect, test, vi } from 'vitest';
import { addResidentBytes, requireMemory } from '../../build/package/check.js';
import type { Library } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import {
  answering,
  type ComputeFigure,
  computeOf,
  computeWith,
  memoizer,
  withYields,
} from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import {
  blobWorker,
  pageThread,
  type Reply,
  scriptAddress,
  type Transport,
  transports,
} from '../../web/worker/transports.ts';

/** The library's error when something does not fit beside what is resident. */
function tooLarge(): unknown {
  addResidentBytes(1000 * 2 ** 20);
  try {
    requireMemory('A vocabulary', 100 * 2 ** 20);
  } catch (error) {
    return error;
  } finally {
    addResidentBytes(-1000 * 2 ** 20);
  }
  return undefined;
}

describe('answering', () => {
  const run =
    (result: unknown): ComputeFigure =>
    async (figure, state, job) => {
      job.progress(0.25);
      if (result instanceof Error || typeof result === 'string') throw result;
      return { figure, state, result };
    };

  test.each<[string, unknown, Reply]>([
    ['data', 5, { id: 3, data: { figure: 'gram', state: { n: 1 }, result: 5 } }],
    ['an error', new Error('It broke.'), { id: 3, error: 'It broke.' }],
    [
      'what does not fit, in words for readers, who can delete nothing',
      tooLarge(),
      {
        id: 3,
        error:
          'Other figures hold 1,000 MB of memory, which leaves too little for this one. Forget a model that you opened, or load the page again.',
      },
    ],
    ['what is thrown and no error', 'thrown', { id: 3, error: 'thrown' }],
  ])('%s', async (_, result, last) => {
    const messages: Reply[] = [];
    await answering(run(result), (reply) => messages.push(reply))({ id: 3, figure: 'gram', state: { n: 1 } });
    expect(messages).toEqual([{ id: 3, progress: 0.25 }, last]);
  });

  test('a cancel reaches the question that it names, while it is under way, and no other', async () => {
    const signals: AbortSignal[] = [];
    let go = () => {};
    const waiting = new Promise<void>((resolve) => {
      go = resolve;
    });
    const answer = answering(
      async (_, __, { signal }) => {
        signals.push(signal);
        await waiting;
        signal.throwIfAborted();
        return 'done';
      },
      (reply) => messages.push(reply),
    );
    const messages: Reply[] = [];
    const pending = [0, 1].map((id) => answer({ id, figure: 'gram', state: {} }));
    await answer({ cancel: 1 });
    await answer({ cancel: 99 });
    expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
    go();
    await Promise.all(pending);
    expect(messages).toContainEqual({ id: 0, data: 'done' });
    expect(messages.find(({ id }) => id === 1)).toHaveProperty('error');
    // Afterwards there is nothing left to cancel.
    await answer({ cancel: 0 });
    expect(signals[0]?.aborted).toBe(false);
  });

  test('a figure that is not there', async () => {
    const messages: Reply[] = [];
    await answering(
      computeWith({ memoize: (_what, _of, make) => make() } as Partial<Library> as Library),
      (reply) => messages.push(reply),
    )({
      id: 0,
      figure: 'nonesuch',
      state: {},
    });
    expect(messages).toEqual([{ id: 0, error: 'There is no figure called “nonesuch”.' }]);
  });
});

test('every figure has what computes it, and nothing else has', async () => {
  for (const [name, load] of Object.entries(figures)) {
    expect((await load()).name).toBe(name);
    expect(await computeOf(name), name).toBeTypeOf('function');
  }
  expect(await computeOf('toString')).toBeUndefined();
});

describe('the library', () => {
  test('is loaded once, and a failure is not kept', async () => {
    const loaded = library({ read: () => Promise.reject(new Error('gone')) });
    const [first, other] = await Promise.all([loaded.small(), loaded.small()]);
    expect(first).toBe(other);
    expect(await loaded.superpose()).toBe(await loaded.superpose());
    let there = false;
    const later = library({ read: () => Promise.reject(new Error('gone')) }, {}, (() => {
      if (!there) return Promise.reject(new Error('not yet'));
      return loaded.small();
    }) as typeof loaded.small);
    await expect(later.miniLM()).rejects.toThrow('not yet');
    there = true;
    await expect(later.miniLM()).rejects.toThrow('The MiniLM files are not there.');
  });

  test('in slices: each step waits for the thread to be free', async () => {
    const order: string[] = [];
    const step = (name: string) => async () => {
      order.push(name);
      return name as never;
    };
    const sliced = withYields({
      memoize: memoizer(),
      small: step('small'),
      superpose: step('superpose'),
      miniLM: step('miniLM'),
    });
    setTimeout(() => order.push('page'));
    expect(await sliced.small()).toBe('small');
    setTimeout(() => order.push('page'));
    expect(await sliced.superpose()).toBe('superpose');
    setTimeout(() => order.push('page'));
    expect(await sliced.miniLM()).toBe('miniLM');
    expect(order).toEqual(['page', 'small', 'page', 'superpose', 'page', 'miniLM']);
  });
});

describe('transports', () => {
  test('are known once they are set, in their order', () => {
    expect(transports).toEqual([]);
    const some: Transport[] = [pageThread(async () => () => () => {}), blobWorker('')];
    transports.push(...some);
    expect(transports).toEqual(some);
    expect(some.map(({ name }) => name)).toEqual(['page', 'blob worker']);
    transports.length = 0;
  });

  test('the page’s own thread answers, and breaks when what answers cannot be had', async () => {
    const line = pageThread(async () => (say) => (question) => say({ id: 1, data: question })).start();
    const heard: unknown[] = [];
    line.postMessage('before anybody listens');
    line.onmessage = ({ data }) => heard.push(data);
    line.postMessage('question');
    await vi.waitFor(() => expect(heard).toContainEqual({ id: 1, data: 'question' }));
    vi.stubGlobal('ErrorEvent', class extends Event {});
    const broken = pageThread(() => Promise.reject(new Error('404'))).start();
    const onError = vi.fn();
    broken.onerror = onError;
    broken.postMessage('question');
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1));
    vi.unstubAllGlobals();
  });

  test('a worker of a text is told what it needs first, in a policy where the page asks for one', () => {
    const messages: unknown[] = [];
    const addresses: unknown[] = [];
    vi.stubGlobal(
      'Worker',
      class {
        constructor(address: unknown) {
          addresses.push(address);
        }
        addEventListener() {}
        postMessage(message: unknown) {
          messages.push(message);
        }
      },
    );
    const createPolicy = vi.fn((_: string, rules: { createScriptURL(address: string): string }) => ({
      createScriptURL: (address: string) => ({ trusted: rules.createScriptURL(address) }),
    }));
    blobWorker('text').start();
    expect(messages).toEqual([]);
    vi.stubGlobal('trustedTypes', { createPolicy });
    blobWorker('text', () => 'supplies').start();
    expect(messages).toEqual(['supplies']);
    expect(addresses[0]).toMatch(/^blob:/);
    expect(addresses[1]).toEqual({ trusted: expect.stringMatching(/^blob:/) });
    scriptAddress('x');
    expect(createPolicy).toHaveBeenCalledTimes(1);
    expect(createPolicy.mock.calls[0]?.[0]).toBe('superpose');
    vi.unstubAllGlobals();
  });
});
