// The settings and numbers of the figure "dot-products": the dot products of random rows, of a sentence in a
// model, or of the reader's own tables.
import type { DotProducts, LoudnessRecipe, SmallSuperpose } from 'add-or-concatenate';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, rowName, userRows } from './drawnRows.js';
import { type EncodingName, encodingLabels, encodingOf } from './encodings.js';
import type { Compute, Library, UserRowsState } from './figure.js';
import { mostTokens, sentenceControl, textModel, tokensControl } from './trainedModel.js';

export const controls = {
  tokens: tokensControl,
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: encodingLabels,
    initial: 'interleaved',
  },
  d: {
    kind: 'steps',
    more: true,
    label: 'Width d',
    values: [2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024],
    initial: 64,
  },
  scale: { kind: 'range', label: 'Position scale ρ', min: 0, max: 10, step: 0.05, initial: 1 },
  recipes: { kind: 'toggle', more: true, label: 'Where recipes begin', initial: false },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 128, step: 1, initial: 32 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: sentenceControl,
} as const satisfies Controls;

export type State = UserRowsState<StateOf<typeof controls>, 'tokens' | 'positions'>;

export interface Data extends DotProducts {
  n: number;
  d_model: number;
  tokens: readonly string[];
  dropped: number;
  /** Only if the setting `recipes` is on. */
  recipes?: LoudnessRecipe[];
}

export const compute: Compute<typeof controls, Data> = async (library, state: State) => {
  const superpose = await library.small();
  const { tokens: rows, positions, d, n, seed, text } = state;
  const drawn = rows !== 'sentence';
  const key = [library.userTables?.key, rows, positions, seed, ...(drawn ? [d, n] : [text])];
  // None of these depends on ρ.
  const { token, position, tokens, dropped } = await library.memoize('dot-products', key, () =>
    drawn ? fromTables(library, superpose, state) : fromModel(library, state),
  );
  const products = superpose.dotProducts({ token, position, positionScale: state.scale });
  const data = { ...products, n: token.rows, d_model: token.columns, tokens, dropped };
  if (!drawn || !state.recipes) return data;
  return { ...data, recipes: (await library.superpose()).loudnessRecipes({ d_model: state.d }) };
};

async function fromTables(library: Library, superpose: SmallSuperpose, state: State) {
  const { n, d, seed } = state;
  const isUsers = state.tokens === 'user';
  const token = isUsers
    ? userRows(library, 'token', n)
    : drawnRows(superpose, 'token', { rows: n, columns: d, seed });
  const words = isUsers ? library.userTables?.words : undefined;
  const tokens = Array.from({ length: n }, (_, place) => rowName(words, place));
  const position =
    state.positions === 'user'
      ? userRows(library, 'position', n)
      : await encodingOf(state.positions).rows({ library, superpose, positions: n, d_model: d, seed });
  return { token, position, tokens, dropped: 0 };
}

async function fromModel(library: Library, { text, positions, seed }: State) {
  const superpose = await library.small();
  const model = await textModel(library);
  const sentence = await model.tokenize(text, mostTokens);
  const { token, position } = await model.rows(sentence);
  const { tokens, dropped } = sentence;
  const encoding = encodingOf(positions as EncodingName);
  if (encoding.source === 'trained') return { token, position, tokens, dropped };
  const size = { positions: token.rows, d_model: model.d_model };
  return { token, position: await encoding.rows({ library, superpose, ...size, seed }), tokens, dropped };
}
