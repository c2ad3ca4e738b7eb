// Which gauge terms and shares are in, for the figures that show them.
import type { Choice } from './controls.js';
import type { DataTable } from './figure.js';

export const gaugeControl = {
  kind: 'choice',
  label: 'Gauge',
  options: { canonical: 'Canonical', raw: 'Raw, as the tables come' },
  initial: 'canonical',
  before: 'raw',
  radio: true,
} as const satisfies Choice;

/** [CLS] stands at position 0 of every sentence, so that its row tells nothing of either. */
export const apartOf = (gauge: 'canonical' | 'raw', weights: 'trained' | 'seeded'): number[] =>
  gauge === 'canonical' && weights === 'trained' ? [0] : [];

/** Said of lengths, products and cosines of a model's rows, which a vector moved from one table to the other changes. */
export const rawRows = ' All this is raw: of the rows as they come.';

/** The same, where they are a model's, and with a column that says so. */
export const rawTable = (isModels: boolean, found: DataTable): DataTable =>
  isModels ? withGauge(found, 'raw') : found;

/** A table of numbers that depend on the gauge, with its name in each row. */
export const withGauge = ({ columns, rows }: DataTable, gauge: 'canonical' | 'raw'): DataTable => ({
  columns: [...columns, 'gauge'],
  rows: rows.map((row) => [...row, gauge]),
});
