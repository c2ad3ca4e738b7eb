// What goes into the modules and comes out of them, by the names that the bindings give it (src/wasm, Typed<"…">). The
// build writes the functions' own declarations, wasm/first.d.ts and second.d.ts, which import these.
import type { ObliqueProjection } from './geometry/oblique.js';
import type { Floats, Linear, Table } from './table.js';
import type { TrainingEvaluation } from './training/trainerResults.js';

export type { Ranks } from './encodings/channels.js';
export type { GramSpreads, OffsetMeans } from './encodings/gram.js';
export type { Wavelengths } from './encodings/wavelengths.js';
export type { NearestTokens, RandomCollisions } from './geometry/collisions.js';
export type { MeanDecomposition } from './geometry/meanDecomposition.js';
export type { OrderProbe, PositionProbe, TokenProbe } from './geometry/probes.js';
export type { AngleCosines, ChanceAngles, OverlapCurve } from './geometry/subspaces.js';
export type { Summary } from './numeric/summary.js';
export type { Cost } from './scores/cost.js';
export type { DotProducts } from './scores/dotProducts.js';
export type { AttentionLayer, PermutationEffect } from './scores/order.js';
export type { ScoreRanks } from './scores/rank.js';
export type { SchemeInfo } from './scores/schemeRegistry.js';
export type { CombinedTerms, PooledShares } from './scores/scores.js';
export type { SchemeFacts } from './training/checkedTrainer.js';
export type { LoudnessRecipe } from './training/trainerResults.js';
export type { Floats, Linear, Table, TrainingEvaluation };

/** Numbers, which the module copies. */
export type List = ArrayLike<number>;

/** Whole numbers. */
export type Integers = ArrayLike<number>;

type Flags<Names extends string> = Record<Names, boolean>;
type Numbers<Names extends string> = Record<Names, number>;
type Arrays<Names extends string> = Record<Names, Float64Array>;

export interface Norm extends Numbers<'kind' | 'epsilon'> {
  readonly gamma: Floats | undefined;
  readonly beta: Floats | undefined;
}

export interface Gauge {
  readonly kind: number;
  readonly means: Table | undefined;
  readonly apart: Integers;
}

/** The chosen heads of scores taken apart. */
export interface Heads<A extends Floats = Floats>
  extends Arrays<'residuals' | 'covariances' | 'variances' | 'shares'> {
  readonly terms: A;
  readonly logits: A;
}

/** What scores are pooled by. */
export type Pooled = Readonly<Pick<Heads, 'covariances' | 'variances'>>;

/** The projector is unusable when not exact. */
export type Oblique = Omit<ObliqueProjection, 'projector'> & { readonly projector: Float64Array };

export type ProbeOptions = Numbers<'penalty' | 'folds' | 'seed'> & Flags<'shuffled'>;
export type TokenProbeOptions = Numbers<'penalty' | 'heldOut' | 'trainingPairs' | 'testPairs' | 'seed'>;

/** Those parts and options of a scheme that the registry names. A table stands for a weight without a bias. */
export interface SchemeInput
  extends Numbers<'heads' | 'scale'>,
    Flags<'causal' | 'asked'>,
    Partial<Record<'position' | 'offsetKeys' | 'offsets' | 'bias' | 'distances' | 'segmentBias', Table>>,
    Partial<
      Record<
        'query' | 'key' | 'positionQuery' | 'positionKey' | 'offsetKey' | 'rotaryQuery' | 'rotaryKey',
        Table | Linear
      >
    >,
    Partial<Record<'u' | 'v', Floats>>,
    Partial<Numbers<'positionScale' | 'buckets' | 'maxDistance' | 'convention' | 'layout' | 'base'>>,
    Partial<Flags<'bidirectional' | 'resetCls'>> {
  readonly content: Table;
  readonly only: Integers;
  readonly segmentIds?: Integers;
  readonly stretch?: List;
}

export interface SchemeHeads extends Arrays<'residuals' | 'covariances' | 'variances' | 'shares'> {
  readonly termNames: string[];
  readonly terms: Float64Array;
  readonly logits: Float64Array;
  readonly weights: Float64Array;
}

