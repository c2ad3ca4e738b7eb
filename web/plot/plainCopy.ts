// Guards against pages that change JavaScript's own objects: a page may add members to Object.prototype,
// delete Array.prototype.at, or load MooTools or Prototype.js, which replace some of the language's
// functions.

/**
 * A copy of a plain object without a prototype, so that only its own members are read. Any other value is
 * returned as is.
 */
export const plainCopy = <T>(value: T): T =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.assign(Object.create(null), value)
    : value;

/**
 * What the build puts in place of Array.from, because MooTools and Prototype.js replace that with a function
 * that ignores `map`.
 */
export function arrayFrom<T, R>(from: Iterable<T> | ArrayLike<T>, map?: (value: T, at: number) => R) {
  // A value without an iterator is an object with a length, which asks for that many members.
  const list: T[] = [...(Symbol.iterator in from ? from : Array<T>(from.length))];
  return map ? list.map(map) : list;
}

export const latest = <T>(list: readonly T[]): T => list[list.length - 1] as T;
