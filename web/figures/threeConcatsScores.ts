// Scores of added and of concatenated vectors, and their terms, for the figure "three-concats".
import type { Cost, PositionCostWay, Superpose } from 'superpose';
import { tickText } from '../plot/parts.js';
import type { Term } from '../plot/scene.js';
import type { Library } from './figure.js';
import type { Rows, State } from './threeConcatsSettings.js';

export interface SplitScore {
  logits: Float64Array;
  /** The four terms, in the order of `terms`. */
  terms: Float64Array[];
  shares: number[];
  /** The largest |term| among the two cross terms. */
  cross: number;
  /** Their share together. */
  crossShare: number;
  /** The largest |sum of the terms − logit|. */
  residual: number;
  rank: number;
  /** The largest rank that any weights of these shapes can give. */
  mostRank: number;
}

export interface Data {
  tokens: readonly string[];
  dropped: number;
  n: number;
  /** In the order of `ways`. */
  ways: SplitScore[];
  /** The largest difference between full weights with W₂ = W₁ and adding. */
  tiedGap: number;
  /** In the order of `builds`; a narrower token has none where it has no room. */
  costs: (Cost | undefined)[];
}

export const ways = [
  { name: 'added', title: 'Added', formula: '(x + p)ᵀW(x′ + p′)', unit: 'logit' },
  { name: 'raw', title: 'Raw', formula: '[x; p] · [x′; p′]', unit: 'dot product' },
  { name: 'full', title: 'Full weights', formula: '[x; p]ᵀW[x′; p′]', unit: 'logit' },
  { name: 'block-diagonal', title: 'Block-diagonal', formula: 'xᵀW₁x′ + pᵀW₂p′', unit: 'logit' },
] as const;

/** What each way's scores are made of: query part by query part. */
export const parts = ['token', 'position'] as const;

export const terms: { label: string; term: Term }[] = [
  { label: 'x → x′', term: 'token-token' },
  { label: 'x → p′', term: 'token-position' },
  { label: 'p → x′', term: 'position-token' },
  { label: 'p → p′', term: 'position-position' },
];

/** Ways to build them into a model. */
export const buildWays: PositionCostWay[] = ['add', 'concat-wide', 'concat', 'project', 'untied'];

/** In the order of `buildWays`. `scores` is the place in `ways` of what each then scores by; a narrower token has full weights. */
export const builds: { short: string; label: string; scores: 0 | 2 | 3 }[] = [
  { short: 'add', label: 'add', scores: 0 },
  { short: 'wide', label: 'concatenate: d + dₚ wide', scores: 2 },
  { short: 'narrow', label: 'concatenate: token narrower', scores: 2 },
  { short: 'back to d', label: 'concatenate, map back to d', scores: 2 },
  { short: 'Q and K', label: 'concatenate in Q and K only', scores: 3 },
];

export const measures = [
  { name: 'total', label: 'Parameters', unit: 'parameters' },
  { name: 'flopsPerToken', label: 'Operations a token', unit: 'floating-point operations per token' },
  { name: 'kvCache', label: 'Key–value cache', unit: 'numbers in the key–value cache' },
] as const;

const longestSentence = 64;

/** Short enough to stand on either side of zero under the key. */
export const keyText = (value: number) => tickText(Number(value.toPrecision(3)));

export const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;

/** [A B] */
export function sideBySide(left: Rows, right: Rows): Rows {
  const columns = left.columns + right.columns;
  const data = new Float64Array(left.rows * columns);
  for (let row = 0; row < left.rows; row++) {
    data.set(left.data.subarray(row * left.columns, (row + 1) * left.columns), row * columns);
    data.set(
      right.data.subarray(row * right.columns, (row + 1) * right.columns),
      row * columns + left.columns,
    );
  }
  return { data, rows: left.rows, columns };
}

export function seeded(superpose: Superpose, { n, d, seed }: State) {
  return {
    tokens: Array.from({ length: n }, (_, place) => `token ${place}`),
    dropped: 0,
    token: superpose.randomNormal({ rows: n, columns: d, seed }),
    position: superpose.sinusoidal({ positions: n, d_model: d }),
  };
}

export async function fromModel(library: Library, { text }: State) {
  const model = await library.miniLM();
  const sentence = model.tokenize(text, longestSentence);
  const { token, position } = await model.summands(sentence);
  return { tokens: sentence.tokens, dropped: sentence.dropped, token, position };
}
