// Which gauge terms and shares are in, for the figures that show them.
import type { Choice } from './controls.js';

export const gaugeControl = {
  kind: 'choice',
  label: 'Gauge',
  options: { canonical: 'Canonical', raw: 'Raw, as the tables come' },
  initial: 'canonical',
  before: 'raw',
  radio: true,
} as const satisfies Choice;

/** [CLS] stands at position 0 of every sentence, so that its row tells nothing of either. */
export const apartOf = (gauge: 'canonical' | 'raw', weights: 'trained' | 'seeded'): number[] =>
  gauge === 'canonical' && weights === 'trained' ? [0] : [];
