// What the opening figures need: encodings, dot products, scores taken apart. It is a small module that
// starts at once; second.ts has everything else.
import { encodingsApi } from './encodings/encodings.js';
import { sinusoidalApi } from './encodings/sinusoidal.js';
import { type Made, made } from './factories.js';
import { directionsApi } from './geometry/directions.js';
import { safetensorsApi } from './model/safetensors.js';
import { type Loaded, type LoadOptions, loadPart, type RawFirst, type Simd } from './module.js';
import { randomApi } from './numeric/random.js';
import { summaryApi } from './numeric/summary.js';
import { concatenateApi } from './scores/concatenate.js';
import { decomposeApi } from './scores/decompose.js';
import { dotProductsApi } from './scores/dotProducts.js';
import { scoresApi } from './scores/scores.js';
import create from './wasm/superpose-second-plain.js';

export type * from './encodings/encodings.js';
export type * from './encodings/sinusoidal.js';
export type * from './geometry/directions.js';
export type * from './model/safetensors.js';
export type * from './numeric/random.js';
export type * from './numeric/summary.js';
export type * from './scores/concatenate.js';
export type * from './scores/decompose.js';
export type * from './scores/dotProducts.js';
export type { Gauge, GaugeName, GaugeOptions } from './scores/gauge.js';
export type * from './scores/scores.js';

const factories = [
  encodingsApi,
  sinusoidalApi,
  directionsApi,
  safetensorsApi,
  randomApi,
  summaryApi,
  concatenateApi,
  decomposeApi,
  dotProductsApi,
  scoresApi,
] as const;

export interface First extends Made<typeof factories> {
  /** The build that runs. Relaxed SIMD has fused multiply-adds, so its last digits may differ. */
  readonly simd: Simd;
  /**
   * Bytes of its modules' memory, which only grows; 0 after one breaks off, until the next call restarts it.
   */
  memoryBytes(): number;
}

export const startFirst = (options: LoadOptions) => loadPart<RawFirst>('first', create, options);

/** The functions that run in this module. */
export const firstOver = ({ raw, simd }: Loaded<RawFirst>): First => ({
  simd,
  memoryBytes: raw.memoryBytes,
  ...made(factories, raw),
});

/**
 * Starts the first of the two WebAssembly modules alone, enough for a page's first figure, and returns the
 * functions that run in it. Throws as load() does.
 */
export async function loadFirst(options: LoadOptions = {}): Promise<First> {
  return firstOver(await startFirst(options));
}
