// Everything the library does, over two started modules; rest.ts starts the second.
import type { First } from './first.js';
import type { EncoderApi } from './model/encoder.js';
import type { Second } from './second.js';

/** The functions of both modules. Encoders, which few figures run, are not among them: loadRest() adds those. */
export interface BothModules extends First, Second {
  /**
   * Bytes of both modules' memory, which only grows; 0 after one breaks off, until the next call restarts it.
   */
  memoryBytes(): number;
}

export interface Superpose extends BothModules, EncoderApi {}

/** The functions of both. */
export const together = (first: First, second: Second): BothModules => ({
  ...first,
  ...second,
  memoryBytes: () => first.memoryBytes() + second.memoryBytes(),
});
