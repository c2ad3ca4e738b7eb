// The ways that position gets into the small models: one name for each in figures, links, recorded files and
// the command `train`, with its label and what is trained. Where the library's trainer has a scheme for a
// way, both have the same name. Language models use the same names for the ways that they share
// (languageRuns.ts).
import type { TaskTrainerOptions, TrainingTerm } from 'add-or-concatenate';
import { plainCopy } from '../../plot/plainCopy.js';

export interface WayIn {
  /** The trainer's options, for tokens of d channels. */
  options(d: number): Partial<TaskTrainerOptions>;
  /** Its label, for tokens of d channels. */
  label(d: number): string;
  /**
   * Whether tokens and positions are added, concatenated or given separate scores; unset if that is not
   * compared.
   */
  kind?: 'added' | 'concatenated' | 'separate';
  /** Set if the way is about how long token and position rows are before training. */
  loudness?: true;
}

/** The terms of tokens with positions. */
export const crossTerms: readonly TrainingTerm[] = ['token-position', 'position-token'];

const divided = (d: number, positions: number) => `Concatenated ${d - positions} + ${positions}`;
/** A sinusoid as it is, with tokens from N(0, 1/d). */
const unscaled = (d: number) =>
  ({ scheme: 'add', table: 'sinusoid', sigmaTokens: d ** -0.5, sigmaPositions: Math.SQRT1_2 }) as const;

/** All ways, in the order in which tables list them. */
export const waysIn = {
  add: { options: () => ({ scheme: 'add' }), label: (d) => `Added (${d} wide)`, kind: 'added' },
  'concat-half': {
    options: () => ({ scheme: 'concat' }),
    label: (d) => `${divided(d, d / 2)} (divided)`,
    kind: 'concatenated',
  },
  'concat-quarter': {
    options: (d) => ({ scheme: 'concat', d_position: Math.ceil(d / 4) }),
    label: (d) => divided(d, d / 4),
    kind: 'concatenated',
  },
  'concat-eighth': {
    options: (d) => ({ scheme: 'concat', d_position: Math.ceil(d / 8) }),
    label: (d) => divided(d, d / 8),
  },
  'concat-wide': {
    options: () => ({ scheme: 'concat-wide' }),
    label: (d) => `Concatenated ${d} + ${d} (widened)`,
    kind: 'concatenated',
  },
  'add-wide': {
    options: (d) => ({ scheme: 'add', d_model: 2 * d }),
    label: (d) => `Added (${2 * d} wide)`,
    kind: 'added',
  },
  'concat-wide-without-cross-terms': {
    options: () => ({ scheme: 'concat-wide', cuts: crossTerms }),
    label: (d) => `Concatenated ${d} + ${d}, block-diagonal`,
    kind: 'separate',
  },
  'add-without-cross-terms': {
    options: () => ({ scheme: 'add', cuts: crossTerms }),
    label: () => 'Added without cross terms',
    kind: 'separate',
  },
  tupe: { options: () => ({ scheme: 'tupe' }), label: () => 'TUPE', kind: 'separate' },
  'add-sinusoid': { options: () => ({ scheme: 'add', table: 'sinusoid' }), label: () => 'Added sinusoid' },
  rope: { options: () => ({ scheme: 'rope' }), label: () => 'RoPE' },
  alibi: { options: () => ({ scheme: 'alibi' }), label: () => 'ALiBi' },
  t5: { options: () => ({ scheme: 't5' }), label: () => 'T5 bias' },
  none: { options: () => ({ scheme: 'none' }), label: () => 'No position' },
  'add-sinusoid-scaled': {
    options: (d) => ({ ...unscaled(d), scaleTokens: true }),
    label: () => 'Sinusoid, tokens times √d (2017)',
    loudness: true,
  },
  'add-sinusoid-unscaled': {
    options: unscaled,
    label: () => 'Sinusoid, tokens without √d',
    loudness: true,
  },
  'add-to-queries-keys': {
    options: () => ({ scheme: 'add-to-queries-keys' }),
    label: () => 'Queries and keys only: v of LN(e)',
  },
  project: { options: () => ({ scheme: 'project' }), label: () => 'Projected back: W[e; p] = Ae + Bp' },
  multiply: { options: () => ({ scheme: 'multiply' }), label: () => 'Multiplied: (1 + p)e' },
  'uniform-attention': {
    options: () => ({ scheme: 'add', zeroScores: true }),
    label: () => 'Added, scores 0: looks everywhere equally',
  },
  'add-fixed': {
    options: () => ({ scheme: 'add', fixedTokens: true, fixedPositions: true }),
    label: () => 'Added, both tables frozen',
  },
  'concat-fixed': {
    options: () => ({ scheme: 'concat', fixedTokens: true, fixedPositions: true }),
    label: (d) => `${divided(d, d / 2)}, both tables frozen`,
  },
} as const satisfies Record<string, WayIn>;

export type WayName = keyof typeof waysIn;
export const wayNames = /* @__PURE__ */ Object.keys(waysIn) as WayName[];
export const isWay = (name: string): name is WayName => Object.hasOwn(waysIn, name);

export const wayIn = (name: WayName): WayIn => plainCopy(waysIn[name]);
