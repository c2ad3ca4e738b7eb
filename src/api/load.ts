import { type LoadOptions, start } from './module.js';
import { type SmallSuperpose, smallApi } from './small.js';
import type { Superpose } from './whole.js';

/** Starts the small module, enough for a page's first figure, and returns the functions that run in it. */
export async function load(options: LoadOptions & { module: 'small' }): Promise<SmallSuperpose>;
/**
 * Starts the whole module and returns the functions that run in it. Throws an Error whose message is a plain sentence
 * when the engine has no WebAssembly SIMD or a file cannot be read.
 */
export async function load(options?: LoadOptions & { module?: 'whole' }): Promise<Superpose>;
export async function load(options: LoadOptions = {}): Promise<SmallSuperpose> {
  if (options?.module === 'small') return smallApi(await start(options));
  // Both are fetched at once, and what fails while the other is under way is heard.
  const [module, { wholeApi }] = await Promise.all([
    start(options),
    import('./whole.js').catch((cause: unknown) => {
      throw new Error('The JavaScript of the whole module could not be fetched; is there a network?', {
        cause,
      });
    }),
  ]);
  return wholeApi(module);
}
