// Measurements as Markdown to paste into a page.
import { operations } from './forward.js';
import { growth } from './statistics.js';

const table = (heading, left, rows) =>
  [heading, heading.map((_, at) => (at < left ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');

const ms = (time) => (time >= 1000 ? time.toFixed(0) : time.toPrecision(3));
const ratio = (value) => (Number.isFinite(value) ? `${value.toFixed(2)}×` : '');
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
const power = (value) => (value === undefined ? '' : value.toFixed(2));
const timesOf = (row) => [ms(row.median_ms), ms(row.p95_ms), `${Math.round(row.spread * 100)} %`];

/** The medians of the faster of two native engines, by runtime. */
const limits = (rows) => {
  const found = {};
  for (const { runtime, median_ms } of rows.filter(({ runtime }) => runtime.startsWith('native')))
    found[runtime] = Math.min(found[runtime] ?? Number.POSITIVE_INFINITY, median_ms);
  return found;
};

/** Wrong engines, one per line. */
export const wrongOnes = (rows) =>
  rows
    .filter(({ wrong }) => wrong)
    .map((row) => `Wrong, and so not timed: ${row.engine}, ${row.runtime}, ${row.job}: ${row.wrong}.\n`)
    .join('');

/** The table of the four terms at one shape. */
export function engineTable(all) {
  const rows = all.filter(({ wrong }) => !wrong);
  const native = limits(rows);
  const heading = [
    'runtime',
    'engine',
    'median ms',
    '95th percentile',
    'spread',
    'best ms',
    'against the best peer',
  ];
  return table(
    [...heading, ...Object.keys(native).map((name) => `against ${name}`)],
    2,
    rows.map((row) => [
      row.runtime,
      row.engine,
      ...timesOf(row),
      ms(row.best_ms),
      ratio(row.ratio_to_best_peer ?? Number.NaN),
      ...Object.values(native).map((limit) => ratio(limit / row.median_ms)),
    ]),
  );
}

/** What splitting the values of all layers takes besides the forward, in forwards. */
export const valuesLines = (rows) =>
  rows
    .filter(({ engine, wrong }) => !wrong && engine.includes(', with values by '))
    .map(({ engine, runtime, median_ms }) => {
      const [own, way] = engine.split(', with values by ');
      const forward = rows.find((row) => row.runtime === runtime && row.engine === own)?.median_ms;
      return `The values of all heads by ${way}: ${ratio((median_ms - forward) / forward)} a forward (${own}, ${runtime}).\n`;
    })
    .join('');

/** GFLOP/s by kind of layer, from the best times, and what share of MiniLM's rate at its own width that is. */
export function ratesTable(all) {
  const rows = all
    .filter(({ wrong }) => !wrong)
    .map((row) => {
      const [, build, kind = 'MiniLM’s'] = row.engine.match(/^([^,]+)(?:, (.+))?$/);
      return { ...row, build, kind, rate: operations(row, kind) / row.best_ms / 1e6 };
    });
  return table(
    ['runtime', 'engine', 'layers', 'd', 'GFLOP/s', 'of MiniLM’s'],
    4,
    rows.map(({ runtime, build, kind, d, rate }) => {
      const own = rows.find((one) => one.runtime === runtime && one.build === build);
      return [runtime, build, kind, d, rate.toFixed(1), (rate / own.rate).toFixed(2)];
    }),
  );
}

/**
 * Training steps per second, and the ratio to each peer and to native code: above 1 is faster. From the best
 * stretches, because other programs only ever slow a run down, and unevenly.
 */
export function trainingTable(all) {
  const rows = all.filter(({ wrong }) => !wrong);
  const against = (row, other) => ratio((other?.best_ms ?? Number.NaN) / row.best_ms);
  const here = (row, peer) =>
    rows.find(({ engine, runtime }) => runtime === row.runtime && engine.startsWith(peer));
  const native = rows.filter(({ runtime }) => runtime.startsWith('native'));
  return table(
    [
      ...['runtime', 'engine', 'steps/s', 'median', 'spread', 'against tfjs', 'against straight Eigen'],
      ...native.map(({ runtime }) => `against ${runtime}`),
    ],
    2,
    rows.map((row) => [
      row.runtime,
      row.engine,
      (1000 / row.best_ms).toFixed(0),
      (1000 / row.median_ms).toFixed(0),
      `${Math.round(row.spread * 100)} %`,
      against(row, here(row, 'tfjs')),
      against(row, here(row, 'straight')),
      ...native.map((limit) => against(row, limit)),
    ]),
  );
}

/** Jobs without peers: one line for each shape and engine. */
export const jobTable = (rows) =>
  table(
    ['job', 'n, d', 'runtime', 'engine', 'median ms', '95th percentile', 'spread'],
    4,
    rows
      .filter(({ wrong }) => !wrong)
      .map((row) => [row.job, `${row.n}, ${row.d}`, row.runtime, row.engine, ...timesOf(row)]),
  );

/** Exponents of n and d, fitted to medians at shapes that differ in one of them. */
export function growthTable(all) {
  const kinds = new Map();
  for (const row of all.filter(({ wrong }) => !wrong)) {
    const kind = [row.job, row.runtime, row.engine].join(' | ');
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  const fitted = [...kinds]
    .filter(([, rows]) => rows.length > 2)
    .map(([kind, rows]) => [kind, power(growth(rows, 'n', 'd')), power(growth(rows, 'd', 'n'))]);
  return table(['job', 'runtime', 'engine', 'power of n', 'power of d'], 3, fitted);
}

/** Load times, by step. */
export const loadTable = (rows) =>
  table(
    ['runtime', 'engine', '', 'fetched ms', 'compiled and started', 'first terms', 'all', 'spread'],
    3,
    rows.map(({ runtime, engine, start, steps }) => [
      runtime,
      engine,
      start,
      ...Object.values(steps).map(({ median_ms }) => ms(median_ms)),
      `${Math.round(steps.all.spread * 100)} %`,
    ]),
  );

export const sliderTable = (rows) =>
  table(
    ['browser', 'figure, its first slider', 'median ms', '95th percentile', 'spread'],
    2,
    rows.map((row) => [row.runtime, row.engine, ...timesOf(row)]),
  );

export function memoryTable(rows) {
  const grown = rows.filter((row) => row.peak_bytes > row.initial_bytes);
  const cells = grown.map((row) => [
    row.job,
    `${row.n}, ${row.d}`,
    ...[row.input_bytes, row.result_bytes, row.peak_bytes].map(megabytes),
    ratio((row.peak_bytes - row.input_bytes) / row.result_bytes),
  ]);
  return (
    table(['job', 'n, d', 'inputs MB', 'results MB', 'peak MB', '(peak − inputs) / results'], 2, cells) +
    `\nEvery other job and shape fits into the ${megabytes(rows[0].initial_bytes)} MB that the module starts with.\n`
  );
}
