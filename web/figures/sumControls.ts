// What can be set in the figure "One sum, two readers", and the forms of its data.
import { openingHeads } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import { sentenceControl } from './sentence.js';

export const head = { kind: 'range', min: 0, max: 11, step: 1, more: true } as const;

export const controls = {
  terms: {
    kind: 'choice',
    label: 'Terms of the scores',
    options: { added: 'Added', cross: 'Cross terms off', positions: 'Positions off' },
    initial: 'added',
    radio: true,
  },
  word: { kind: 'range', more: true, label: 'Chosen token', min: 0, max: 31, step: 1, initial: 8 },
  text: sentenceControl,
  places: { ...head, label: 'Reader 1: head', initial: openingHeads[0] as number },
  words: { ...head, label: 'Reader 2: head', initial: openingHeads[1] as number },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export type Rows = Float64Array;

/** The most tokens of a sentence. */
export const longest = 32;

export type Table = { data: Rows; rows: number; columns: number };
