// A query and a key, as a readout begins with them.
import type { Cursor } from '../plot/scene.js';
import type { Said } from './figure.js';

/** “Query bank (5), key river (3): ” */
export const queryAndKey = (tokens: readonly string[], { i, j }: Cursor): Said[] => [
  'Query ',
  { text: tokens[i] ?? '', strong: true },
  ` (${i}), key `,
  { text: tokens[j] ?? '', strong: true },
  ` (${j}): `,
];
