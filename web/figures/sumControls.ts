// What can be set in the figure "One sum, two readers", and the forms that its two views share.
import { openingHeads } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import { sentenceControl } from './sentence.js';

export const head = { kind: 'range', min: 0, max: 11, step: 1, more: true } as const;

export const controls = {
  of: {
    kind: 'choice',
    label: 'Show',
    options: { readers: 'Two readers', channels: 'Channel by channel' },
    initial: 'readers',
    radio: true,
  },
  terms: {
    kind: 'choice',
    label: 'Terms of the scores',
    options: { added: 'Added', cross: 'Cross terms off', positions: 'Positions off' },
    initial: 'added',
    radio: true,
  },
  word: { kind: 'range', more: true, label: 'Chosen token', min: 0, max: 31, step: 1, initial: 8 },
  first: { kind: 'range', label: 'At position i', min: 0, max: 127, step: 1, initial: 3 },
  second: { kind: 'range', label: 'And at position j', min: 0, max: 127, step: 1, initial: 12 },
  scale: { kind: 'range', more: true, label: 'Position scale ρ', min: 0, max: 4, step: 0.05, initial: 1 },
  text: sentenceControl,
  places: { ...head, label: 'Reader 1: head', initial: openingHeads[0] as number },
  words: { ...head, label: 'Reader 2: head', initial: openingHeads[1] as number },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export type Rows = Float64Array;

/** The most tokens of a sentence. */
export const longest = 32;

export type Table = { data: Rows; rows: number; columns: number };

export const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;
