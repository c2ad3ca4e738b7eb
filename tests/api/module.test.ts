// Loading: which engine a module needs, where its .wasm comes from, and what a failure says.
import { load, type ModuleName, supportedSimd, wasmAddress } from 'add-or-concatenate';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readBytes } from '../../build/package/files.js';
import { start } from '../../build/package/module.js';
import { builds } from './support/builds.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Whether there is a document. There, addresses are relative to the page, and modules are not mocked. */
const inPage = typeof document === 'object';
const wasm = new URL('../../build/package/wasm/superpose-plain.wasm', import.meta.url);
const damaged = /^The WebAssembly file is damaged or incomplete; load the page or the package again\.$/;

describe('the engine', () => {
  test('without WebAssembly SIMD there is a sentence', async () => {
    vi.spyOn(WebAssembly, 'validate').mockReturnValue(false);
    expect(supportedSimd()).toBeUndefined();
    await expect(load()).rejects.toThrow(/^This engine has no WebAssembly SIMD, .*\.$/);
    await expect(load({ simd: 'plain' })).rejects.toThrow('no WebAssembly SIMD');
  });

  test('without WebAssembly at all there is the same sentence', async () => {
    const { WebAssembly: original } = globalThis;
    try {
      // If a policy forbids WebAssembly, the name is undefined.
      Object.assign(globalThis, { WebAssembly: undefined });
      await expect(load()).rejects.toThrow('no WebAssembly SIMD');
    } finally {
      Object.assign(globalThis, { WebAssembly: original });
    }
  });

  test('without relaxed SIMD the plain build is chosen, and the other refused', async () => {
    const validate = WebAssembly.validate.bind(WebAssembly);
    // The relaxed probe contains f32x4.relaxed_madd: 253, 133, 2.
    vi.spyOn(WebAssembly, 'validate').mockImplementation((bytes) => {
      const probe = [...new Uint8Array(bytes as ArrayBuffer)].join();
      return !probe.includes('253,133,2') && validate(bytes);
    });
    expect(supportedSimd()).toBe('plain');
    expect((await load()).simd).toBe('plain');
    await expect(load({ simd: 'relaxed' })).rejects.toThrow(
      /^This engine has no relaxed SIMD; .*'plain'.*\.$/,
    );
  });

  test('a policy that lets no WebAssembly run is named, with what it said', async () => {
    const cause = new WebAssembly.CompileError('blocked');
    vi.spyOn(WebAssembly, 'instantiate').mockRejectedValue(cause);
    await expect(load()).rejects.toThrow(
      new Error(
        "The page's Content-Security-Policy lets no WebAssembly run; 'wasm-unsafe-eval' in its script-src allows it.",
        { cause },
      ),
    );
  });

  test('every engine that runs these tests has SIMD', () => {
    expect(['plain', 'relaxed']).toContain(supportedSimd());
  });
});

