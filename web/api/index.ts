// Superpose: adding and concatenating position embeddings, computed in C++ and WebAssembly.
// The same module for a page, a worker and Node.

import { type CollisionsApi, collisionsApi } from './collisions.js';
import { type ConcatenateApi, concatenateApi } from './concatenate.js';
import { type CostApi, costApi } from './cost.js';
import { type DecomposeApi, decomposeApi } from './decompose.js';
import { type DotProductsApi, dotProductsApi } from './dotProducts.js';
import { type MeanDecompositionApi, meanDecompositionApi } from './meanDecomposition.js';
import { type LoadOptions, loadModule, type Simd } from './module.js';
import { type ObliqueApi, obliqueApi } from './oblique.js';
import { type OrderApi, orderApi } from './order.js';
import { type ProbesApi, probesApi } from './probes.js';
import { type RandomApi, randomApi } from './random.js';
import { type RankApi, rankApi } from './rank.js';
import { type SafetensorsApi, safetensorsApi } from './safetensors.js';
import { type ScoresApi, scoresApi } from './scores.js';
import { type SinusoidalApi, sinusoidalApi } from './sinusoidal.js';

export interface Superpose
  extends SinusoidalApi,
    RandomApi,
    DotProductsApi,
    DecomposeApi,
    ConcatenateApi,
    ScoresApi,
    SafetensorsApi,
    CollisionsApi,
    CostApi,
    MeanDecompositionApi,
    ObliqueApi,
    OrderApi,
    ProbesApi,
    RankApi {
  /** The build that runs: relaxed SIMD has fused multiply-adds, so its last digits may differ. */
  readonly simd: Simd;
  /** Bytes of the module's memory, which only grows. */
  memoryBytes(): number;
}

/**
 * Starts the WebAssembly module and returns the functions that run in it. Throws an Error whose
 * message is a plain sentence when the engine has no WebAssembly SIMD or the file cannot be had.
 */
export async function load(options: LoadOptions = {}): Promise<Superpose> {
  const { raw, simd } = await loadModule(options);
  return {
    simd,
    memoryBytes: () => raw.HEAPU8.byteLength,
    ...sinusoidalApi(raw),
    ...randomApi(raw),
    ...dotProductsApi(raw),
    ...decomposeApi(raw),
    ...concatenateApi(raw),
    ...scoresApi(raw),
    ...safetensorsApi(raw),
    ...collisionsApi(raw),
    ...costApi(raw),
    ...meanDecompositionApi(raw),
    ...obliqueApi(raw),
    ...orderApi(raw),
    ...probesApi(raw),
    ...rankApi(raw),
  };
}

export type {
  AllWords,
  AllWordsOptions,
  CollisionSearch,
  CollisionSearchInput,
  CrossPair,
  NearestTokens,
  Neighbours,
} from './collisions.js';
export type {
  ConcatenateBlockDiagonalInput,
  ConcatenateFullInput,
  ConcatenateRawInput,
} from './concatenate.js';
export type { Cost, ModelShape, PositionCostWay } from './cost.js';
export type { DecomposeInput, Normalization } from './decompose.js';
export type { DotProductName, DotProducts, DotProductsInput, PairMoments } from './dotProducts.js';
export type { MeanDecomposition, MeanDecompositionInput } from './meanDecomposition.js';
export { loadMiniLM, type MiniLM, type MiniLMOptions, type Sentence } from './minilm.js';
export { type LoadOptions, type Simd, supportedSimd } from './module.js';
export type { ObliqueProjection, ObliqueProjectionInput } from './oblique.js';
export type { AttentionLayer, PermutationEffect, PermutationEffectInput } from './order.js';
export type {
  FoldOptions,
  OrderProbe,
  OrderProbeInput,
  PositionProbe,
  PositionProbeInput,
  TokenProbe,
  TokenProbeInput,
} from './probes.js';
export type { RandomNormalOptions, RandomOptions } from './random.js';
export type { ScoreRanks, ScoreRanksInput } from './rank.js';
export type { SafetensorsEntry } from './safetensors.js';
export { type CombinedTerms, logitsOf, type Scores, sharesOf, termOf } from './scores.js';
export type { SinusoidalOptions } from './sinusoidal.js';
export type { Floats, FloatsOf, Linear, Precision, Table } from './table.js';
