// The stack that a model keeps in the module's memory: who makes it, adds layers to it and frees it.
// Calls take turns, since all of them use the same stack and its last forward.
import type { ReadLayer, TransformerLayer, TransformerStack } from './transformerStack.js';
import { breath, type CountedWatch, gone } from './watch.js';

/** Where a transformer stack comes from, piece by piece. */
export interface StackSource {
  /** A transformer stack without layers. */
  begin(watch: CountedWatch): Promise<TransformerStack>;
  /** The weights of a layer, from 0, or how to read them. */
  layer(number: number, watch: CountedWatch): Promise<ReadLayer>;
  /** How many bytes those are in the file. */
  bytes(number: number): number;
}

export interface Resident {
  /**
   * Waits for its turn, adds what is missing of the first layers, and hands the stack to `work`. What has
   * arrived stays, whatever happens. `work` must not call use().
   */
  use<T>(layers: number, watch: CountedWatch, work: (stack: TransformerStack) => T | Promise<T>): Promise<T>;
  /** Frees the stack, for good: calls that are under way, and later ones, end with an error. */
  delete(): void;
}

export function resident({ begin, layer, bytes }: StackSource): Resident {
  let held: TransformerStack | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let deleted = false;

  const grown = async (layers: number, watch: CountedWatch): Promise<TransformerStack> => {
    // It may have been lost when the module broke off.
    if (!held?.isAlive()) held = undefined;
    // The bytes of all layers from the start, though they are read one at a time.
    for (let number = held?.layers ?? 0; number < layers; number++) watch.wanted(bytes(number));
    held ??= await begin(watch);
    // It came too late to be freed.
    if (deleted) held.delete();
    const stack = held;
    const counted = { ...watch, wanted: () => {} };
    while (stack.layers < layers) {
      watch.signal?.throwIfAborted();
      const next = await layer(stack.layers, counted);
      watch.signal?.throwIfAborted();
      // Its maps are read while they are added; callers' own are whole.
      await stack.addLayer(next as TransformerLayer);
    }
    return stack;
  };

  return {
    use(layers, watch, work) {
      const mine = turn.then(async () => {
        try {
          if (!deleted) return await work(await grown(layers, watch));
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
      held?.delete();
    },
  };
}
