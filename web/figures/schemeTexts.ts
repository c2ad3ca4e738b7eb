// What the schemes figure says of each scheme, its name and a sentence, and of the terms that all have.
import type { anovaTerms, SchemeId } from 'add-or-concatenate';
import type { Ink, Term } from '../plot/scene.js';
import { termLabels } from './terms.js';

interface Kind {
  /** The name in the list to choose from. */
  name: string;
  /** A name that is short enough for a small map. */
  label: string;
  says: string;
}

/** In the order of the registry. */
export const kinds: Record<SchemeId, Kind> = {
  none: {
    name: 'No position',
    label: 'none',
    says: 'Tokens alone: where they stand makes no difference to any score.',
  },
  add: {
    name: 'Added',
    label: 'added',
    says: 'Positions are added to the tokens, and one projection reads both. Four terms.',
  },
  'concat-raw': {
    name: 'Concatenated, no weights',
    label: 'concat raw',
    says: 'Tokens and positions concatenated, compared as they are. Two terms, no cross terms.',
  },
  'concat-full': {
    name: 'Concatenated, full weights',
    label: 'concat full',
    says: 'Concatenated, then any weights: four terms again, each with weights of its own.',
  },
  'concat-block-diagonal': {
    name: 'Concatenated, block-diagonal',
    label: 'concat block',
    says: 'Concatenated, with separate projections and head channels: a sum of two scores.',
  },
  shaw: {
    name: 'Shaw’s relative keys',
    label: 'Shaw',
    says: 'The key gets a learned vector for its offset; far offsets share one.',
  },
  'transformer-xl': {
    name: 'Transformer-XL',
    label: 'Transf.-XL',
    says: 'The key’s position is a sinusoid of the offset; two learned vectors stand in for the query’s position.',
  },
  t5: {
    name: 'T5 buckets',
    label: 'T5',
    says: 'Each head adds a learned number for the offset; far offsets share one.',
  },
  alibi: {
    name: 'ALiBi',
    label: 'ALiBi',
    says: 'Each head subtracts a fixed multiple of the distance. Nothing is learned.',
  },
  deberta: {
    name: 'DeBERTa',
    label: 'DeBERTa',
    says: 'Token with token, token with offset, and offset with token; offset with offset is left out.',
  },
  'tupe-a': {
    name: 'TUPE-A',
    label: 'TUPE-A',
    says: 'Tokens and positions have projections of their own, and [CLS], the first token, is set apart.',
  },
  'tupe-r': { name: 'TUPE-R', label: 'TUPE-R', says: 'TUPE-A, and a learned number for the offset.' },
  'diet-abs': {
    name: 'DIET-ABS',
    label: 'DIET-ABS',
    says: 'Each head adds the product of two learned position vectors to the score.',
  },
  'diet-rel': {
    name: 'DIET-REL',
    label: 'DIET-REL',
    says: 'Each head adds a learned number for the offset to the score.',
  },
  rope: {
    name: 'RoPE',
    label: 'RoPE',
    says: 'Query and key are rotated by their positions, so that only the difference of the angles counts.',
  },
  'decoupled-rope': {
    name: 'Decoupled RoPE',
    label: 'decoupled',
    says: 'One part of each head compares tokens without positions; another part is rotated as in RoPE. DeepSeek-V2 has it.',
  },
};

/**
 * The labels and colours of the terms, which are the same for every scheme: they go by what a score asks
 * about.
 */
export type AnovaTerm = (typeof anovaTerms)[number];

export const anovaLabels: Record<AnovaTerm, { label: string; ink: Ink; term?: Term }> = {
  'token-token': { label: termLabels['token-token'], ink: 'token-token', term: 'token-token' },
  'token-offset': { label: 'tokens at a distance', ink: 'second' },
  'token-position': { label: termLabels['token-position'], ink: 'token-position', term: 'token-position' },
  'position-token': { label: termLabels['position-token'], ink: 'position-token', term: 'position-token' },
  'position-position': {
    label: termLabels['position-position'],
    ink: 'position-position',
    term: 'position-position',
  },
  key: { label: 'the key alone', ink: 'rest', term: 'rest' },
  query: { label: 'the query alone', ink: 'quiet' },
};
