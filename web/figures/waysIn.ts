// How small models are trained, by the names that figures, links and `superpose train` have in common. This table
// says all of a way in: what is trained, how it is called, and what else depends on it.
import type { TaskTrainerOptions, TrainingTerm } from 'superpose';
import { plainCopy } from '../plot/plainCopy.js';

export interface WayIn {
  /** What is trained, where a token has d channels. */
  options(d: number): Partial<TaskTrainerOptions>;
  /** How it is called, with these channels. */
  name(d: number): string;
  /** How tokens and positions are put together, where that is compared; or whether scores keep them apart. */
  kind?: 'added' | 'concatenated' | 'apart';
  /** Its scores have no terms with positions that can be cut. */
  noTerms?: true;
  /** It is about how large rows begin. */
  loudness?: true;
}

/** Of tokens with positions. */
export const crossTerms: readonly TrainingTerm[] = ['token-position', 'position-token'];

const parted = (d: number, positions: number) => `Concatenated ${d - positions} + ${positions}`;
/** A sinusoid as it is, with tokens from N(0, 1/d). */
const unscaled = (d: number) =>
  ({ scheme: 'add', table: 'sinusoid', sigmaTokens: d ** -0.5, sigmaPositions: Math.SQRT1_2 }) as const;

/** In the order of tables. */
export const waysIn = {
  add: { options: () => ({ scheme: 'add' }), name: (d) => `Added (${d} wide)`, kind: 'added' },
  concat: {
    options: () => ({ scheme: 'concat' }),
    name: (d) => `${parted(d, d / 2)} (divided)`,
    kind: 'concatenated',
  },
  'concat-wide': {
    options: () => ({ scheme: 'concat-wide' }),
    name: (d) => `Concatenated ${d} + ${d} (widened)`,
    kind: 'concatenated',
  },
  wider: {
    options: (d) => ({ scheme: 'add', d_model: 2 * d }),
    name: (d) => `Added (${2 * d} wide)`,
    kind: 'added',
  },
  apart: {
    options: () => ({ scheme: 'concat-wide', cuts: crossTerms }),
    name: (d) => `Concatenated ${d} + ${d} (separate scores)`,
    kind: 'apart',
  },
  cut: {
    options: () => ({ scheme: 'add', cuts: crossTerms }),
    name: () => 'Added without cross terms',
    kind: 'apart',
  },
  untied: { options: () => ({ scheme: 'untied' }), name: () => 'Untied scores (TUPE)', kind: 'apart' },
  'add-sinusoid': { options: () => ({ scheme: 'add', table: 'sinusoid' }), name: () => 'Added sinusoid' },
  'add-frozen': {
    options: () => ({ scheme: 'add', fixedTokens: true, fixedPositions: true }),
    name: () => 'Added, both tables frozen',
  },
  'concat-8': {
    kind: 'concatenated',
    options: (d) => ({ scheme: 'concat', d_position: Math.ceil(d / 4) }),
    name: (d) => parted(d, d / 4),
  },
  'concat-4': {
    options: (d) => ({ scheme: 'concat', d_position: Math.ceil(d / 8) }),
    name: (d) => parted(d, d / 8),
  },
  'concat-frozen': {
    options: () => ({ scheme: 'concat', fixedTokens: true, fixedPositions: true }),
    name: (d) => `${parted(d, d / 2)}, both tables frozen`,
  },
  rope: { options: () => ({ scheme: 'rope' }), name: () => 'RoPE', noTerms: true },
  alibi: { options: () => ({ scheme: 'alibi' }), name: () => 'ALiBi', noTerms: true },
  t5: { options: () => ({ scheme: 't5' }), name: () => 'T5 bias', noTerms: true },
  none: { options: () => ({ scheme: 'none' }), name: () => 'No positions', noTerms: true },
  transformer: {
    options: (d) => ({ ...unscaled(d), scaleTokens: true }),
    name: () => 'Sinusoid, tokens times √d (2017)',
    loudness: true,
  },
  unscaled: { options: unscaled, name: () => 'Sinusoid, tokens without √d', loudness: true },
  qk: { options: () => ({ scheme: 'qk' }), name: () => 'Queries and keys only: v of LN(e)' },
  project: { options: () => ({ scheme: 'project' }), name: () => 'Projected back: W[e; p] = Ae + Bp' },
  multiply: { options: () => ({ scheme: 'multiply' }), name: () => 'Multiplied: (1 + p)e', noTerms: true },
  zero: {
    options: () => ({ scheme: 'add', zeroScores: true }),
    name: () => 'Added, scores 0: looks at all alike',
    noTerms: true,
  },
} as const satisfies Record<string, WayIn>;

export type WayName = keyof typeof waysIn;
export const wayNames = /* @__PURE__ */ Object.keys(waysIn) as WayName[];
export const isWay = (name: string): name is WayName => Object.hasOwn(waysIn, name);

export const wayIn = (name: WayName): WayIn => plainCopy(waysIn[name]);
