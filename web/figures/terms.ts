// The five terms of a score, as the figures call them: four pairs of token and position, and the rest.
import type { Term } from '../plot/scene.js';

export const termLabels = {
  'token-token': 'token → token',
  'token-position': 'token → position',
  'position-token': 'position → token',
  'position-position': 'position → position',
  rest: 'the rest',
} as const satisfies Record<Term, string>;

export const terms = Object.keys(termLabels) as Term[];
export const termKinds = terms.map((term) => ({ label: termLabels[term], term }));

/**
 * Which of a layer's sixteen terms each has: number 4 s + r is query part s with key part r, of token, position,
 * token_type and constant.
 */
export const ofSixteen: Record<Term, number[]> = {
  'token-token': [0],
  'token-position': [1],
  'position-token': [4],
  'position-position': [5],
  rest: [2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
};

/** A layer's parts in three groups; what is neither token nor position is the rest. */
export const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
/** Which of `terms` each of their nine is: number 3 s + r is query group s with key group r. */
export const kindOf = [0, 1, 4, 2, 3, 4, 4, 4, 4];
