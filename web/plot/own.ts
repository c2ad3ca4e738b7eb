// What a page with figures in it cannot take away or add to: it may have put anything on Object.prototype, and taken
// Array.prototype.at.

/** The same members, and none that are inherited. What is no plain object stays as it is. */
export const own = <T>(of: T): T =>
  typeof of === 'object' && of !== null && Object.getPrototypeOf(of) === Object.prototype
    ? Object.assign(Object.create(null), of)
    : of;

export const latest = <T>(list: readonly T[]): T => list[list.length - 1] as T;
