// The transformer stack that a model keeps in the module's memory: who makes it, adds layers to it and frees
// it. Calls take turns, since all of them use the same stack and its last forward pass.
import type { ReadLayer } from './stackLayer.js';
import type { TransformerLayer, TransformerStack } from './transformerStack.js';
import { breath, type CountedWatch, modelDeleted } from './watch.js';

/** Where the layers of a stack come from. */
export interface LayerSource {
  /** A transformer stack without layers. */
  begin(watch: CountedWatch): Promise<TransformerStack>;
  /** The weights of a layer, from 0, or how to read them. */
  layer(number: number, watch: CountedWatch): Promise<ReadLayer>;
  /** How many bytes those are in the file. */
  bytes(number: number): number;
}

export interface SharedStack {
  /**
   * Waits for its turn, adds those of the first `layers` layers that are missing, and passes the stack to
   * `work`. Layers that have been added stay, whatever happens. `work` must not call use().
   */
  use<T>(layers: number, watch: CountedWatch, work: (stack: TransformerStack) => T | Promise<T>): Promise<T>;
  /** Frees the stack for good: calls that are running, and later ones, end with an error. */
  delete(): void;
}

export function sharedStack({ begin, layer, bytes }: LayerSource): SharedStack {
  let stack: TransformerStack | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();
  let isDeleted = false;

  const withLayers = async (layers: number, watch: CountedWatch): Promise<TransformerStack> => {
    // The stack is lost when the module has aborted.
    if (!stack?.isAlive()) stack = undefined;
    // All bytes are announced at the start, though layers are read one at a time.
    for (let number = stack?.layers ?? 0; number < layers; number++) watch.willRead(bytes(number));
    stack ??= await begin(watch);
    // delete() came while the stack was made.
    if (isDeleted) stack.delete();
    const current = stack;
    const announced = { ...watch, willRead: () => {} };
    while (current.layers < layers) {
      watch.signal?.throwIfAborted();
      const next = await layer(current.layers, announced);
      watch.signal?.throwIfAborted();
      // Callers of the library pass layers that are all in memory, so its type knows no others.
      await current.addLayer(next as TransformerLayer);
    }
    return current;
  };

  return {
    use(layers, watch, work) {
      const turn = lastTurn.then(async () => {
        try {
          if (!isDeleted) return await work(await withLayers(layers, watch));
        } catch (error) {
          if (!isDeleted) throw error;
        }
        throw modelDeleted();
      });
      // Whoever waits for this turn reads the forward pass before the next turn begins.
      lastTurn = turn.then(breath, breath);
      return turn;
    },
    delete() {
      isDeleted = true;
      stack?.delete();
    },
  };
}
