// Fetching, choosing and starting a WebAssembly module: the same in a page, a worker and Node.
import * as check from './check.js';
import { readBytes } from './files.js';
import create from './wasm/superpose-plain.js';

export type Simd = 'plain' | 'relaxed';

/** The whole module, or the small one, which is a part of it. */
export type ModuleName = 'whole' | 'small';

export interface LoadOptions {
  /** Which module; by default the whole. */
  module?: ModuleName;
  /** Which build; by default relaxed SIMD where the engine has it. */
  simd?: Simd;
  /**
   * The .wasm files of that build, for a host that keeps them elsewhere: their bytes, or where to fetch them. In Node
   * a path is given as pathToFileURL(path): a text that is no whole address is taken from this package's folder.
   */
  wasm?: Partial<Record<ModuleName, ArrayBuffer | ArrayBufferView | URL | string>>;
}

/** A started module. A call that breaks off throws a sentence, and the next call runs in a new instance. */
export interface Raw {
  /** Bytes of the memory, which only grows. */
  readonly memoryBytes: () => number;
  /** Called with the reason when the instance breaks off and what is held in it is gone. */
  readonly kept: Set<(how: string) => void>;
}

// What src/wasm registers, the build adds (build/declarations). The small module lacks some of it, which no function in
// small.ts calls.
export interface RawModule extends Raw {}

export interface Loaded {
  /** The started module. */
  readonly raw: RawModule;
  /** Which build it is. */
  readonly simd: Simd;
}

// The smallest modules that each use one instruction: f32x4.add, and f32x4.relaxed_madd.
const beginning = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10];
const uses = (body: number[]) =>
  new Uint8Array([...beginning, body.length + 4, 1, body.length + 2, 0, ...body, 11]);
const zeroVector = [65, 0, 253, 15];
const plainProbe = uses([...zeroVector, ...zeroVector, 253, 228, 1]);
const relaxedProbe = uses([...zeroVector, ...zeroVector, ...zeroVector, 253, 133, 2]);

/** What this engine can run; undefined when it has no WebAssembly SIMD at all. */
export function supportedSimd(): Simd | undefined {
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(plainProbe)) return undefined;
  return WebAssembly.validate(relaxedProbe) ? 'relaxed' : 'plain';
}

// Written out, not computed: bundlers find only literal addresses.
const addresses: Record<ModuleName, Record<Simd, () => URL>> = {
  whole: {
    plain: () => new URL('./wasm/superpose-plain.wasm', import.meta.url),
    relaxed: () => new URL('./wasm/superpose-relaxed.wasm', import.meta.url),
  },
  small: {
    plain: () => new URL('./wasm/superpose-small-plain.wasm', import.meta.url),
    relaxed: () => new URL('./wasm/superpose-small-relaxed.wasm', import.meta.url),
  },
};

/** The address of a build's .wasm file, for a page that fetches it for its worker. */
export const wasmAddress = (simd: Simd, module: ModuleName = 'whole'): URL =>
  addresses[check.oneOf('module', module, ['whole', 'small'])][
    check.oneOf('simd', simd, ['plain', 'relaxed'])
  ]();

/** What Emscripten writes. The whole module's starts both: it provides all that either imports. */
type Create = (options: object) => Promise<Instance>;

// biome-ignore lint/suspicious/noExplicitAny: functions by name, which restarting() calls for their callers.
type Instance = Record<string, any>;

/** Compiles and starts a module. Errors are sentences that a reader can be shown. */
export async function start(options: LoadOptions, by: Create = create as Create): Promise<Loaded> {
  check.knownOptions('options', options, { module: true, simd: true, wasm: true });
  check.knownOptions('wasm', options.wasm ?? {}, { whole: true, small: true });
  const module = check.oneOf('module', options.module ?? 'whole', ['whole', 'small']);
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
  // This alone shows whether WebAssembly is forbidden: WebKit then compiles a module but does not start it.
  await WebAssembly.instantiate(plainProbe).catch((cause: unknown) => {
    throw new Error(
      "The page's Content-Security-Policy lets no WebAssembly run; 'wasm-unsafe-eval' in its script-src allows it.",
      { cause },
    );
  });
  const given = options.wasm?.[module] ?? wasmAddress(simd, module);
  const bytes =
    typeof given === 'string' || given instanceof URL
      ? await readBytes(
          new URL(given, typeof document === 'object' ? document.baseURI : import.meta.url),
          'The WebAssembly file',
        )
      : given;
  const damaged = (cause: unknown) => {
    throw new Error('The WebAssembly file is damaged or incomplete; load the page or the package again.', {
      cause,
    });
  };
  const compiled = await WebAssembly.compile(bytes as BufferSource).catch(damaged);
  const started = await new Promise<Instance>((resolve, reject) => {
    by({
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
        // done() throws when the module is sound but not ours.
        WebAssembly.instantiate(compiled, imports).then(done).catch(reject);
      },
    }).then(resolve, reject);
  }).catch(damaged);
  return { raw: restarting(started, () => instanceOf(compiled, by)), simd };
}

/** Another instance of the compiled module, started synchronously. */
function instanceOf(compiled: WebAssembly.Module, by: Create): Instance {
  let made: Instance | undefined;
  by({
    instantiateWasm(this: Instance, imports: WebAssembly.Imports, done: (one: WebAssembly.Instance) => void) {
      made = this;
      const instance = new WebAssembly.Instance(compiled, imports);
      done(instance);
      return instance.exports;
    },
    // What went wrong has already been thrown.
  }).catch(() => {});
  return made as Instance;
}

/** Whether the engine gave up: a trap, or no room in memory or on the stack, for which each engine has its own class. */
const gaveUp = (cause: unknown) =>
  cause instanceof WebAssembly.RuntimeError ||
  cause instanceof RangeError ||
  !(cause instanceof Error) ||
  cause.name === 'InternalError';

/**
 * An instance that is replaced when a call breaks off: a module that ran out of memory or crashed cannot go on, and what
 * was held in it is gone. Any other error is the program's own: it is thrown as it is, and the instance goes on.
 */
function restarting(started: Instance, again: () => Instance): RawModule {
  let running: Instance | undefined = started;
  const kept: Raw['kept'] = new Set();
  const call =
    (name: string) =>
    (...given: unknown[]) => {
      let stack: unknown;
      try {
        running ??= again();
        stack = running.stackSave();
        return running[name](...given);
      } catch (cause) {
        if (running && !gaveUp(cause)) {
          // What was thrown skipped the functions that would have set it back.
          running.stackRestore(stack);
          throw cause;
        }
        running = undefined;
        for (const lose of kept) lose('was lost when its module broke off');
        throw new Error(
          'The computation broke off, most likely for want of memory. Ask for less, or try again.',
          { cause },
        );
      }
    };
  const raw: Record<string, unknown> = { memoryBytes: () => running?.HEAPU8.byteLength ?? 0, kept };
  for (const name in started) if (typeof started[name] === 'function') raw[name] = call(name);
  return raw as unknown as RawModule;
}
