// Superpose: adding and concatenating position embeddings, computed in C++ and WebAssembly.
// The same module for a page, a worker and Node.
export type { Ranks, RanksInput } from './encodings/channels.js';
export type {
  BertEmbeddings,
  BertEmbeddingsInput,
  FairseqSinusoidalOptions,
  LearnedPositionsOptions,
  MaeSinusoidalOptions,
  Tensor2TensorSinusoidalOptions,
  VitEmbeddingsInput,
} from './encodings/encodings.js';
export type { GramSpreads, OffsetMeans } from './encodings/gram.js';
export type { BucketOptions } from './encodings/relativePosition.js';
export type { RotaryConvention, RotateInput } from './encodings/rotary.js';
export type { EncodingOptions, SinusoidalOptions, SpectrumOptions } from './encodings/sinusoidal.js';
export { type First, loadFirst } from './first.js';
export type {
  AllWords,
  AllWordsOptions,
  CollisionSearch,
  CollisionSearchInput,
  CrossPair,
  NearestTokens,
  Neighbours,
  RandomCollisions,
} from './geometry/collisions.js';
export type { MeanDecomposition, MeanDecompositionInput } from './geometry/meanDecomposition.js';
export type { ObliqueProjection, ObliqueProjectionInput } from './geometry/oblique.js';
export type {
  FoldOptions,
  OrderProbe,
  OrderProbeInput,
  PositionProbe,
  PositionProbeInput,
  TokenProbe,
  TokenProbeInput,
} from './geometry/probes.js';
export type {
  AngleCosines,
  ChanceAngles,
  OverlapCurve,
  OverlapInput,
  PrincipalAnglesInput,
  SubspaceSizes,
} from './geometry/subspaces.js';
export { loadMiniLM, type MiniLM, type MiniLMOptions, type Sentence } from './model/minilm.js';
export type { SafetensorsEntry } from './model/safetensors.js';
export { type LoadOptions, type Part, type Simd, supportedSimd, wasmAddress } from './module.js';
export type { RandomNormalOptions, RandomOptions } from './numeric/random.js';
export type { Summary } from './numeric/summary.js';
export type {
  ConcatenateBlockDiagonalInput,
  ConcatenateFullInput,
  ConcatenateRawInput,
} from './scores/concatenate.js';
export type { Cost, ModelShape, PositionCostWay } from './scores/cost.js';
export type { DecomposeInput, Normalization } from './scores/decompose.js';
export type {
  DecompositionLayer,
  DecompositionLayerInput,
  LayerTermsOptions,
} from './scores/decompositionLayer.js';
export type { DotProductName, DotProducts, DotProductsInput, PairMoments } from './scores/dotProducts.js';
export type { AttentionLayer, PermutationEffect, PermutationEffectInput } from './scores/order.js';
export type { ScoreRanks, ScoreRanksInput } from './scores/rank.js';
export type { SchemeInfo, SchemeShape } from './scores/schemeRegistry.js';
export type {
  AddedInput,
  AlibiInput,
  ConcatenatedBlockDiagonalInput,
  ConcatenatedFullInput,
  ConcatenatedRawInput,
  DebertaInput,
  DecoupledRopeInput,
  DietAbsoluteInput,
  DietRelativeInput,
  NoPositionInput,
  RopeInput,
  SchemeInput,
  ShawInput,
  T5Input,
  TransformerXlInput,
  TupeInput,
} from './scores/schemes.js';
export { type SchemeId, type SchemeScores, schemeIds, schemeTermOf } from './scores/schemeTerms.js';
export {
  type CombinedTerms,
  logitsOf,
  type PoolableScores,
  type PooledShares,
  type Scores,
  sharesOf,
  type Terms,
  termOf,
} from './scores/scores.js';
export { load, loadRest, type Superpose } from './superpose.js';
export type { Floats, FloatsOf, Linear, Precision, Table } from './table.js';
