// Fetches, chooses and starts a WebAssembly module, in the same way in a page, a worker and Node.
import * as check from './check.js';
import { readBytes } from './files.js';
import create from './wasm/superpose-plain.js';

export type Simd = 'plain' | 'relaxed';

/** The full module, or the small one, which is a part of it. */
export type ModuleName = 'full' | 'small';

export interface LoadOptions {
  /** Which module; the full one by default. */
  module?: ModuleName;
  /** Which build; by default the one with relaxed SIMD where the engine has that. */
  simd?: Simd;
  /**
   * The .wasm files of that build, for a host that stores them elsewhere: their bytes, or where to fetch
   * them. In Node, pass a path as pathToFileURL(path): a string that is not a complete address is taken from
   * this package's folder.
   */
  wasm?: Partial<Record<ModuleName, ArrayBuffer | ArrayBufferView | URL | string>>;
}

/**
 * A started module. If a call breaks off because of a trap or a lack of memory, it throws an Error with a
 * sentence, and the next call runs in a new instance.
 */
export interface Raw {
  /** Bytes of the module's memory, which only grows. */
  readonly memoryBytes: () => number;
  /** Each is called with the reason when the instance breaks off and its resident objects are gone. */
  readonly abortListeners: Set<(how: string) => void>;
}

// The build adds the functions that src/wasm binds (build/declarations). The small module lacks some of
// them, which no function in smallModule.ts calls.
export interface RawModule extends Raw {}

export interface Loaded {
  /** The started module. */
  readonly raw: RawModule;
  /** Which build runs. */
  readonly simd: Simd;
}

// The smallest modules that use a single instruction: f32x4.add, or f32x4.relaxed_madd.
const beginning = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10];
const uses = (body: number[]) =>
  new Uint8Array([...beginning, body.length + 4, 1, body.length + 2, 0, ...body, 11]);
const zeroVector = [65, 0, 253, 15];
const plainProbe = uses([...zeroVector, ...zeroVector, 253, 228, 1]);
const relaxedProbe = uses([...zeroVector, ...zeroVector, ...zeroVector, 253, 133, 2]);

/**
 * Returns the best build that this engine can run; undefined when it has no WebAssembly SIMD.
 *
 * @category Load the library
 */
export function supportedSimd(): Simd | undefined {
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(plainProbe)) return undefined;
  return WebAssembly.validate(relaxedProbe) ? 'relaxed' : 'plain';
}

// Written out, because bundlers find only literal addresses.
const addresses: Record<ModuleName, Record<Simd, () => URL>> = {
  full: {
    plain: () => new URL('./wasm/superpose-plain.wasm', import.meta.url),
    relaxed: () => new URL('./wasm/superpose-relaxed.wasm', import.meta.url),
  },
  small: {
    plain: () => new URL('./wasm/superpose-small-plain.wasm', import.meta.url),
    relaxed: () => new URL('./wasm/superpose-small-relaxed.wasm', import.meta.url),
  },
};

/**
 * Returns the address of a build's .wasm file, for a page that fetches it for its worker.
 *
 * @category Load the library
 */
export const wasmAddress = (simd: Simd, module: ModuleName = 'full'): URL =>
  addresses[check.oneOf('module', module, ['full', 'small'])][
    check.oneOf('simd', simd, ['plain', 'relaxed'])
  ]();

/**
 * The function that Emscripten generates. That of the full module starts both modules, because it provides
 * all imports of either.
 */
type Create = (options: object) => Promise<Instance>;

// biome-ignore lint/suspicious/noExplicitAny: functions by name, which restarting() calls for its callers.
type Instance = Record<string, any>;

