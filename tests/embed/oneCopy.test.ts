// Of several copies on a page only one works, or the next if that one fails. Without browsers, this also
// tests what starts a copy: a site's script, and the package's module, even on a server.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ComputeResources } from '../../web/embed/program.ts';
import type { Transport } from '../../web/worker/transports.ts';

vi.mock('../../web/worker/worker.ts?worker&url', () => ({
  default: 'https://site.example/assets/worker-1.js',
}));
vi.mock('../../web/embed/packageWorker.js?worker&inline', () => ({
  default: class {
    told: unknown[] = [];
    postMessage(message: unknown) {
      this.told.push(message);
    }
  },
}));
const near = vi.hoisted(() => ({ whenNear: vi.fn() }));
vi.mock('../../web/embed/whenNear.ts', () => near);
const mirror = vi.hoisted(() => ({ defineMirrored: vi.fn() }));
vi.mock('../../web/embed/mirror.ts', () => mirror);

const mark = Symbol.for('superpose');
const page = globalThis as { [mark]?: unknown };
let defined: boolean;
let messages: string[];

beforeEach(() => {
  vi.resetModules();
  delete page[mark];
  defined = false;
  messages = [];
  near.whenNear.mockReset();
  mirror.defineMirrored.mockReset();
  vi.stubGlobal('__SUPERPOSE_VERSION__', '1.2.3');
  vi.stubGlobal('customElements', { get: () => (defined ? class {} : undefined) });
  for (const way of ['info', 'warn'] as const)
    vi.spyOn(console, way).mockImplementation((text: string) => messages.push(text));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Makes the copy that started fail while another waits; returns the spy that starts the other. */
async function failsBeforeAnother() {
  const { startOneCopy } = await import('../../web/embed/oneCopy.ts');
  const next = vi.fn();
  startOneCopy('9.9.9', next);
  messages = [];
  const [, failed] = near.whenNear.mock.calls[0] as [unknown, (error: unknown) => void];
  failed(new Error('404'));
  return next;
}

describe('in turn', () => {
  const copies = async () => {
    const { startNextCopy, startOneCopy } = await import('../../web/embed/oneCopy.ts');
    const started: string[] = [];
    return {
      startNextCopy,
      started,
      begin: (version: string) => startOneCopy(version, () => started.push(version)),
    };
  };

  test('the first starts; each other version says once that it waits', async () => {
    const { begin, started } = await copies();
    for (const version of ['1.0.0', '2.0.0', '1.0.0', '3.0.0', '2.0.0']) begin(version);
    expect(started).toEqual(['1.0.0']);
    expect(messages).toEqual(
      ['2.0.0', '3.0.0'].map(
        (version) =>
          `Superpose ${version} is not used on this page, unless version 1.0.0, which came first, cannot be loaded.`,
      ),
    );
  });

  test('where one fails, the next starts, each once', async () => {
    const { begin, started, startNextCopy } = await copies();
    for (const version of ['1.0.0', '2.0.0', '2.0.0', '3.0.0']) begin(version);
    const tried = (version: string) => `another copy, of version ${version}, is tried`;
    expect(startNextCopy()).toBe(tried('2.0.0'));
    // A copy that works hands nothing on.
    defined = true;
    expect(startNextCopy()).toBe('the pictures stay');
    expect(started).toEqual(['1.0.0', '2.0.0']);
    defined = false;
    expect([1, 2, 3].map(startNextCopy)).toEqual([tried('2.0.0'), tried('3.0.0'), 'the pictures stay']);
    expect(started).toEqual(['1.0.0', '2.0.0', '2.0.0', '3.0.0']);
    // A copy that comes now is told which version is used.
    messages = [];
    begin('4.0.0');
    expect(messages.join()).toContain('unless version 3.0.0');
  });

  test('an element that is there already stays, whoever made it', async () => {
    const { begin, started, startNextCopy } = await copies();
    defined = true;
    begin('1.0.0');
    begin('2.0.0');
    startNextCopy();
    expect(started).toEqual([]);
    expect(messages).toEqual(
      ['1.0.0', '2.0.0'].map(
        (version) =>
          `Superpose ${version} is not used on this page: something else has defined the element superpose-figure.`,
      ),
    );
  });
});

describe('the script of a site', () => {
  const start = async () => {
    await import('../../web/embed/embed.ts');
    const { hostPage } = await import('../../web/element/link.ts');
    const { transports } = await import('../../web/worker/transports.ts');
    return { hostPage, transports };
  };

  test('does nothing before a figure is near, and then makes them live from where it lies', async () => {
    const { hostPage, transports } = await start();
    expect(near.whenNear).toHaveBeenCalledTimes(1);
    expect(hostPage).toMatchObject({ home: undefined });
    expect(transports).toEqual([]);
    expect(mirror.defineMirrored).not.toHaveBeenCalled();
    const [define] = near.whenNear.mock.calls[0] as [() => Promise<void>];
    await define();
    const home = new URL('../../web/embed/', import.meta.url).href;
    expect(hostPage).toMatchObject({ home });
    expect(transports.map(({ name }) => name)).toEqual(['worker', 'blob worker', 'page']);
    expect(mirror.defineMirrored).toHaveBeenCalledTimes(1);
    expect(messages).toEqual([]);
  });

  test('says what failed, with what its server needs, and hands on to the next copy', async () => {
    await start();
    const next = await failsBeforeAnother();
    expect(messages).toEqual([
      expect.stringMatching(
        /^Superpose 1\.2\.3 could not be loaded from .*web\/embed\/; another copy, of version 9\.9\.9, is tried\. .*Access-Control-Allow-Origin.*404/,
      ),
    ]);
    expect(next).toHaveBeenCalledTimes(1);
  });

  test('throws nothing into a page where it cannot start', async () => {
    near.whenNear.mockImplementation(() => {
      throw new Error('no observers');
    });
    await start();
    expect(messages).toEqual(['Superpose could not start; the pictures stay. (Error: no observers)']);
  });
});

describe('the module of the package', () => {
  const inPage = () => vi.stubGlobal('document', { baseURI: 'https://blog.example/posts/one.html' });
  const module = async () => {
    const { configure } = await import('../../web/embed/package.ts');
    const { hostPage } = await import('../../web/element/link.ts');
    const { transports } = await import('../../web/worker/transports.ts');
    /** The first message to the worker. */
    const supplies = async () => {
      const [define] = near.whenNear.mock.calls[0] as [() => Promise<void>];
      await define();
      const [blob] = transports as [Transport];
      const [supplies] = (blob.start() as unknown as { told: ComputeResources[] }).told;
      return supplies as ComputeResources & { module: { simd: string; wasm: Record<string, string> } };
    };
    return { configure, hostPage, transports, supplies };
  };

  test('on a server does nothing, whatever it is told', async () => {
    const { configure, hostPage } = await module();
    configure({ home: '/s/', model: '/m', wasm: '/w' });
    expect(hostPage.home).toBeUndefined();
    expect(near.whenNear).not.toHaveBeenCalled();
    expect(page[mark]).toBeUndefined();
  });

  test('in a page makes figures live when one is near: a worker, or the page’s own thread', async () => {
    inPage();
    const { hostPage, transports, supplies } = await module();
    expect(near.whenNear).toHaveBeenCalledTimes(1);
    const message = await supplies();
    expect(hostPage).toMatchObject({ home: undefined });
    expect(transports.map(({ name }) => name)).toEqual(['blob worker', 'page']);
    expect(mirror.defineMirrored).toHaveBeenCalledTimes(1);
    expect(message.model).toBeUndefined();
    const simd = message.module.simd;
    expect(['plain', 'simd', 'relaxed']).toContain(simd);
    // The .wasm files are beside the modules, unless the page says otherwise.
    expect(message.module.wasm.small).toMatch(new RegExp(`/wasm/superpose-small-${simd}\\.wasm$`));
    expect(message.module.wasm.full).toMatch(new RegExp(`/wasm/superpose-${simd}\\.wasm$`));
  });

  test('takes folders by any address, with the last slash or without', async () => {
    inPage();
    const { configure, hostPage, supplies } = await module();
    configure({ home: '../figures/', model: 'https://cdn.example/model', wasm: '/wasm/' });
    expect(hostPage.home).toBe('https://blog.example/figures/');
    const message = await supplies();
    expect(message.model).toBe('https://cdn.example/model/');
    const simd = message.module.simd;
    expect(message.module.wasm).toEqual({
      small: `https://blog.example/wasm/superpose-small-${simd}.wasm`,
      full: `https://blog.example/wasm/superpose-${simd}.wasm`,
    });
    // What is not named stays as it was.
    configure({});
    expect(hostPage.home).toBe('https://blog.example/figures/');
    expect((await supplies()).model).toBe('https://cdn.example/model/');
  });

  test('where no worker starts, answers on the page’s own thread', async () => {
    inPage();
    const { transports, supplies } = await module();
    await supplies();
    const line = transports[1]?.start();
    const heard: unknown[] = [];
    if (line) line.onmessage = ({ data }) => heard.push(data);
    line?.postMessage({ id: 3, figure: 'nothing', state: {} });
    await expect.poll(() => heard).toEqual([{ id: 3, error: 'There is no figure called “nothing”.' }]);
  });

  test('says what failed and hands on', async () => {
    inPage();
    await module();
    const next = await failsBeforeAnother();
    expect(messages).toEqual([
      'Superpose 1.2.3 could not be loaded; another copy, of version 9.9.9, is tried. (Error: 404)',
    ]);
    expect(next).toHaveBeenCalledTimes(1);
  });
});
