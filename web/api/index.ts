// Superpose: adding and concatenating position embeddings, computed in C++ and WebAssembly.
// The same module for a page, a worker and Node.
import { type LoadOptions, loadModule } from './module.js';
import { type Superpose, superposeOver } from './superpose.js';

/**
 * Starts the WebAssembly module and returns the functions that run in it. Throws an Error whose
 * message is a plain sentence when the engine has no WebAssembly SIMD or the file cannot be had.
 */
export async function load(options: LoadOptions = {}): Promise<Superpose> {
  return superposeOver(await loadModule(options));
}

export type { Ranks, RanksInput } from './channels.js';
export type {
  AllWords,
  AllWordsOptions,
  CollisionSearch,
  CollisionSearchInput,
  CrossPair,
  NearestTokens,
  Neighbours,
  RandomCollisions,
} from './collisions.js';
export type {
  ConcatenateBlockDiagonalInput,
  ConcatenateFullInput,
  ConcatenateRawInput,
} from './concatenate.js';
export type { Cost, ModelShape, PositionCostWay } from './cost.js';
export type { DecomposeInput, Normalization } from './decompose.js';
export type {
  DecompositionLayer,
  DecompositionLayerInput,
  LayerTermsOptions,
} from './decompositionLayer.js';
export type { DotProductName, DotProducts, DotProductsInput, PairMoments } from './dotProducts.js';
export type {
  BertEmbeddings,
  BertEmbeddingsInput,
  FairseqSinusoidalOptions,
  LearnedPositionsOptions,
  MaeSinusoidalOptions,
  Tensor2TensorSinusoidalOptions,
  VitEmbeddingsInput,
} from './encodings.js';
export type { GramSpreads, OffsetMeans } from './gram.js';
export type { MeanDecomposition, MeanDecompositionInput } from './meanDecomposition.js';
export { loadMiniLM, type MiniLM, type MiniLMOptions, type Sentence } from './minilm.js';
export { type LoadOptions, type Simd, supportedSimd, wasmAddress } from './module.js';
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
export type { BucketOptions } from './relativePosition.js';
export type { RotaryConvention, RotateInput } from './rotary.js';
export type { SafetensorsEntry } from './safetensors.js';
export type { SchemeInfo, SchemeShape } from './schemeRegistry.js';
export {
  type AddedInput,
  type AlibiInput,
  type ConcatenatedBlockDiagonalInput,
  type ConcatenatedFullInput,
  type ConcatenatedRawInput,
  type DebertaInput,
  type DecoupledRopeInput,
  type DietAbsoluteInput,
  type DietRelativeInput,
  type NoPositionInput,
  type RopeInput,
  type SchemeInput,
  type SchemeScores,
  type ShawInput,
  schemeIds,
  schemeTermOf,
  type T5Input,
  type TransformerXlInput,
  type TupeInput,
} from './schemes.js';
export {
  type CombinedTerms,
  logitsOf,
  type PoolableScores,
  type PooledShares,
  type Scores,
  sharesOf,
  type Terms,
  termOf,
} from './scores.js';
export type { EncodingOptions, SpectrumOptions } from './shift.js';
export type { SinusoidalOptions } from './sinusoidal.js';
export type {
  AngleCosines,
  ChanceAngles,
  OverlapCurve,
  OverlapInput,
  PrincipalAnglesInput,
  SubspaceSizes,
} from './subspaces.js';
export type { Summary } from './summary.js';
export type { Superpose } from './superpose.js';
export type { Floats, FloatsOf, Linear, Precision, Table } from './table.js';
