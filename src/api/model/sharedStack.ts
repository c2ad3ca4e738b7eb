// The transformer stack that a model keeps in the module's memory: who makes it, reads its layers and frees
// it. Calls take turns, since all of them use the same stack and its last forward pass.
import * as check from '../check.js';
import type { ReadLayer } from './readLayer.js';
import { type LayerReader, type ResidentStack, residentStackOf } from './residentStack.js';
import type { TransformerStack } from './transformerStack.js';
import { breath, type CountedWatch, modelDeleted } from './watch.js';

/** Where the layers of a stack come from. */
export interface LayerSource extends Pick<LayerReader, 'layers' | 'inner' | 'layerBytes'> {
  /** Makes a transformer stack without layers. */
  begin(watch: CountedWatch): Promise<TransformerStack>;
  /** The weights of a layer, from 0, or how to read them. */
  layer(number: number, watch: CountedWatch): Promise<ReadLayer>;
  /** How many bytes a layer has in the file. */
  bytes(number: number): number;
  /** How many bytes a layer takes in memory. */
  readonly bytesInMemory: number;
}

export interface SharedStack {
  /**
   * Waits for its turn and passes the stack to `work`. Layers that are not in memory are read when they run.
   * Layers stay as long as they fit; when room is needed, the last ones are released first. `needed` lists
   * the layers that `work` runs or takes apart, in that order. `work` must not call use().
   */
  use<T>(
    needed: (stack: TransformerStack | undefined) => readonly number[],
    watch: CountedWatch,
    work: (stack: TransformerStack) => T | Promise<T>,
  ): Promise<T>;
  /** Frees the stack for good: calls that are running, and later ones, end with an error. */
  delete(): void;
}

const no = () => false;

export function sharedStack(source: LayerSource): SharedStack {
  let stack: TransformerStack | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();
  let isDeleted = false;

  /** The layers that will be read when these are needed in this order. */
  const readsFor = (needed: readonly number[]): readonly number[] => {
    const { layers, layerBytes, bytesInMemory } = source;
    const resident = stack && residentStackOf.get(stack);
    const residentLayers = new Set(
      Array.from({ length: layers }, (_, number) => number).filter(resident?.isResident ?? no),
    );
    const most =
      Math.min(layerBytes, residentLayers.size * bytesInMemory + check.freeBytes()) / bytesInMemory;
    const reads: number[] = [];
    for (const number of needed) {
      if (residentLayers.has(number)) continue;
      reads.push(number);
      while (residentLayers.size > 0 && residentLayers.size + 1 > most)
        residentLayers.delete(Math.max(...residentLayers));
      residentLayers.add(number);
    }
    return reads;
  };

  const stackFor = async (
    needed: Parameters<SharedStack['use']>[0],
    watch: CountedWatch,
  ): Promise<TransformerStack> => {
    // The stack is lost when the module has aborted.
    if (!stack?.isAlive()) stack = undefined;
    // All bytes are announced at the start, though layers are read one at a time.
    for (const number of readsFor(needed(stack))) watch.willRead(source.bytes(number));
    stack ??= await source.begin(watch);
    // delete() was called while the stack was made.
    if (isDeleted) stack.delete();
    const announced = { ...watch, willRead: () => {} };
    const resident = residentStackOf.get(stack) as ResidentStack;
    resident.reader = { ...source, read: (number) => source.layer(number, announced) };
    return stack;
  };

  return {
    use(needed, watch, work) {
      const turn = lastTurn.then(async () => {
        try {
          if (!isDeleted) return await work(await stackFor(needed, watch));
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
