// How wrong arguments are made, what every refusal must satisfy, and how much memory is left for calls.
import { addResidentBytes, maxBytes, requireMemory } from '../../../build/package/check.js';

export type ErrorClass = typeof RangeError | typeof TypeError;
export type Path = readonly (string | number)[];

export interface Refusal {
  /** The class of the error. If it is left out, either class will do. */
  kind?: ErrorClass | undefined;
  /** Words that its sentence contains. */
  words: readonly string[];
}

/** The faults of a refusal's error: none if it is one sentence of ours with these words. */
export function faults(error: unknown, { kind, words }: Refusal): string[] {
  if (!(error instanceof RangeError || error instanceof TypeError))
    return [error === undefined ? 'it is taken' : `it throws ${String(error)}`];
  const { message } = error;
  return [
    ...(kind && !(error instanceof kind) ? [`it is a ${error.name}: ${message}`] : []),
    ...(/^[^\n]{15,400}[.?]$/.test(message) ? [] : [`no sentence: ${message}`]),
    ...words.filter((word) => !message.includes(word)).map((word) => `without “${word}”: ${message}`),
  ];
}

/** The arguments with the value at `path` changed. */
export function changed(args: readonly unknown[], path: Path, value: unknown): unknown[] {
  const inside = (container: unknown, [key, ...rest]: Path): unknown => {
    if (key === undefined) return value;
    const members = container as Record<string | number, unknown>;
    const to = inside(members[key], rest);
    if (!Array.isArray(container)) return { ...members, [key]: to };
    return container.map((item, k) => (k === key ? to : item));
  };
  return inside(args, path) as unknown[];
}

/** The bytes that are left beside those that other tests may still occupy. */
export function left(): number {
  let [accepted, refused] = [0, maxBytes + 1];
  while (refused - accepted > 1) {
    const middle = Math.floor((accepted + refused) / 2);
    try {
      requireMemory('It', middle);
      accepted = middle;
    } catch {
      refused = middle;
    }
  }
  return accepted;
}

/** What a call throws when no memory is left for it. */
export function errorWithNothingLeft(call: () => unknown): unknown {
  const bytes = left();
  addResidentBytes(bytes);
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    addResidentBytes(-bytes);
  }
}
