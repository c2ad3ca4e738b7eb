// Measurements as Markdown.

/** A table with a function of a row for each heading; the first `words` columns are words, the others numbers. */
export function table(words, rows, columns) {
  const headings = Object.keys(columns);
  const aligned = headings.map((_, at) => (at < words ? '---' : '---:'));
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return [headings, aligned, ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

const ms = (time) => (time >= 1000 ? time.toFixed(0) : time.toPrecision(3));

/** Columns of what Tinybench found. */
export const times = {
  'mean ms': ({ mean, rme }) => `${ms(mean)} ± ${rme.toFixed(1)} %`,
  'best ms': ({ min }) => ms(min),
  '99th percentile': ({ p99 }) => ms(p99),
  'against the best peer': ({ ratio }) => (Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : ''),
};