/** Sizes that are left out are 0. */
export type SchemeSizes = Partial<
  Numbers<
    | 'd_model'
    | 'heads'
    | 'd_head'
    | 'd_position'
    | 'd_position_head'
    | 'd_offset'
    | 'positions'
    | 'clip'
    | 'buckets'
    | 'layers'
  >
>;

export type CostShape = Numbers<
  | 'vocabulary'
  | 'positions'
  | 'segments'
  | 'd_model'
  | 'heads'
  | 'layers'
  | 'ffnRatio'
  | 'sequence'
  | 'd_position'
  | 'd_position_head'
> &
  Flags<'pooler'>;

export interface EncoderOptions
  extends Numbers<'heads' | 'keyHeads' | 'activation' | 'cap'>,
    Flags<'preNorm' | 'parallel' | 'causal' | 'activated'>,
    Record<'embeddingNorm' | 'finalNorm', Norm> {
  readonly projection: Linear | undefined;
  readonly relativeBias: Table | undefined;
  readonly slopes: Floats | undefined;
  readonly distances: (Numbers<'buckets' | 'furthest'> & { rows: Table; norm: Norm }) | undefined;
}

/** Where a map stands in the tensor that it is read from. */
export interface MapPart extends Numbers<'place' | 'of' | 'heads'>, Flags<'transposed'> {
  readonly bias?: Floats | undefined;
  readonly factors?: List | undefined;
}

export interface EncoderLayer
  extends Numbers<'window' | 'gain'>,
    Record<'attentionNorm' | 'mlpNorm' | 'queryNorm' | 'keyNorm' | 'outputNorm' | 'downNorm', Norm> {
  readonly frequencies: List | undefined;
}

type ByLayer = readonly (Table | undefined)[];

/** What is asked of a forward. */
export interface Asked extends Numbers<'layers'>, Flags<'trace' | 'projections'> {
  readonly attended: Integers | undefined;
  readonly unread: ByLayer;
  readonly uncarried: ByLayer;
  readonly attention: ByLayer;
  readonly withheld: Table | undefined;
}

export interface StateMeans {
  readonly mean: Floats;
  readonly position: Table;
  readonly first: number;
}

export type ScoreMeans = Record<'query' | 'key', StateMeans>;

export type HeadOutputs = Arrays<
  'shares' | 'covariances' | 'variances' | 'residuals' | 'weighted' | 'outputs'
>;

export type CorpusMeans = Arrays<'mean' | 'position'>;
export type CorpusFindings = CorpusMeans &
  Numbers<'positionEnergy' | 'contextEnergy' | 'participationRatio' | 'overlap' | 'cosineWithFirst'>;

export interface Batch {
  readonly n: number;
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
}

export type Task = Numbers<'task' | 'n' | 'symbols' | 'back'>;

export type TrainerOptions = Numbers<
  | 'scheme'
  | 'table'
  | 'd_model'
  | 'd_position'
  | 'heads'
  | 'layers'
  | 'vocabulary'
  | 'classes'
  | 'positions'
  | 'base'
  | 'sigmaTokens'
  | 'sigmaPositions'
  | 'learningRate'
  | 'weightDecay'
  | 'warmUp'
  | 'steps'
  | 'beta1'
  | 'beta2'
  | 'epsilon'
  | 'clip'
  | 'seed'
> &
  Flags<
    | 'layerNorm'
    | 'mlp'
    | 'causal'
    | 'zeroScores'
    | 'fixedTokens'
    | 'fixedPositions'
    | 'tied'
    | 'scaleTokens'
    | 'single'
  > & { readonly stretch: List | undefined } & (
    | { readonly evaluation: Batch }
    | (Task & Numbers<'sequences' | 'evaluationSequences'> & { readonly evaluation?: undefined })
  );

export type Fusion = Numbers<'tokens' | 'positions' | 'interaction'> & { without: TrainingEvaluation };

export interface Parameter extends Numbers<'rows' | 'columns'> {
  readonly name: string;
  readonly data: Floats;
}
