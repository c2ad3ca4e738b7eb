// What can be set in the figure "three-concats".
import type { Table } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import { sentenceControl, tokensControl } from './sentence.js';

export const controls = {
  // The options are `yes` and `no` because links have said so since this was a check box.
  tied: {
    kind: 'choice',
    label: 'Full weights of the position, W₂',
    options: { no: 'its own', yes: 'W₂ = W₁: adds' },
    initial: 'no',
    radio: true,
  },
  tokens: { ...tokensControl, label: 'Tokens; weights are random' },
  d_position: {
    kind: 'steps',
    label: 'Position width dₚ',
    values: [4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    initial: 64,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  d: { kind: 'steps', more: true, label: 'Width d', values: [2, 4, 8, 16, 32, 64, 128, 256], initial: 64 },
  d_head: { kind: 'steps', more: true, label: 'Head width', values: [1, 2, 4, 8, 16, 32, 64], initial: 8 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: sentenceControl,
  model: {
    kind: 'choice',
    more: true,
    label: 'Model shape',
    options: { bert: 'BERT-base', minilm: 'all-MiniLM-L6-v2', gpt2: 'GPT-2 small', own: 'Your own' },
    initial: 'bert',
  },
  d_model: {
    kind: 'steps',
    more: true,
    label: 'Model’s width',
    values: [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192],
    initial: 768,
  },
  layers: { kind: 'range', more: true, label: 'Layers', min: 1, max: 128, step: 1, initial: 12 },
  heads: { kind: 'range', more: true, label: 'Heads', min: 1, max: 64, step: 1, initial: 12 },
  vocabulary: {
    kind: 'steps',
    more: true,
    label: 'Vocabulary',
    values: [256, 1000, 8000, 30522, 32000, 50257, 128256, 256000],
    initial: 30522,
  },
  positions: {
    kind: 'steps',
    more: true,
    label: 'Positions',
    values: [128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  context: {
    kind: 'steps',
    more: true,
    label: 'Tokens at once',
    values: [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  segments: { kind: 'range', more: true, label: 'Segments', min: 0, max: 4, step: 1, initial: 2 },
  pooler: { kind: 'toggle', more: true, label: 'BERT’s pooler', initial: true },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export type Rows = Table<Float64Array>;

export type Shape = Pick<
  State,
  'd_model' | 'layers' | 'heads' | 'vocabulary' | 'positions' | 'segments' | 'pooler'
>;

/** MiniLM's position table has 512 rows, GPT-2's 1024; GPT-2 has neither segments nor a pooler. */
export const shapes: Record<string, Shape> = {
  bert: { layers: 12, d_model: 768, heads: 12, vocabulary: 30522, positions: 512, segments: 2, pooler: true },
  minilm: {
    layers: 6,
    d_model: 384,
    heads: 12,
    vocabulary: 30522,
    positions: 512,
    segments: 2,
    pooler: true,
  },
  gpt2: {
    layers: 12,
    d_model: 768,
    heads: 12,
    vocabulary: 50257,
    positions: 1024,
    segments: 0,
    pooler: false,
  },
};
