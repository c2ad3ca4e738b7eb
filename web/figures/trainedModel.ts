// What figures on a trained model have in common: the sentence, its pairs of tokens, the head, the layers
// and the gauge that can be set, and what is said of them.
import type { ScoreLayer } from 'add-or-concatenate';
import type { Cursor } from '../plot/scene.js';
import type { Choice, Range, Text } from './controls.js';
import type { DataTable, Job, Library, ReadoutPiece, TextModel } from './figure.js';

/** Longest sentence that a figure shows; the library takes the model's 512. */
export const mostTokens = 128;

export const sentenceControl = {
  kind: 'text',
  shared: true,
  label: 'Your sentence',
  initial: 'The river bank was closed, so she walked to the other bank.',
  // Far more than 128 tokens, and short enough to be cut into tokens while the reader types.
  longest: 5000,
} as const satisfies Text;

export const headControl = {
  kind: 'range',
  label: 'Head of first layer',
  min: 0,
  max: 11,
  step: 1,
  initial: 3,
} as const satisfies Range;

/** Whether the tokens are drawn at random or are those of the sentence. */
export const tokensControl = {
  kind: 'choice',
  label: 'Tokens',
  options: { seeded: 'Random (seeded)', sentence: 'Your sentence (MiniLM)' },
  initial: 'seeded',
  radio: true,
} as const satisfies Choice;

/** The title of the figure "one-score" and of links to it. */
export const oneScoreTitle = 'One score, and the questions it asks';

export function sentenceRemark(tokens: readonly string[], dropped: number): string {
  if (dropped > 0) {
    return `Only the first ${tokens.length} of ${tokens.length + dropped} tokens are shown; in Node the model takes 512.`;
  }
  if (tokens.length === 2) {
    return 'There is no token in the text, so only the markers [CLS] and [SEP] are left.';
  }
  return '';
}

/** Said when no score varies, or too few are left to vary. */
export const nothingToShare = (n: number) =>
  n < 3
    ? 'There are too few tokens for scores to vary along a row, so there is nothing to share out.'
    : 'The scores do not vary along their rows, so there is nothing to share out.';

export const fetching = 'Fetching MiniLM: its tokenizer, its first layer and the rows of your tokens…';

/** The size is that of all layers' files together; a test compares it with the manifest. */
export const layersControl = {
  kind: 'choice',
  label: 'Computed',
  options: { none: 'Beforehand', all: 'Here, your sentence (20.7 MB)' },
  initial: 'none',
  radio: true,
} as const satisfies Choice;

export const fetchingLayers = 'Fetching MiniLM: its six layers, 20.7 MB, unless they are here already…';

/**
 * Options for forward() and the like: fetching or reading is the first `part` of the job, and stops with the
 * job.
 */
export const watching = ({ signal, progress }: Job, part = 1) => ({
  signal,
  progress: (bytes: number, of: number) => progress(of > 0 ? (part * bytes) / of : 0),
});

/** A text in quotation marks, cut where it is too long for its place. */
export const quoted = (text: string, most: number): string =>
  `“${text.length > most ? `${text.slice(0, most - 1)}…` : text}”`;

/** “Query bank (5), key river (3): ” */
export const queryAndKey = (tokens: readonly string[], { i, j }: Cursor): ReadoutPiece[] => [
  'Query ',
  { text: tokens[i] ?? '', strong: true },
  ` (${i}), key `,
  { text: tokens[j] ?? '', strong: true },
  ` (${j}): `,
];

/**
 * A cell for each query with each key. At first the fourth token asks the third; with fewer tokens, the last
 * ones.
 */
export const fromQueryToKey = {
  cells: ({ n }: { n: number }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }: { n: number }) => ({ i: Math.min(3, n - 1), j: Math.min(2, n - 1) }),
};

export const gaugeControl = {
  kind: 'choice',
  label: 'Gauge',
  options: { canonical: 'Canonical', raw: 'Raw, as the tables come' },
  initial: 'canonical',
  radio: true,
} as const satisfies Choice;

/** MiniLM, or the reader's own model in its place. */
export const textModel = async ({ userModel, miniLM }: Library): Promise<TextModel> => userModel ?? miniLM();

/** MiniLM's first layer, packed once for all that figures ask of it. */
export async function firstLayer({ memoize, small, miniLM }: Library): Promise<ScoreLayer> {
  const [superpose, layer] = [await small(), await (await miniLM()).layer()];
  return memoize('MiniLM’s first layer', '', () => superpose.layer(layer));
}

/**
 * [CLS] is at position 0 of every sentence, so its row cannot tell token from position, and no share includes
 * it.
 */
export const excludedRows: readonly number[] = [0];

/** Said of a model's rows: their lengths, products and cosines change if a vector moves between tables. */
export const rawRows = ' All this is raw: rows as stored.';

/** If the rows are a model's, adds a column that says that they are raw. */
export const rawTable = (isModels: boolean, table: DataTable): DataTable =>
  isModels ? withGauge(table, 'raw') : table;

/** Adds the gauge to each row, for numbers that depend on it. */
export const withGauge = ({ columns, rows }: DataTable, gauge: 'canonical' | 'raw'): DataTable => ({
  columns: [...columns, 'gauge'],
  rows: rows.map((row) => [...row, gauge]),
});
