// How the site's own worker is started, without browsers: from which address, and where it is not tried; when
// a blob's address is revoked; and what the worker's file listens to.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { initialState } from '../../web/figures/controls.ts';
import { figures } from '../../web/figures/index.ts';
import { blobWorker, type Reply } from '../../web/worker/transports.ts';

vi.mock('../../web/worker/worker.ts?worker&url', () => ({
  default: 'https://site.example/assets/worker-1.js',
}));

/** Workers that only record what they are told. */
class Fake {
  static made: Fake[] = [];
  told: unknown[] = [];
  ended = 0;
  onmessage: ((event: { data: Reply }) => void) | null = null;
  onerror: ((event: { preventDefault(): void }) => void) | null = null;
  constructor(
    readonly address: string,
    readonly options?: { type: string },
  ) {
    Fake.made.push(this);
  }
  postMessage(message: unknown) {
    this.told.push(message);
  }
  terminate() {
    this.ended += 1;
  }
  addEventListener() {}
}

beforeEach(() => {
  Fake.made = [];
  vi.resetModules();
  vi.stubGlobal('Worker', Fake);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const site = () => import('../../web/worker/siteWorker.ts');

test('a page of the same origin starts the worker’s own file', async () => {
  vi.stubGlobal('location', new URL('https://site.example/page/'));
  const { siteWorker } = await site();
  expect(siteWorker.name).toBe('worker');
  expect(siteWorker.start()).toBe(Fake.made[0]);
  expect(Fake.made).toMatchObject([
    { address: 'https://site.example/assets/worker-1.js', options: { type: 'module' }, told: [] },
  ]);
});

test('a page of another origin does not try it, and starts a blob that takes the file in', async () => {
  vi.stubGlobal('location', new URL('https://blog.example/'));
  const { siteWorker, siteBlobWorker } = await site();
  expect(() => siteWorker.start()).toThrow('The worker is of another origin.');
  expect(Fake.made).toEqual([]);
  expect(siteBlobWorker.name).toBe('blob worker');
  const texts: Promise<string>[] = [];
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    texts.push((blob as Blob).text());
    expect((blob as Blob).type).toBe('text/javascript');
    return 'blob:it';
  };
  try {
    siteBlobWorker.start();
  } finally {
    URL.createObjectURL = createObjectURL;
  }
  expect(Fake.made).toMatchObject([{ address: 'blob:it', options: { type: 'module' } }]);
  expect(await texts[0]).toBe('import "https://site.example/assets/worker-1.js";');
});

test('in a worker its file answers, also with an excerpt of the model; in a page it waits to be asked', async () => {
  const messages: Reply[] = [];
  const self: { onmessage?: (event: { data: unknown }) => Promise<void>; postMessage(reply: Reply): void } = {
    postMessage: (reply) => messages.push(reply),
  };
  vi.stubGlobal('self', self);
  vi.stubGlobal('location', new URL('https://site.example/assets/worker-1.js'));
  vi.stubGlobal('__SUPERPOSE_MODEL__', 'model/');
  await import('../../web/worker/worker.ts');
  // A figure without a model has data, but no excerpt.
  vi.stubGlobal('fetch', async () => new Response('{}'));
  const state = initialState((await (figures.gram as NonNullable<typeof figures.gram>)()).controls);
  for (const more of [{}, { excerpt: true }])
    await self.onmessage?.({ data: { id: messages.length, figure: 'gram', state, ...more } });
  expect(messages).toEqual([
    { id: 0, data: expect.any(Object) },
    { id: 1, data: undefined },
  ]);

  vi.resetModules();
  delete self.onmessage;
  vi.stubGlobal('document', {});
  const { answeringHere } = await import('../../web/worker/worker.ts');
  expect(self.onmessage).toBeUndefined();
  const here: Reply[] = [];
  await answeringHere((reply) => here.push(reply))({ id: 7, figure: 'nothing', state: {} });
  await vi.waitFor(() => expect(here).toEqual([{ id: 7, error: 'There is no figure called “nothing”.' }]));
  expect(messages).toHaveLength(2);
});

test('in a site without the model, a figure on it says how to provide it, and nothing is fetched', async () => {
  const messages: Reply[] = [];
  const self: { onmessage?: (event: { data: unknown }) => Promise<void>; postMessage(reply: Reply): void } = {
    postMessage: (reply) => messages.push(reply),
  };
  vi.stubGlobal('self', self);
  vi.stubGlobal('__SUPERPOSE_MODEL__', '');
  const requests: unknown[] = [];
  vi.stubGlobal('fetch', async (address: unknown) => requests.push(address));
  await import('../../web/worker/worker.ts');
  const state = initialState((await (figures.sum as NonNullable<typeof figures.sum>)()).controls);
  for (const more of [{}, { excerpt: true }])
    await self.onmessage?.({ data: { id: messages.length, figure: 'sum', state, ...more } });
  const error = expect.stringMatching(/whose files are not here\. .*npm run build.*SUPERPOSE_MODEL/);
  expect(messages).toEqual([
    { id: 0, error },
    { id: 1, error },
  ]);
  expect(requests).toEqual([]);
});

test.each(['message', 'error'])('a blob’s address is given up at the worker’s first %s', (event) => {
  const revoked: string[] = [];
  vi.stubGlobal(
    'Worker',
    class extends EventTarget {
      constructor(readonly address: string) {
        super();
      }
    },
  );
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((address) => void revoked.push(address));
  const worker = blobWorker('0').start() as unknown as EventTarget & { address: string };
  expect(worker.address).toMatch(/^blob:/);
  expect(revoked).toEqual([]);
  worker.dispatchEvent(new Event(event));
  expect(revoked).toEqual([worker.address]);
});
