// Medians, spreads, ratios and growth exponents of measurements.
import { mean, median, min, quantile } from 'd3-array';

export const summary = (times) => ({
  median_ms: median(times),
  p95_ms: quantile(times, 0.95),
  // What the machine can do when nothing else runs; on a shared machine this says more than the median.
  best_ms: min(times),
  // Half the interquartile range, as a share of the median.
  spread: (quantile(times, 0.75) - quantile(times, 0.25)) / 2 / median(times),
});

/** Rows of one job and shape, with the ratio to the best peer in the same runtime: above 1 is faster. */
export const withRatios = (rows) =>
  rows.map((row) => {
    const peers = rows.filter(({ peer, runtime }) => peer && runtime === row.runtime);
    const best = min(peers, ({ median_ms }) => median_ms);
    return { ...row, ratio_to_best_peer: best === undefined ? null : best / row.median_ms };
  });

/** The exponent b of times that grow like size^b, by least squares on logarithms. */
export function exponent(points) {
  const logs = points.map((point) => point.map(Math.log));
  const [x, y] = [0, 1].map((at) => mean(logs, (log) => log[at]));
  return mean(logs, (log) => (log[0] - x) * (log[1] - y)) / mean(logs, (log) => (log[0] - x) ** 2);
}

/** How rows of several shapes grow with `by`, at the most common value of `fixed`; or undefined. */
export function growth(rows, by, fixed) {
  const same = rows.map((row) => rows.filter((other) => other[fixed] === row[fixed]));
  const most = same.reduce((a, b) => (b.length > a.length ? b : a));
  return most.length > 1 ? exponent(most.map((row) => [row[by], row.median_ms])) : undefined;
}
