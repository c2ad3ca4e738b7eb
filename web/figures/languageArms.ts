// The ways in of the recorded language models: what they are called, where position goes, and what shows each apart.
import type { SchemeId } from 'superpose';

export const groups = {
  nowhere: 'nowhere',
  input: 'at the input',
  values: 'in attention, values too',
  first: 'in the first layer’s scores alone',
  scores: 'in attention scores alone',
} as const;

/** Each with a sentence. */
const sentences = {
  nowhere: 'Nothing says where a token stands. Each still sees only those before it.',
  projected: 'The two are concatenated, and a matrix maps them back to the old width.',
  sinusoid: 'A fixed pattern of waves is added to each token’s vector.',
  'disjoint-start': 'Added. At the start, tokens and positions use different channels.',
  added: 'A learned vector for each position is added to the token’s, before the first layer.',
  'cross-terms-cut': 'Added. The first layer’s scores leave out token with position.',
  'concatenated-half': 'Half of the channels hold the token, half the position.',
  'concatenated-sixteenth': 'One channel in sixteen holds the position, the others the token.',
  concatenated: 'Three quarters of the channels hold the token, one quarter the position.',
  'added-wider': 'Added, in a model a quarter wider.',
  'concatenated-wider': 'The position has 64 channels of its own beside the token’s 256.',
  'values-again-first': 'The first layer’s queries, keys and values read a position beside the token.',
  'values-again-every': 'The queries, keys and values of every layer read one.',
  'not-into-stream': 'Only what the first layer’s attention reads has positions added to it.',
  'nor-into-values': 'Only the first layer’s queries and keys have positions added to them.',
  'normalized-apart': 'The same, with tokens and positions normalized before they are added.',
  'queries-keys-added': 'The same in every layer.',
  'queries-keys-concatenated': 'In every layer queries and keys read the token and, beside it, its position.',
  rotated: 'Each query and key is turned by an angle that grows with its position.',
  'separate-scores': 'Tokens are compared with tokens and positions with positions; the scores are added.',
  'rotated-beside': 'Beside the 64 numbers of a head’s query or key stand 32 that are turned.',
} as const;
export type ArmName = keyof typeof sentences;

/** Name, where position goes, and the scheme whose scores are shown apart. */
const facts: Record<ArmName, [string, keyof typeof groups, SchemeId]> = {
  nowhere: ['no position', 'nowhere', 'none'],
  projected: ['concatenated, mapped back', 'input', 'concat-full'],
  sinusoid: ['added sinusoid', 'input', 'add'],
  'disjoint-start': ['added, begun apart', 'input', 'add'],
  added: ['added', 'input', 'add'],
  'cross-terms-cut': ['added, cross terms cut', 'input', 'add'],
  'concatenated-half': ['concatenated, half each', 'input', 'concat-full'],
  'concatenated-sixteenth': ['concatenated, a sixteenth', 'input', 'concat-full'],
  concatenated: ['concatenated, same width', 'input', 'concat-full'],
  'added-wider': ['added, 320 wide', 'input', 'add'],
  'concatenated-wider': ['concatenated, 320 wide', 'input', 'concat-full'],
  'values-again-first': ['values too, first layer', 'values', 'add'],
  'values-again-every': ['values too, every layer', 'values', 'add'],
  'not-into-stream': ['not into the stream', 'values', 'add'],
  'nor-into-values': ['nor into values', 'first', 'add'],
  'normalized-apart': ['normalized apart', 'first', 'add'],
  'queries-keys-added': ['in every layer', 'scores', 'add'],
  'queries-keys-concatenated': ['in every layer, concatenated', 'scores', 'concat-full'],
  rotated: ['rotated (RoPE)', 'scores', 'rope'],
  'separate-scores': ['scores kept separate (TUPE)', 'scores', 'tupe-a'],
  'rotated-beside': ['rotated part concatenated (DeepSeek)', 'scores', 'decoupled-rope'],
};

export const armNames = /* @__PURE__ */ Object.keys(facts) as ArmName[];
export const isArm = (name: string): name is ArmName => Object.hasOwn(facts, name);
export const nameOf = (arm: ArmName) => facts[arm][0];
export const groupOf = (arm: ArmName) => facts[arm][1];
export const schemeOf = (arm: ArmName) => facts[arm][2];
export const sentenceOf = (arm: ArmName): string => sentences[arm];

export type ViewName = 'short' | 'long' | 'masked' | 'ladder';
const six: ArmName[] = ['nowhere', 'added', 'concatenated', 'rotated', 'separate-scores', 'rotated-beside'];
/** The rows in sight before all are asked for. On the ladder each changes one thing of the one before it. */
export const firstArms: Record<ViewName, readonly ArmName[]> = {
  short: six,
  long: ['added', 'concatenated', 'not-into-stream', 'nor-into-values', 'rotated'],
  masked: ['added', 'concatenated', 'rotated', 'separate-scores'],
  ladder: [
    'added',
    'concatenated',
    'not-into-stream',
    'nor-into-values',
    'normalized-apart',
    'queries-keys-added',
  ],
};
