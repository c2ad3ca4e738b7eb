// What goes into the modules and comes out of them, where a binding gives it a name: Typed<"…">. The build writes
// each module's own declarations after this, into build/declarations, and the typed API is compiled against both.
// biome-ignore-all lint/correctness/noUnusedVariables: bindings use them.
import type { Floats, Table } from '../../src/api/table.js';

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
  readonly apart: Integers;
}

/** The chosen heads of scores taken apart. */
export interface Heads<A extends Floats = Floats>
  extends Arrays<'residuals' | 'covariances' | 'variances' | 'shares'> {
  readonly terms: A;
  readonly logits: A;
}

interface EncoderOptions
  extends Numbers<'heads' | 'keyHeads' | 'activation'>,
    Flags<'preNorm' | 'causal'>,
    Record<'embeddingNorm' | 'finalNorm', Norm> {}

/** Where a map stands in the tensor that it is read from. */
interface MapPart extends Numbers<'place' | 'of'>, Flags<'transposed'> {
  readonly bias?: Floats | undefined;
}

interface EncoderLayer extends Record<'attentionNorm' | 'mlpNorm' | 'queryNorm' | 'keyNorm', Norm> {
  readonly frequencies: ArrayLike<number> | undefined;
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
