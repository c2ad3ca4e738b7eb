// The encoders that a model keeps in the module's memory: who makes them, adds layers to them and frees them.
// Calls take turns, since all of them use the same encoder and its last forward.
import type { FloatsOf, Precision } from '../table.js';
import type { Encoder } from './encoder.js';
import { type ReadLayer, stepsOf } from './steps.js';
import { breath, type CountedWatch, gone } from './watch.js';

/** Where an encoder comes from, piece by piece. */
export interface EncoderParts {
  /** An encoder without layers. */
  begin<P extends Precision>(precision: P, watch: CountedWatch): Promise<Encoder<FloatsOf<P>>>;
  /** The weights of a layer, from 0, or how to read them. */
  layer<P extends Precision>(
    number: number,
    precision: P,
    watch: CountedWatch,
  ): Promise<ReadLayer<FloatsOf<P>>>;
  /** How many bytes those are in the file. */
  bytes(number: number): number;
  /** Whether there is room for one precision alone, so that another one's encoder is freed first. */
  alone: boolean;
}

export interface Resident {
  /**
   * Waits for its turn, adds what is missing of the first layers, and hands the encoder to `work`. What has
   * arrived stays, whatever happens. `work` must not call use().
   */
  use<P extends Precision, T>(
    precision: P,
    layers: number,
    watch: CountedWatch,
    work: (encoder: Encoder<FloatsOf<P>>) => T | Promise<T>,
  ): Promise<T>;
  /** Frees all encoders, for good: calls that are under way, and later ones, end with an error. */
  delete(): void;
}

export function resident({ begin, layer, bytes, alone }: EncoderParts): Resident {
  const encoders = new Map<Precision, Encoder>();
  let turn: Promise<unknown> = Promise.resolve();
  let deleted = false;

  /** Frees those of other precisions than this one. */
  const free = (kept?: Precision) => {
    for (const [precision, encoder] of encoders) {
      if (precision === kept) continue;
      encoder.delete();
      encoders.delete(precision);
    }
  };

  const grown = async <P extends Precision>(
    precision: P,
    layers: number,
    watch: CountedWatch,
  ): Promise<Encoder<FloatsOf<P>>> => {
    if (alone) free(precision);
    let encoder = encoders.get(precision) as Encoder<FloatsOf<P>> | undefined;
    // It may have been lost when the module broke off.
    if (!encoder?.isAlive()) encoder = undefined;
    // The bytes of all layers from the start, though they are read one at a time.
    for (let number = encoder?.layers ?? 0; number < layers; number++) watch.wanted(bytes(number));
    encoder ??= await begin(precision, watch);
    encoders.set(precision, encoder as Encoder);
    // It came too late to be freed with the others.
    if (deleted) free();
    const counted = { ...watch, wanted: () => {} };
    while (encoder.layers < layers) {
      watch.signal?.throwIfAborted();
      const next = await layer(encoder.layers, precision, counted);
      watch.signal?.throwIfAborted();
      await stepsOf(encoder).addLayer(next);
    }
    return encoder;
  };

  return {
    use(precision, layers, watch, work) {
      const mine = turn.then(async () => {
        try {
          if (!deleted) return await work(await grown(precision, layers, watch));
        } catch (error) {
          if (!deleted) throw error;
        }
        throw gone();
      });
      // Whoever waits for this turn takes what it wants of the forward before the next one begins.
      turn = mine.then(breath, breath);
      return mine;
    },
    delete() {
      deleted = true;
      free();
    },
  };
}
