// All that the library does, over a started module.
import { type ChannelsApi, channelsApi } from './encodings/channels.js';
import { type EncodingsApi, encodingsApi } from './encodings/encodings.js';
import { type GramApi, gramApi } from './encodings/gram.js';
import { type RelativePositionApi, relativePositionApi } from './encodings/relativePosition.js';
import { type RotaryApi, rotaryApi } from './encodings/rotary.js';
import { type ShiftApi, shiftApi } from './encodings/shift.js';
import { type SinusoidalApi, sinusoidalApi } from './encodings/sinusoidal.js';
import { type CollisionsApi, collisionsApi } from './geometry/collisions.js';
import { type CosinesApi, cosinesApi } from './geometry/cosines.js';
import { type DirectionsApi, directionsApi } from './geometry/directions.js';
import { type MeanDecompositionApi, meanDecompositionApi } from './geometry/meanDecomposition.js';
import { type ObliqueApi, obliqueApi } from './geometry/oblique.js';
import { type ProbesApi, probesApi } from './geometry/probes.js';
import { type SubspacesApi, subspacesApi } from './geometry/subspaces.js';
import { type SafetensorsApi, safetensorsApi } from './model/safetensors.js';
import type { Loaded, Simd } from './module.js';
import { type RandomApi, randomApi } from './numeric/random.js';
import { type SummaryApi, summaryApi } from './numeric/summary.js';
import { type ConcatenateApi, concatenateApi } from './scores/concatenate.js';
import { type CostApi, costApi } from './scores/cost.js';
import { type DecomposeApi, decomposeApi } from './scores/decompose.js';
import { type DecompositionLayerApi, decompositionLayerApi } from './scores/decompositionLayer.js';
import { type DotProductsApi, dotProductsApi } from './scores/dotProducts.js';
import { type OrderApi, orderApi } from './scores/order.js';
import { type RankApi, rankApi } from './scores/rank.js';
import { type SchemeRegistryApi, schemeRegistryApi } from './scores/schemeRegistry.js';
import { type SchemesApi, schemesApi } from './scores/schemes.js';
import { type ScoresApi, scoresApi } from './scores/scores.js';

export interface Superpose
  extends SinusoidalApi,
    RandomApi,
    DotProductsApi,
    DirectionsApi,
    DecomposeApi,
    DecompositionLayerApi,
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
    SummaryApi,
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

/** The functions that run in this module. */
export function superposeOver({ raw, simd }: Loaded): Superpose {
  return {
    simd,
    memoryBytes: () => raw.HEAPU8.byteLength,
    ...sinusoidalApi(raw),
    ...randomApi(raw),
    ...dotProductsApi(raw),
    ...directionsApi(raw),
    ...decomposeApi(raw),
    ...decompositionLayerApi(raw),
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
    ...summaryApi(raw),
    ...collisionsApi(raw),
    ...costApi(raw),
    ...meanDecompositionApi(raw),
    ...obliqueApi(raw),
    ...orderApi(raw),
    ...probesApi(raw),
    ...rankApi(raw),
  };
}
