// A query and a key: the cells that stand for them, and the beginning of a readout about them.
import type { Cursor } from '../plot/scene.js';
import type { ReadoutPiece } from './figure.js';

/** “Query bank (5), key river (3): ” */
export const queryAndKey = (tokens: readonly string[], { i, j }: Cursor): ReadoutPiece[] => [
  'Query ',
  { text: tokens[i] ?? '', strong: true },
  ` (${i}), key `,
  { text: tokens[j] ?? '', strong: true },
  ` (${j}): `,
];

/** A cell for each query with each key. At first the fourth token asks the third, or the last there are. */
export const fromQueryToKey = {
  cells: ({ n }: { n: number }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }: { n: number }) => ({ i: Math.min(3, n - 1), j: Math.min(2, n - 1) }),
};
