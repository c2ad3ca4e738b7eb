// What MiniLM's layers are asked for.
import type { FloatsOf, Precision, Table } from '../table.js';
import type { CorpusMeans } from './corpusMeans.js';
import type { EncoderDecomposeInput, ForwardInput } from './encoder.js';
import type { SlicesWatch } from './slices.js';

export interface MiniLMForwardOptions<P extends Precision = 'float32'>
  extends ForwardInput<FloatsOf<P>>,
    SlicesWatch {
  /** Default float32. */
  precision?: P;
  /** Embedding rows [n, 384], by name, in place of the sentence’s own; from summands() or changed(). */
  summands?: Readonly<Record<string, Table<FloatsOf<P>>>>;
}

export interface LayerDecomposeOptions<P extends Precision = 'float64'>
  extends Omit<EncoderDecomposeInput<FloatsOf<P>>, 'means'>,
    SlicesWatch {
  /** Default float64. */
  precision?: P;
  /** From corpusMeans(); needed for the way `mean`, and with its `scores` for `mechanism`. */
  means?: Pick<CorpusMeans, 'states' | 'scores'>;
  /** Embedding rows [n, 384], by name, in place of the sentence’s own. */
  summands?: Readonly<Record<string, Table<FloatsOf<P>>>>;
}