describe('loading', () => {
  test('the best build unless one is asked for', async () => {
    expect((await load()).simd).toBe(supportedSimd());
    for (const { simd, superpose } of builds) expect(superpose.simd).toBe(simd);
  });

  test('from bytes that are there already', async () => {
    const bytes = await readBytes(wasm, 'The WebAssembly file');
    const superpose = await load({ simd: 'plain', wasm: { full: bytes } });
    expect(superpose.sinusoidal({ positions: 1, d_model: 2 }).data).toEqual(Float64Array.of(0, 1));
  });

  test('from addresses that a host gives, one at a time', async () => {
    const at = (module: ModuleName) => wasmAddress('plain', module);
    const options = { simd: 'plain', wasm: { small: at('small').href, full: at('full') } } as const;
    expect((await load(options)).cosineDeviation({ d: 4 })).toBe(0.5);
    const { data } = (await load({ ...options, module: 'small' })).sinusoidal({ positions: 1, d_model: 2 });
    expect(data).toEqual(Float64Array.of(0, 1));
    await expect(load({ simd: 'plain', wasm: { full: new URL('nowhere.wasm', wasm) } })).rejects.toThrow(
      /^The WebAssembly file could not be (read|fetched).*nowhere\.wasm\)\.$/,
    );
  });

  test('the small module is a part of the full one: its functions are there too, and give the same', async () => {
    const [small, full] = await Promise.all([
      load({ simd: 'plain', module: 'small' }),
      load({ simd: 'plain' }),
    ]);
    expect(Object.keys(full)).toEqual(expect.arrayContaining(Object.keys(small)));
    expect(small).not.toHaveProperty('gram');
    const layer = { rows: 8, columns: 8 } as const;
    const taken = [small, full].map((superpose) => {
      const linear = (seed: number) => ({ weight: superpose.randomNormal({ ...layer, seed }) });
      const token = superpose.randomNormal({ ...layer, rows: 3, seed: 3 });
      const position = superpose.sinusoidal({ positions: 3, d_model: 8 });
      return superpose.decompose({
        summands: { token, position },
        query: linear(1),
        key: linear(2),
        heads: 2,
      });
    });
    expect(taken[0]).toEqual(taken[1]);
  });

  test('a module that is cut short, garbled, empty or another one gives a sentence', async () => {
    const bytes = await readBytes(wasm, 'The WebAssembly file');
    const garbled = bytes.map((byte, at) => (at > 1000 ? byte ^ 0x5a : byte));
    const another = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
    for (const wrong of [
      bytes.subarray(0, bytes.length / 2),
      bytes.subarray(0, -1),
      garbled,
      new Uint8Array(),
      another,
    ]) {
      for (const module of ['small', 'full'] as const) {
        const loading = load({ simd: 'plain', module: module as 'small', wasm: { [module]: wrong } });
        await expect(loading).rejects.toThrow(damaged);
        await expect(loading).rejects.toHaveProperty('cause');
      }
    }
  });

  test('a module that is loaded later has the same functions, and they give the same', async () => {
    const [early] = builds;
    const later = await load({ simd: 'plain' });
    expect(Object.keys(later).sort()).toEqual(Object.keys(early?.superpose ?? {}).sort());
    for (const [name, member] of Object.entries(later)) {
      expect(typeof member).toBe(name === 'simd' ? 'string' : 'function');
    }
    expect(later.schemeRegistry()).toEqual(early?.superpose.schemeRegistry());
    // In one dimension every cosine is 1 or −1; in d dimensions the mean of its square is 1/d.
    expect(later.cosineMeanSize({ d: 1 })).toBeCloseTo(1, 14);
    expect(later.cosineDeviation({ d: 4 })).toBe(0.5);
    // A direction drawn in a plane lies in it.
    expect(later.chanceAngles({ d: 2, k1: 2, k2: 1 }).zeroAngles).toBe(1);
    const trainer = later.trainer({ task: 'prev', n: 4, d_model: 4 });
    expect(trainer.steps).toBe(0);
    trainer.delete();
  });

  test('two modules share nothing', async () => {
    const [first, other] = await Promise.all([load({ simd: 'plain' }), load({ simd: 'plain' })]);
    first.randomUniform({ rows: 4096, columns: 1024, seed: 1 });
    expect(first.memoryBytes()).toBeGreaterThan(other.memoryBytes());
  });

  test('results are outside of the module: its memory may grow under them', async () => {
    const superpose = await load();
    const early = superpose.sinusoidal({ positions: 4, d_model: 4 });
    const kept = Float64Array.from(early.data);
    const before = superpose.memoryBytes();
    superpose.randomUniform({ rows: 4096, columns: 1024, seed: 1 });
    expect(superpose.memoryBytes()).toBeGreaterThan(before);
    expect(early.data).toEqual(kept);
    expect(early.data.byteLength).toBe(early.data.buffer.byteLength);
  });

  test.skipIf(inPage)('an address of a page is one beside the page', async () => {
    vi.stubGlobal('document', { baseURI: 'file:///some/where/page.html' });
    await expect(load({ simd: 'plain', wasm: { full: 'nowhere.wasm' } })).rejects.toThrow(
      'The WebAssembly file could not be read (/some/where/nowhere.wasm).',
    );
  });

  test.skipIf(inPage)('JavaScript that does not come is named', async () => {
    const whole = '../../build/package/fullModule.js';
    vi.doMock(whole, () => {
      throw new Error('offline');
    });
    try {
      const loading = load({ simd: 'plain' });
      await expect(loading).rejects.toThrow(
        /^The JavaScript of the full module could not be fetched; is there a network\?$/,
      );
      await expect(loading).rejects.toHaveProperty('cause');
    } finally {
      vi.doUnmock(whole);
    }
  });

  /** Starts a module of two functions, one of which throws. */
  const throwing = async (cause: unknown) => {
    let depth = 16;
    const create = async () => ({
      HEAPU8: new Uint8Array(8),
      stackSave: () => depth,
      stackRestore(to: number) {
        depth = to;
      },
      crash() {
        depth -= 8;
        throw cause;
      },
      depth: () => depth,
    });
    const { raw } = await start({ simd: 'plain' }, create);
    const lose = vi.fn();
    raw.abortListeners.add(lose);
    return { raw: raw as typeof raw & { crash(): void; depth(): number }, lose };
  };

  test('a call that breaks off says so, with its cause, and memory is no function', async () => {
    for (const cause of [
      new WebAssembly.RuntimeError('unreachable'),
      new RangeError('no room'),
      'out of memory',
    ]) {
      const { raw, lose } = await throwing(cause);
      expect(raw.memoryBytes()).toBe(8);
      expect(raw).not.toHaveProperty('HEAPU8');
      expect(() => raw.crash()).toThrow(
        new Error('The computation broke off, most likely for want of memory. Ask for less, or try again.', {
          cause,
        }),
      );
      expect(raw.memoryBytes()).toBe(0);
      expect(lose).toHaveBeenCalledOnce();
    }
  });

  test('an error of the program is thrown as it is, and what is held stays', async () => {
    const cause = new TypeError('raw.gram is not a function');
    const { raw, lose } = await throwing(cause);
    expect(() => raw.crash()).toThrow(cause);
    expect(lose).not.toHaveBeenCalled();
    expect(raw.memoryBytes()).toBe(8);
    expect(raw.depth()).toBe(16);
  });

  test('a missing file is named', async () => {
    const nowhere = new URL('nowhere.wasm', wasm);
    await expect(readBytes(nowhere, 'The WebAssembly file')).rejects.toThrow(
      /^The WebAssembly file could not be (read|fetched).*nowhere\.wasm\)\.$/,
    );
  });
});
