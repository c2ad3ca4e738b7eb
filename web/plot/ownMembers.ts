// What an object itself has: a page with figures in it may have added anything to Object.prototype.

/** The same members, and none that are inherited. What is no plain object stays as it is. */
export const own = <T>(of: T): T =>
  typeof of === 'object' && of !== null && Object.getPrototypeOf(of) === Object.prototype
    ? Object.assign(Object.create(null), of)
    : of;
