// Everything the library does, over two started modules.
import type { First } from './first.js';
import type { LoadOptions } from './module.js';
import type { Second } from './second.js';

export interface Superpose extends First, Second {
  /**
   * Bytes of both modules' memory, which only grows; 0 after one breaks off, until the next call restarts it.
   */
  memoryBytes(): number;
}

/** The functions of both. */
export const together = (first: First, second: Second): Superpose => ({
  ...first,
  ...second,
  memoryBytes: () => first.memoryBytes() + second.memoryBytes(),
});

/**
 * Starts the second module beside the first, for a page that showed its first figure with the first alone,
 * and returns the functions of both. Throws as load() does.
 */
export async function loadRest(first: First, options: LoadOptions = {}): Promise<Superpose> {
  const { secondOver, startSecond } = await import('./second.js').catch((cause: unknown) => {
    throw new Error('The JavaScript of the second module could not be fetched; is there a network?', {
      cause,
    });
  });
  return together(first, secondOver(await startSecond({ ...options, simd: first.simd }), first));
}
