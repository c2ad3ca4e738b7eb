import type { Controls, StateOf } from './controls.js';

export const largestVocabulary = 5000;

export const controls = {
  of: {
    kind: 'choice',
    label: 'Show',
    options: { lost: 'Tokens that are lost', one: 'One token' },
    initial: 'lost',
    radio: true,
  },
  looked: {
    kind: 'choice',
    label: 'Tokens looked up',
    options: { some: 'The first 100', all: 'All of them (slow)' },
    initial: 'some',
    radio: true,
  },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { trained: 'MiniLM’s frequent tokens', seeded: 'Random (seeded)' },
    initial: 'trained',
    radio: true,
  },
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: { random: 'Random', sinusoidal: 'Sinusoidal' },
    initial: 'random',
  },
  vocabulary: {
    kind: 'steps',
    label: 'Vocabulary',
    values: [100, 500, 1000, 2000, largestVocabulary],
    initial: largestVocabulary,
  },
  d: { kind: 'steps', label: 'Width d', values: [4, 8, 16, 32, 64, 128, 256], initial: 64 },
  scale: { kind: 'range', label: 'Position scale ρ', min: 0, max: 4, step: 0.1, initial: 1 },
  index: { kind: 'range', label: 'Token number', min: 0, max: 4999, step: 1, initial: 0 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  word: { kind: 'text', label: 'A token', initial: 'king', longest: 40 },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export const positions = 64;

export const count = (number: number) => number.toLocaleString('en');
