// The choice of a gauge, for figures that show terms and shares; and the layer whose scores they take apart.
import type { ScoreLayer } from 'superpose';
import type { Choice } from './controls.js';
import type { DataTable, Library } from './figure.js';

export const gaugeControl = {
  kind: 'choice',
  label: 'Gauge',
  options: { canonical: 'Canonical', raw: 'Raw, as the tables come' },
  initial: 'canonical',
  radio: true,
} as const satisfies Choice;

/** MiniLM's first layer, packed once for all that figures ask of it. */
export async function firstLayer({ kept, small, miniLM }: Library): Promise<ScoreLayer<Float64Array>> {
  const [superpose, layer] = [await small(), await (await miniLM()).layer()];
  return kept('MiniLM’s first layer', '', () => superpose.layer(layer));
}

/** [CLS] is at position 0 of every sentence, so its row cannot tell token from position. */
export const apartOf = (gauge: 'canonical' | 'raw', weights: 'trained' | 'seeded'): number[] =>
  gauge === 'canonical' && weights === 'trained' ? [0] : [];

/** Said of a model's rows: their lengths, products and cosines change if a vector moves between tables. */
export const rawRows = ' All this is raw: rows as stored.';

/** If the rows are a model's, adds a column that says that they are raw. */
export const rawTable = (isModels: boolean, found: DataTable): DataTable =>
  isModels ? withGauge(found, 'raw') : found;

/** Adds the gauge to each row, for numbers that depend on it. */
export const withGauge = ({ columns, rows }: DataTable, gauge: 'canonical' | 'raw'): DataTable => ({
  columns: [...columns, 'gauge'],
  rows: rows.map((row) => [...row, gauge]),
});
