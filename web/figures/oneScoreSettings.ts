// What can be set in the figure "one-score", and what it shows.
import type { Floats } from 'superpose';
import type { Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { gaugeControl } from './gaugeControl.js';
import { headControl, sentenceControl } from './sentence.js';
import { ofSixteen, termKinds, termLabels, terms } from './terms.js';

export const controls = {
  weights: {
    kind: 'choice',
    label: 'Tables and weights',
    options: {
      trained: 'Your sentence, MiniLM’s weights',
      mixed: 'Your sentence, random weights',
      seeded: 'Random tokens and weights',
    },
    initial: 'trained',
  },
  head: { ...headControl, initial: 2 },
  view: {
    kind: 'choice',
    more: true,
    label: 'Terms',
    options: { four: 'Four questions, and the rest', sixteen: 'All sixteen' },
    initial: 'four',
    radio: true,
  },
  on: {
    kind: 'several',
    more: true,
    label: 'Terms included',
    options: termLabels,
    initial: terms,
  },
  gauge: { ...gaugeControl, more: true },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
  tables: {
    kind: 'toggle',
    more: true,
    label: 'Show the tables and their dot products',
    initial: false,
  },
  positions: {
    kind: 'choice',
    more: true,
    label: 'Positions',
    options: {
      own: 'MiniLM’s; sines for random tokens',
      interleaved: 'Sines, 2017 paper',
      tensor2tensor: 'Sines, tensor2tensor',
      transformerXl: 'Sines, Transformer-XL',
      small: 'Random, as small as learned ones begin',
      random: 'Random, as long as sines',
    },
    initial: 'own',
  },
  scale: {
    kind: 'range',
    more: true,
    label: 'Position scale ρ',
    min: 0,
    max: 4,
    step: 0.05,
    initial: 1,
  },
  layer: {
    kind: 'choice',
    more: true,
    label: 'Random layer',
    options: { whole: 'With LayerNorm and biases', bare: 'Without' },
    initial: 'whole',
    radio: true,
  },
  d: {
    kind: 'steps',
    more: true,
    label: 'Width d',
    values: [4, 8, 16, 32, 64, 128, 256, 384],
    initial: 384,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 16 },
  heads: { kind: 'steps', more: true, label: 'Heads', values: [1, 2, 4, 8, 12], initial: 12 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  weightSeed: { kind: 'seed', more: true, label: 'Seed of weights', initial: 1 },
  text: { ...sentenceControl, more: true },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export interface Panel {
  sum: Floats;
  centred: Floats;
  share: number;
}

export interface OneScore {
  tokens: readonly string[];
  dropped: number;
  n: number;
  panels: Panel[];
  /** The direct logits, not the sum of the terms. */
  logits: Panel;
  /** The terms that are on. */
  kept: Panel & { softmax: Floats };
  /** The largest |sum of all terms − logits|. */
  residual: number;
  /** The five shares of each head, to choose one by; empty if only one head was taken apart. */
  heads: number[][];
  /** What the scores are of, if it is shown. */
  tables?: Tables | undefined;
}

/** [n, d]: the tokens, the positions as they are scaled, and their sum; [n, n]: their dot products. */
export interface Tables {
  d: number;
  rows: Record<'token' | 'position' | 'sum', Float64Array>;
  products: Record<'concatenated' | 'added', Float64Array>;
  correlation: number;
}

export type Data = OneScore;

interface PanelKind {
  label: string;
  question: string;
  term: Term;
}

const parts = ['token', 'position', 'segment', 'constant'];

/** The four questions, and all that is left. */
const questions: Record<Term, string> = {
  'token-token': 'Tokens together?',
  'token-position': 'Token asks position?',
  'position-token': 'Position asks token?',
  'position-position': 'Positions together?',
  rest: 'Means, β and biases',
};

export const fourPanels: PanelKind[] = termKinds.map((kind) => ({ ...kind, question: questions[kind.term] }));

const sixteenPanels: PanelKind[] = parts.flatMap((queryPart, s) =>
  parts.map((keyPart, r) => {
    const index = s * parts.length + r;
    const term = terms.find((one) => ofSixteen[one].includes(index)) as Term;
    return { label: `${queryPart} → ${keyPart}`, question: '', term };
  }),
);

/** In the canonical gauge, the segment is only one of the means. */
const rawFourPanels = fourPanels.map((panel) =>
  panel.term === 'rest' ? { ...panel, question: 'Segment, β and biases' } : panel,
);

export const kindsOf = ({ view, gauge }: State): PanelKind[] =>
  view === 'sixteen' ? sixteenPanels : gauge === 'raw' ? rawFourPanels : fourPanels;

/** By panel, the numbers of the terms that it adds up. */
export const termsOf = ({ view }: State): number[][] =>
  view === 'sixteen'
    ? Array.from({ length: 16 }, (_, number) => [number])
    : terms.map((term) => ofSixteen[term]);

export const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);
