// All that the library does, over a started module.
import { type ChannelsApi, channelsApi } from './channels.js';
import { type CollisionsApi, collisionsApi } from './collisions.js';
import { type ConcatenateApi, concatenateApi } from './concatenate.js';
import { type CosinesApi, cosinesApi } from './cosines.js';
import { type CostApi, costApi } from './cost.js';
import { type DecomposeApi, decomposeApi } from './decompose.js';
import { type DecompositionLayerApi, decompositionLayerApi } from './decompositionLayer.js';
import { type DirectionsApi, directionsApi } from './directions.js';
import { type DotProductsApi, dotProductsApi } from './dotProducts.js';
import { type EncodingsApi, encodingsApi } from './encodings.js';
import { type GramApi, gramApi } from './gram.js';
import { type MeanDecompositionApi, meanDecompositionApi } from './meanDecomposition.js';
import type { Loaded, Simd } from './module.js';
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
import { type SummaryApi, summaryApi } from './summary.js';

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
