// load() starts a module and puts the typed API over it.

import type { Superpose } from './fullModule.js';
import { type LoadOptions, start } from './module.js';
import { type SmallSuperpose, smallApi } from './smallModule.js';

/** With `module: 'small'`, starts the small module, which suffices for a page's first figure. */
export async function load(options: LoadOptions & { module: 'small' }): Promise<SmallSuperpose>;
/**
 * Starts the library, and returns `superpose`, the object that has all functions. Throws an Error whose
 * message is a plain sentence when the engine has no WebAssembly SIMD or a file cannot be read.
 *
 * @category Load the library
 */
export async function load(options?: LoadOptions & { module?: 'full' }): Promise<Superpose>;
export async function load(options: LoadOptions = {}): Promise<SmallSuperpose> {
  if (options?.module === 'small') return smallApi(await start(options));
  // Both are fetched at once. Promise.all also reports a failure of one while the other is still under way.
  const [module, { fullApi }] = await Promise.all([
    start(options),
    import('./fullModule.js').catch((cause: unknown) => {
      throw new Error('The JavaScript of the full module could not be fetched; is there a network?', {
        cause,
      });
    }),
  ]);
  return fullApi(module);
}
