// What a page with figures in it cannot take away or add to: it may have put anything on Object.prototype, and taken
// Array.prototype.at. MooTools and Prototype.js put other functions in the place of some of the language's own.

/** The same members, and none that are inherited. What is no plain object stays as it is. */
export const own = <T>(of: T): T =>
  typeof of === 'object' && of !== null && Object.getPrototypeOf(of) === Object.prototype
    ? Object.assign(Object.create(null), of)
    : of;

/** Array.from, which the build puts in its place: with both libraries it ignores what makes the members. */
export function arrayFrom<T, R>(from: Iterable<T> | ArrayLike<T>, make?: (value: T, at: number) => R) {
  // What has no iterator is an object with a length, which asks for so many members.
  const list: T[] = [...(Symbol.iterator in from ? from : Array<T>(from.length))];
  return make ? list.map(make) : list;
}

export const latest = <T>(list: readonly T[]): T => list[list.length - 1] as T;
