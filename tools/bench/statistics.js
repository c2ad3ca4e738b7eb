// Medians, spreads, ratios and growth exponents of measurements.

export function quantile(sorted, share) {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at));
}

export function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    median_ms: quantile(sorted, 0.5),
    p95_ms: quantile(sorted, 0.95),
    // What the machine can do when nothing else runs; on a shared machine this says more than the median.
    best_ms: sorted[0],
    // Half the interquartile range, as a share of the median.
    spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / quantile(sorted, 0.5),
  };
}

/** Rows of one job and shape, with the ratio to the best peer in the same runtime: above 1 is faster. */
export function withRatios(rows) {
  return rows.map((row) => {
    const peers = rows.filter((other) => other.peer && other.runtime === row.runtime);
    const best = Math.min(...peers.map((peer) => peer.median_ms));
    return { ...row, ratio_to_best_peer: peers.length > 0 ? best / row.median_ms : null };
  });
}

/** The exponent b of times that grow like size^b, by least squares on logarithms. */
export function exponent(points) {
  const x = points.map(([size]) => Math.log(size));
  const y = points.map(([, time]) => Math.log(time));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const above = x.reduce((sum, value, at) => sum + (value - mx) * (y[at] - my), 0);
  return above / x.reduce((sum, value) => sum + (value - mx) ** 2, 0);
}

/** How rows of several shapes grow with `by`, at the most common value of `fixed`; or undefined. */
export function growth(rows, by, fixed) {
  const at = (value) => rows.filter((row) => row[fixed] === value);
  const most = rows.map((row) => at(row[fixed])).reduce((a, b) => (b.length > a.length ? b : a));
  return most.length > 1 ? exponent(most.map((row) => [row[by], row.median_ms])) : undefined;
}
