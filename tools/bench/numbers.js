// Numbers for the inputs of jobs, and the library as an engine and as the reference.

/** Numbers from −size to size that are the same everywhere, from a linear congruential generator. */
export function numbers(count, seed, size = 1) {
  const values = new Float32Array(count);
  let state = seed >>> 0;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 31 - 1) * size;
  }
  return values;
}

export const table = (rows, columns, seed, size) => ({
  data: numbers(rows * columns, seed, size),
  rows,
  columns,
});

export const transposed = ({ data, rows, columns }) =>
  data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)]);

/** The largest gap as a share of the largest value. Infinite when lengths differ, NaN when a value is NaN. */
export function gapOf(answer, exact) {
  if (answer.length !== exact.length) return Number.POSITIVE_INFINITY;
  let [gap, largest] = [0, 0];
  exact.forEach((value, at) => {
    gap = Math.max(gap, Math.abs(value - answer[at]));
    largest = Math.max(largest, Math.abs(value));
  });
  return gap / largest;
}

/** A build of the library as an engine. */
export const libraryEngine = (superpose, prepare) => ({
  name: `superpose ${superpose.simd}`,
  prepare: async (input) => prepare(superpose, input),
});

/** The reference: the library's plain build, which tests compare with oracles in double. */
export async function reference({ superpose: [first] }, prepare, input) {
  const { run, release } = await prepare(first, input);
  const answer = await run();
  release?.();
  return answer;
}
