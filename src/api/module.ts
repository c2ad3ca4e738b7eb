// Fetching, choosing and starting the WebAssembly module: the same in a page, a worker and Node.
import * as check from './check.js';
import { readBytes } from './files.js';
import createSuperpose from './wasm/superpose-plain.js';

export type Simd = 'plain' | 'relaxed';

export interface LoadOptions {
  /** Which build; left out, relaxed SIMD where the engine has it. */
  simd?: Simd;
  /** The bytes of the .wasm of that build, for a host that has them already. */
  wasm?: BufferSource;
}

/** What bindings.cpp registers; each name with F32 or F64 behind it takes that element type. */
// biome-ignore lint/suspicious/noExplicitAny: the binding is untyped; the functions here type it.
export type Raw = Record<string, any>;

export interface Loaded {
  /** The started module. */
  readonly raw: Raw;
  /** Which build it is. */
  readonly simd: Simd;
}

// The smallest modules that use one instruction each: f32x4.add, and f32x4.relaxed_madd.
const uses = (body: number[]) =>
  new Uint8Array([
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    5,
    1,
    96,
    0,
    1,
    123,
    3,
    2,
    1,
    0,
    10,
    body.length + 4,
    1,
    body.length + 2,
    0,
    ...body,
    11,
  ]);
const zeroVector = [65, 0, 253, 15];
const plainProbe = uses([...zeroVector, ...zeroVector, 253, 228, 1]);
const relaxedProbe = uses([...zeroVector, ...zeroVector, ...zeroVector, 253, 133, 2]);

/** What this engine can run; undefined when it has no WebAssembly SIMD at all. */
export function supportedSimd(): Simd | undefined {
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(plainProbe)) return undefined;
  return WebAssembly.validate(relaxedProbe) ? 'relaxed' : 'plain';
}

// Written out, not computed, so that bundlers find both files.
const addresses: Record<Simd, () => URL> = {
  plain: () => new URL('./wasm/superpose-plain.wasm', import.meta.url),
  relaxed: () => new URL('./wasm/superpose-relaxed.wasm', import.meta.url),
};

/** Where the .wasm file of a build is, for a page that fetches it for its worker. */
export const wasmAddress = (simd: Simd): URL => addresses[simd]();

/** Compiles and starts a module. Errors are sentences that a reader can be shown. */
export async function loadModule(options: LoadOptions = {}): Promise<Loaded> {
  check.object('options', options);
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
  // Nothing more is needed to see whether it is forbidden; WebKit compiles, and does not start.
  await WebAssembly.instantiate(plainProbe).catch((cause: unknown) => {
    throw new Error(
      "The page's Content-Security-Policy lets no WebAssembly run; 'wasm-unsafe-eval' in its script-src allows it.",
      { cause },
    );
  });
  const bytes = options.wasm ?? (await readBytes(addresses[simd](), 'The WebAssembly file'));
  const damaged = (cause: unknown) => {
    throw new Error('The WebAssembly file is damaged or incomplete; load the page or the package again.', {
      cause,
    });
  };
  const compiled = await WebAssembly.compile(bytes).catch(damaged);
  // Both builds come with the same JavaScript but for the name of the .wasm, which is not used here.
  const raw = await new Promise<Raw>((resolve, reject) => {
    createSuperpose({
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
        // done() throws when the module is sound but is another one.
        WebAssembly.instantiate(compiled, imports).then(done).catch(reject);
        return {};
      },
    }).then(resolve, reject);
  }).catch(damaged);
  return { raw, simd };
}
