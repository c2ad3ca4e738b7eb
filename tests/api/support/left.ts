// How much memory calls may still ask for.
import { fits, maxBytes } from '../../../build/package/check.js';

/** The bytes that are left beside what other tests may still hold. */
export function left(): number {
  let [taken, refused] = [0, maxBytes + 1];
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    try {
      fits('It', middle);
      taken = middle;
    } catch {
      refused = middle;
    }
  }
  return taken;
}
