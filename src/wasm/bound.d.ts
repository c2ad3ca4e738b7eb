// What goes into the modules and comes out of them, by the names that the bindings give it: Typed<"…">. The build writes
// each module's own declarations after this, into build/declarations, and the typed API is compiled against both.
// biome-ignore-all lint/correctness/noUnusedImports: bindings use them.
// biome-ignore-all lint/correctness/noUnusedVariables: bindings use them.
import type { Ranks } from '../../src/api/encodings/channels.js';
import type { GramSpreads, OffsetMeans } from '../../src/api/encodings/gram.js';
import type { Wavelengths } from '../../src/api/encodings/wavelengths.js';
import type { NearestTokens } from '../../src/api/geometry/collisions.js';
import type { MeanDecomposition } from '../../src/api/geometry/meanDecomposition.js';
import type { ObliqueProjection } from '../../src/api/geometry/oblique.js';
import type { AngleCosines, ChanceAngles, OverlapCurve } from '../../src/api/geometry/subspaces.js';
import type { Summary } from '../../src/api/numeric/summary.js';
import type { Cost } from '../../src/api/scores/cost.js';
import type { DotProducts } from '../../src/api/scores/dotProducts.js';
import type { OneLayer as OneLayerFound } from '../../src/api/scores/oneLayer.js';
import type { SchemeInfo } from '../../src/api/scores/schemeRegistry.js';
import type { CombinedTerms, PooledShares } from '../../src/api/scores/scores.js';
import type { Floats, Linear, Table } from '../../src/api/table.js';
import type { SchemeFacts } from '../../src/api/training/checkedTrainer.js';
import type { TrainingTerm } from '../../src/api/training/trainerOptions.js';
import type { LoudnessRecipe, TrainingEvaluation } from '../../src/api/training/trainerResults.js';

/** Numbers, which the module copies. */
type List = ArrayLike<number>;

/** Whole numbers. */
type Integers = ArrayLike<number>;

type Flags<Names extends string> = Record<Names, boolean>;
type Numbers<Names extends string> = Record<Names, number>;
type Arrays<Names extends string> = Record<Names, Float64Array>;

interface Norm extends Numbers<'kind' | 'epsilon'> {
  readonly gamma: Floats | undefined;
  readonly beta: Floats | undefined;
}

interface Gauge {
  readonly kind: number;
  readonly means: Table | undefined;
  readonly apart: Integers;
}

/** `products` are the matrices, one below the other. */
type DotProductsOut = Pick<DotProducts, 'moments' | 'correlation'> & Arrays<'products'>;

/** The chosen heads of scores taken apart. */
export interface Heads<A extends Floats = Floats>
  extends Arrays<'residuals' | 'covariances' | 'variances' | 'shares'> {
  readonly terms: A;
  readonly logits: A;
}

type OneLayer = Omit<OneLayerFound, 'weights'> & { readonly weights: readonly Float64Array[] };

/** What scores are pooled by. */
type Pooled = Readonly<Pick<Heads, 'covariances' | 'variances'>>;

/** The projector is unusable when not exact. */
type Oblique = Omit<ObliqueProjection, 'projector'> & { readonly projector: Float64Array };

/** Those parts and options of a scheme that the registry names. A table stands for a weight without a bias. */
interface SchemeInput
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
}

interface SchemeHeads extends Arrays<'residuals' | 'covariances' | 'variances' | 'shares'> {
  readonly termNames: string[];
  readonly terms: Float64Array;
  readonly logits: Float64Array;
  readonly weights: Float64Array;
}

/** Sizes that are left out are 0. */
type SchemeSizes = Partial<
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

type ModelShape = Numbers<
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

/** Enumerations are numbered in the order of their declarations. */
type SinusoidalOptions = Numbers<'positions' | 'd_model' | 'layout' | 'spacing' | 'base' | 'firstPosition'>;
type RotaryOptions = Numbers<'heads' | 'layout' | 'base' | 'firstPosition' | 'step'>;
type StretchOptions = Numbers<'way' | 'factor' | 'trained' | 'alpha' | 'beta'>;
type T5Options = Flags<'bidirectional'> & Numbers<'buckets' | 'maxDistance'>;
type OneLayerOptions = Flags<'undoes'> & Numbers<'pull' | 'scale' | 'norm'>;

type FormGrams = GramSpreads['matrices'];
type BertSummands = Arrays<'position' | 'token_type' | 'sum'>;
type MovedMean = Arrays<'from' | 'to'>;
type Loudness = Numbers<'tokens' | 'positions'>;
type RowOverlap = Numbers<'overlap' | 'chance'>;
type RowCoordinates = Arrays<'tokens' | 'positions'>;
type TrainedShares = Arrays<'byHead' | 'mean'>;

interface EncoderOptions
  extends Numbers<'heads' | 'keyHeads' | 'activation'>,
    Flags<'preNorm' | 'causal'>,
    Record<'embeddingNorm' | 'finalNorm', Norm> {}

/** Where a map stands in the tensor that it is read from. */
interface MapPart extends Numbers<'place' | 'of'>, Flags<'transposed'> {
  readonly bias?: Floats | undefined;
}

interface EncoderLayer extends Record<'attentionNorm' | 'mlpNorm' | 'queryNorm' | 'keyNorm', Norm> {
  readonly frequencies: List | undefined;
}

/** What is asked of a forward. */
interface Asked extends Numbers<'layers'>, Flags<'trace' | 'projections'> {
  readonly attention: readonly (Table | undefined)[];
}

interface StateMeans {
  readonly mean: Floats;
  readonly position: Table;
  readonly first: number;
}

type ScoreMeans = Record<'query' | 'key', StateMeans>;

type PositionFindings = Arrays<'mean' | 'position'> &
  Numbers<'positionEnergy' | 'participationRatio' | 'overlap' | 'cosineWithFirst'>;

interface Batch {
  readonly n: number;
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
}

type Task = Numbers<'task' | 'n'>;

type TrainerOptions = Numbers<
  | 'scheme'
  | 'table'
  | 'd_model'
  | 'd_position'
  | 'heads'
  | 'layers'
  | 'vocabulary'
  | 'classes'
  | 'positions'
  | 'sigmaTokens'
  | 'sigmaPositions'
  | 'learningRate'
  | 'weightDecay'
  | 'schedule'
  | 'warmUp'
  | 'steps'
  | 'beta1'
  | 'beta2'
  | 'epsilon'
  | 'clip'
  | 'seed'
> &
  Flags<'layerNorm' | 'causal' | 'zeroScores' | 'fixedTokens' | 'fixedPositions' | 'scaleTokens'> &
  (
    | { readonly evaluation: Batch }
    | (Task & Numbers<'sequences' | 'evaluationSequences'> & { readonly evaluation?: undefined })
  );

type KeptTerms = Flags<TrainingTerm>;

interface Parameter extends Numbers<'rows' | 'columns'> {
  readonly name: string;
  readonly data: Float32Array;
}
