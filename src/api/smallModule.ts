// The functions of the small module, with which a page starts: those that its first live figure needs. The
// full module has them too, and those in fullModule.ts.
import { sinusoidalApi } from './encodings/sinusoidal.js';
import { type FunctionsOf, functionsOf } from './factories.js';
import { directionsApi } from './geometry/directions.js';
import { safetensorsApi } from './model/safetensors.js';
import type { Loaded, Simd } from './module.js';
import { randomApi } from './numeric/random.js';
import { summaryApi } from './numeric/summary.js';
import { costApi } from './scores/cost.js';
import { decomposeApi } from './scores/decompose.js';
import { dotProductsApi } from './scores/dotProducts.js';
import { oneLayerApi } from './scores/oneLayer.js';
import { scoresApi } from './scores/scores.js';

export type * from './encodings/sinusoidal.js';
export type * from './geometry/directions.js';
export type * from './model/safetensors.js';
export type * from './numeric/random.js';
export type * from './numeric/summary.js';
export type * from './scores/cost.js';
export type * from './scores/decompose.js';
export type * from './scores/dotProducts.js';
export type { Gauge, GaugeOptions } from './scores/gauge.js';
export type * from './scores/oneLayer.js';
export type * from './scores/scores.js';

const factories = [
  sinusoidalApi,
  directionsApi,
  safetensorsApi,
  randomApi,
  summaryApi,
  costApi,
  decomposeApi,
  dotProductsApi,
  oneLayerApi,
  scoresApi,
] as const;

/**
 * The functions of the small module, which the full module has too.
 *
 * @category Load the library
 */
export interface SmallSuperpose extends FunctionsOf<typeof factories> {
  /** Says which build runs. Relaxed SIMD has fused multiply-adds, so its last digits may differ. */
  readonly simd: Simd;
  /**
   * Returns the bytes of the module's memory, which only grows; 0 after the module breaks off, until the next
   * call restarts it.
   */
  memoryBytes(): number;
}

export const smallApi = ({ raw, simd }: Loaded): SmallSuperpose => ({
  simd,
  memoryBytes: raw.memoryBytes,
  ...functionsOf(factories, raw),
});
