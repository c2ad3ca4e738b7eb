export const latest = <T>(list: readonly T[]): T => list[list.length - 1] as T;

/** One, two and three. */
export const listed = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${latest(names)}` : (names[0] ?? '');
