// What one question leaves for the next, so that a step of a slider computes only what it changes. A worker has one.
import type { Kept } from '../figures/figure.js';

/** What the module holds for a caller, who frees it. */
interface Handle {
  isAlive(): boolean;
  delete(): void;
}

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && 'isAlive' in value;

export function keeping(): Kept {
  const values = new Map<string, { key: string; value: unknown }>();
  return <T>(name: string, key: unknown, make: () => T, again = false) => {
    const text = JSON.stringify(key);
    const known = values.get(name);
    const usable = known?.key === text && !(isHandle(known.value) && !known.value.isAlive());
    if (usable && !again) return known.value as Awaited<T>;
    // Freed before the next is made, as there may be no room for both.
    if (isHandle(known?.value)) {
      values.delete(name);
      known.value.delete();
    }
    const keep = <V>(value: V): V => {
      values.set(name, { key: text, value });
      return value;
    };
    const made = make();
    return made instanceof Promise ? (made.then(keep) as T) : keep(made);
  };
}
