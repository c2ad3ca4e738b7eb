// Starts the second module beside the first.
import type { First } from './first.js';
import type { Loaded, LoadOptions, RawSecond } from './module.js';
import { type BothModules, type Superpose, together } from './superpose.js';

/** The second module of what loadBoth() gave. */
const started = new WeakMap<First, Loaded<RawSecond>>();

const fetched = <T>(code: Promise<T>): Promise<T> =>
  code.catch((cause: unknown) => {
    throw new Error('The JavaScript of the second module could not be fetched; is there a network?', {
      cause,
    });
  });

/**
 * Starts the second module beside the first, for a page that showed its first figure with the first alone,
 * and returns the functions of both, without encoders. Throws as load() does.
 */
export async function loadBoth(first: First, options: LoadOptions = {}): Promise<BothModules> {
  const { secondOver, startSecond } = await fetched(import('./second.js'));
  const module = await startSecond({ ...options, simd: first.simd });
  const both = together(first, secondOver(module, first));
  started.set(both, module);
  return both;
}

/**
 * Returns the functions of both modules. Starts the second one, unless `first` is what loadBoth() gave. Throws
 * as load() does.
 */
export async function loadRest(first: First, options: LoadOptions = {}): Promise<Superpose> {
  const [both, { encoderApi }] = await Promise.all([
    started.has(first) ? (first as BothModules) : loadBoth(first, options),
    fetched(import('./model/layers.js')),
  ]);
  const { raw } = started.get(both) as Loaded<RawSecond>;
  return { ...both, ...encoderApi(raw) };
}
