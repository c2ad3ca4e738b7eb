// Measurements as Markdown to paste into a page.
import { group, min } from 'd3-array';
import { operations } from './forward.js';
import { growth } from './measure.js';

/** A table with a function of a row for each heading; the first `words` columns are words, the others numbers. */
export function table(words, rows, columns) {
  const headings = Object.keys(columns);
  const aligned = headings.map((_, at) => (at < words ? '---' : '---:'));
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return [headings, aligned, ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

const ms = (time) => (time >= 1000 ? time.toFixed(0) : time.toPrecision(3));
const ratio = (value) => (Number.isFinite(value) ? `${value.toFixed(2)}×` : '');
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);

const job = { job: (row) => row.job };
const shape = { 'n, d, heads': ({ n, d, heads }) => [n, d, heads].filter(Boolean).join(', ') };
const where = { runtime: ({ runtime }) => runtime, engine: ({ engine }) => engine };
const spread = { spread: (row) => `${Math.round(row.spread * 100)} %` };
const timed = (rows) => rows.filter(({ wrong }) => !wrong);

/** How much faster a row is than the fastest of those that it is compared with, at the same shape. */
const against = (rows, time, compared) => (row) => {
  const others = rows.filter((one) => one.n === row.n && one.d === row.d && compared(one, row));
  return ratio(min(others, (one) => one[time]) / row[time]);
};

/** A column for each native runtime. */
function againstNative(rows, time) {
  const names = new Set(rows.map(({ runtime }) => runtime).filter((name) => name.startsWith('native')));
  const column = (name) => [`against ${name}`, against(rows, time, ({ runtime }) => runtime === name)];
  return Object.fromEntries([...names].map(column));
}

/** Times of engines at all jobs and shapes. */
export const timesTable = (rows) =>
  table(4, timed(rows), {
    ...job,
    ...shape,
    ...where,
    'median ms': ({ median_ms }) => ms(median_ms),
    '95th percentile': ({ p95_ms }) => ms(p95_ms),
    ...spread,
    'best ms': ({ best_ms }) => ms(best_ms),
    'against the best peer': ({ ratio_to_best_peer }) => ratio(ratio_to_best_peer ?? Number.NaN),
    ...againstNative(timed(rows), 'median_ms'),
  });

/** Wrong engines, one per line. */
export const wrongOnes = (rows) =>
  rows
    .filter(({ wrong }) => wrong)
    .map((row) => `Wrong, and so not timed: ${row.engine}, ${row.runtime}, ${row.job}: ${row.wrong}.\n`)
    .join('');

/** What splitting the values of all layers takes besides the forward, in forwards. */
export const valuesLines = (rows) =>
  timed(rows)
    .filter(({ engine }) => engine.includes(', with values by '))
    .map(({ engine, runtime, n, median_ms }) => {
      const [own, way] = engine.split(', with values by ');
      const forward = rows.find((row) => row.runtime === runtime && row.n === n && row.engine === own);
      const more = ratio(median_ms / forward?.median_ms - 1);
      return `The values of all heads by ${way}: ${more} a forward (n = ${n}, ${own}, ${runtime}).\n`;
    })
    .join('');

/** GFLOP/s by kind of layer, from the best times, and what share of MiniLM's rate at its own width that is. */
export function ratesTable(rows) {
  const rated = timed(rows).map((row) => {
    const [engine, kind = 'MiniLM’s'] = row.engine.split(', ');
    return { ...row, engine, kind, rate: operations(row, kind) / row.best_ms / 1e6 };
  });
  const own = (row) => rated.find((one) => one.runtime === row.runtime && one.engine === row.engine);
  return table(4, rated, {
    ...where,
    layers: ({ kind }) => kind,
    d: ({ d }) => d,
    'GFLOP/s': ({ rate }) => rate.toFixed(1),
    'of MiniLM’s': (row) => (row.rate / own(row).rate).toFixed(2),
  });
}

/** From the best stretches, because other programs only ever slow a run down, and unevenly. */
export function trainingTable(rows) {
  const peer = (name) =>
    against(rows, 'best_ms', (one, { runtime }) => one.runtime === runtime && one.engine.startsWith(name));
  return table(2, timed(rows), {
    ...where,
    'steps/s': ({ best_ms }) => (1000 / best_ms).toFixed(0),
    median: ({ median_ms }) => (1000 / median_ms).toFixed(0),
    ...spread,
    'against tfjs': peer('tfjs'),
    'against straight Eigen': peer('straight'),
    ...againstNative(timed(rows), 'best_ms'),
  });
}

/** Exponents of n and d, fitted to medians at shapes that differ in one of them. */
export function growthTable(rows) {
  const kinds = group(timed(rows), (row) => [row.job, row.runtime, row.engine].join());
  const fitted = [...kinds.values()].filter(({ length }) => length > 2);
  const power =
    (by, fixed) =>
    ({ shapes }) =>
      growth(shapes, by, fixed)?.toFixed(2) ?? '';
  return table(
    3,
    fitted.map((shapes) => ({ ...shapes[0], shapes })),
    { ...job, ...where, 'power of n': power('n', 'd'), 'power of d': power('d', 'n') },
  );
}

export function memoryTable(rows) {
  const grown = rows.filter((row) => row.peak_bytes > row.initial_bytes);
  const cells = table(2, grown, {
    ...job,
    ...shape,
    'inputs MB': ({ input_bytes }) => megabytes(input_bytes),
    'results MB': ({ result_bytes }) => megabytes(result_bytes),
    'peak MB': ({ peak_bytes }) => megabytes(peak_bytes),
    '(peak − inputs) / results': (row) => ratio((row.peak_bytes - row.input_bytes) / row.result_bytes),
  });
  const initial = megabytes(rows[0].initial_bytes);
  return `${cells}\nEvery other job and shape fits into the ${initial} MB that the module starts with.\n`;
}