/** Compiles and starts a module. Its errors are sentences for readers. */
export async function start(
  options: LoadOptions,
  createInstance: Create = create as Create,
): Promise<Loaded> {
  check.knownOptions('options', options, { module: true, simd: true, wasm: true });
  check.knownOptions('wasm', options.wasm ?? {}, { full: true, small: true });
  const module = check.oneOf('module', options.module ?? 'full', ['full', 'small']);
  const supported = supportedSimd();
  if (!supported) {
    throw new Error(
      'This engine has no WebAssembly SIMD, which Superpose needs. Any browser since 2023 has it, and Node from 16 on.',
    );
  }
  const simd = check.oneOf('simd', options.simd ?? supported, ['plain', 'relaxed']);
  if (simd === 'relaxed' && supported !== 'relaxed') {
    throw new Error("This engine has no relaxed SIMD; load with simd: 'plain', or leave simd out.");
  }
  // Only starting an instance shows whether WebAssembly is forbidden: WebKit then compiles a module but does
  // not start it.
  await WebAssembly.instantiate(plainProbe).catch((cause: unknown) => {
    throw new Error(
      "The page's Content-Security-Policy lets no WebAssembly run; 'wasm-unsafe-eval' in its script-src allows it.",
      { cause },
    );
  });
  const source = options.wasm?.[module] ?? wasmAddress(simd, module);
  const bytes =
    typeof source === 'string' || source instanceof URL
      ? await readBytes(
          new URL(source, typeof document === 'object' ? document.baseURI : import.meta.url),
          'The WebAssembly file',
        )
      : source;
  const damaged = (cause: unknown) => {
    throw new Error('The WebAssembly file is damaged or incomplete; load the page or the package again.', {
      cause,
    });
  };
  const compiled = await WebAssembly.compile(bytes as BufferSource).catch(damaged);
  const instance = await new Promise<Instance>((resolve, reject) => {
    createInstance({
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
        // done() throws when the module is sound but not ours.
        WebAssembly.instantiate(compiled, imports).then(done).catch(reject);
      },
    }).then(resolve, reject);
  }).catch(damaged);
  return { raw: restarting(instance, () => instanceOf(compiled, createInstance)), simd };
}

/** Another instance of the compiled module, started synchronously. */
function instanceOf(compiled: WebAssembly.Module, createInstance: Create): Instance {
  let emscriptenModule: Instance | undefined;
  createInstance({
    instantiateWasm(
      this: Instance,
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance) => void,
    ) {
      emscriptenModule = this;
      const instance = new WebAssembly.Instance(compiled, imports);
      done(instance);
      return instance.exports;
    },
    // new WebAssembly.Instance has already thrown what went wrong.
  }).catch(() => {});
  return emscriptenModule as Instance;
}

/**
 * Whether the engine gave up: a trap, or no memory or stack left, for which engines throw errors of
 * different classes.
 */
const gaveUp = (cause: unknown) =>
  cause instanceof WebAssembly.RuntimeError ||
  cause instanceof RangeError ||
  !(cause instanceof Error) ||
  cause.name === 'InternalError';

/**
 * Replaces the instance when a call breaks off: a module that ran out of memory or crashed cannot go on, and
 * its resident objects are gone. Any other error is the program's own: it is thrown unchanged, and the
 * instance stays.
 */
function restarting(first: Instance, createAnother: () => Instance): RawModule {
  let running: Instance | undefined = first;
  const abortListeners: Raw['abortListeners'] = new Set();
  const call =
    (name: string) =>
    (...args: unknown[]) => {
      let stack: unknown;
      try {
        running ??= createAnother();
        stack = running.stackSave();
        return running[name](...args);
      } catch (cause) {
        if (running && !gaveUp(cause)) {
          // The error skipped the functions that would have restored the stack.
          running.stackRestore(stack);
          throw cause;
        }
        running = undefined;
        for (const listener of abortListeners) listener('was lost when its module broke off');
        throw new Error(
          'The computation broke off, most likely for want of memory. Ask for less, or try again.',
          { cause },
        );
      }
    };
  const raw: Record<string, unknown> = { memoryBytes: () => running?.HEAPU8.byteLength ?? 0, abortListeners };
  for (const name in first) if (typeof first[name] === 'function') raw[name] = call(name);
  return raw as unknown as RawModule;
}
