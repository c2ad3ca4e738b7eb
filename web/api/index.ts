// Superpose: adding and concatenating position embeddings, computed in C++ and WebAssembly.
// The same module for a page, a worker and Node.
import { type ChannelsApi, channelsApi } from './channels.js';
import { type CollisionsApi, collisionsApi } from './collisions.js';
import { type ConcatenateApi, concatenateApi } from './concatenate.js';
import { type CosinesApi, cosinesApi } from './cosines.js';
import { type CostApi, costApi } from './cost.js';
import { type DecomposeApi, decomposeApi } from './decompose.js';
import { type DotProductsApi, dotProductsApi } from './dotProducts.js';
import { type EncodingsApi, encodingsApi } from './encodings.js';
import { type GramApi, gramApi } from './gram.js';
import { type MeanDecompositionApi, meanDecompositionApi } from './meanDecomposition.js';
import { type LoadOptions, loadModule, type Simd } from './module.js';
import { type ObliqueApi, obliqueApi } from './oblique.js';
import { type OrderApi, orderApi } from './order.js';
import { type ProbesApi, probesApi } from './probes.js';
import { type RandomApi, randomApi } from './random.js';
import { type RankApi, rankApi } from './rank.js';
import { type RelativePositionApi, relativePositionApi } from './relativePosition.js';
import { type RotaryApi, rotaryApi } from './rotary.js';
import { type SafetensorsApi, safetensorsApi } from './safetensors.js';
import { type SchemeRegistryApi, schemeRegistryApi } from './schemeRegistry.js';
import { type SchemesApi, schemesApi } from './schemes.js';
import { type ScoresApi, scoresApi } from './scores.js';
import { type ShiftApi, shiftApi } from './shift.js';
import { type SinusoidalApi, sinusoidalApi } from './sinusoidal.js';
import { type SubspacesApi, subspacesApi } from './subspaces.js';

export interface Superpose
  extends SinusoidalApi,
    RandomApi,
    DotProductsApi,
    DecomposeApi,
    ConcatenateApi,
    ScoresApi,
    SafetensorsApi,
    EncodingsApi,
    RelativePositionApi,
    RotaryApi,
    SchemesApi,
    SchemeRegistryApi,
    ShiftApi,
    GramApi,
    ChannelsApi,
    CosinesApi,
    SubspacesApi,
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
    ...encodingsApi(raw),
    ...relativePositionApi(raw),
    ...rotaryApi(raw),
    ...schemesApi(raw),
    ...schemeRegistryApi(raw),
    ...shiftApi(raw),
    ...gramApi(raw),
    ...channelsApi(raw),
    ...cosinesApi(raw),
    ...subspacesApi(raw),
    ...collisionsApi(raw),
    ...costApi(raw),
    ...meanDecompositionApi(raw),
    ...obliqueApi(raw),
    ...orderApi(raw),
    ...probesApi(raw),
    ...rankApi(raw),
  };
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
} from './collisions.js';
export type {
  ConcatenateBlockDiagonalInput,
  ConcatenateFullInput,
  ConcatenateRawInput,
} from './concatenate.js';
export type { Cost, ModelShape, PositionCostWay } from './cost.js';
export type { DecomposeInput, Normalization } from './decompose.js';
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
export type { GramSpreads } from './gram.js';
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
  type AlibiInput,
  type DebertaInput,
  type DecoupledRopeInput,
  type DietAbsoluteInput,
  type DietRelativeInput,
  type NoPositionInput,
  type RopeInput,
  type SchemeInput,
  type SchemeScores,
  type ShawInput,
  schemeTermOf,
  type T5Input,
  type TransformerXlInput,
  type TupeInput,
} from './schemes.js';
export { type CombinedTerms, logitsOf, type Scores, sharesOf, termOf } from './scores.js';
export type { EncodingOptions, SpectrumOptions } from './shift.js';
export type { SinusoidalOptions } from './sinusoidal.js';
export type {
  ChanceAngles,
  OverlapCurve,
  OverlapInput,
  PrincipalAnglesInput,
  SubspaceSizes,
} from './subspaces.js';
export type { Floats, FloatsOf, Linear, Precision, Table } from './table.js';
