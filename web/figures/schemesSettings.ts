import type { AskedTerm, SchemeId as Id, OffsetMeans } from 'superpose';
import { type Controls as AnyControls, labelled, type StateOf } from './controls.js';
import { kinds } from './schemeTexts.js';
import { bases } from './sinusoids.js';

// Marked as pure: a worker, which draws nothing, leaves the texts out.
export const ids = /* @__PURE__ */ Object.keys(kinds) as Id[];

const names = /* @__PURE__ */ labelled(ids, (id) => kinds[id].name);

export const controls = {
  scheme: {
    kind: 'choice',
    label: 'Scheme',
    options: names,
    initial: 'add',
  },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { one: 'One token, repeated', many: 'All different' },
    initial: 'one',
    radio: true,
  },
  view: {
    kind: 'choice',
    more: true,
    label: 'Small maps',
    options: { logits: 'Scores', softmax: 'Softmax' },
    initial: 'logits',
    radio: true,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  spread: {
    kind: 'steps',
    more: true,
    label: 'Learned spread',
    values: [0, 0.02, 0.1, 0.3, 1],
    initial: 1,
  },
  common: {
    kind: 'steps',
    more: true,
    label: 'Common to all tokens',
    values: [0, 0.5, 1, 2],
    initial: 0,
  },
  causal: { kind: 'toggle', more: true, label: 'Causal', initial: false },
  base: { ...bases, more: true },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies AnyControls;

export type Controls = typeof controls;
export type State = StateOf<Controls>;

/** What a map varies by: nothing, the offset alone, or also the two places. */
type Depends = 'nothing' | 'offset' | 'places';

/** A map, [n, n], and how much of it the offset explains. */
export interface OffsetMap {
  values: Float64Array;
  /** Kernel and share: the mean at each offset j − i from −(n − 1), [2n − 1], and how much it explains. */
  offsets: OffsetMeans;
  /** How far the values go from their mean. */
  limit: number;
  depends: Depends;
}

export interface Data {
  n: number;
  /** Shares by `askedTerms`, of what varies over the keys; NaN when nothing does. */
  schemes: Record<Id, { logits: OffsetMap; softmax: Float64Array; shares: Float64Array }>;
  /** Of the chosen scheme; those that are 0 everywhere are left out. */
  terms: (OffsetMap & { name: AskedTerm })[];
  name: string;
  tex: string;
  parameters: number;
}

export const below = 1e-9;
