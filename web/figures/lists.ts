export const latest = <T>(list: readonly T[]): T => list[list.length - 1] as T;

/** One, two and three. */
export const listed = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${latest(names)}` : (names[0] ?? '');

/** An axis with the values at equal distances, whatever lies between them, each labelled. */
export const inTurn = (values: readonly number[], label: string) => ({
  from: -0.5,
  to: values.length - 0.5,
  nice: false,
  ticks: values.length,
  label,
  print: (tick: number) => String(values[tick] ?? ''),
});
