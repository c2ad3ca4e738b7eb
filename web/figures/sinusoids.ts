// The sinusoidal encodings in use. They differ in the order of the channels and in how the frequencies fall.
import type { SinusoidalOptions } from 'superpose';
import type { Steps } from './controls.js';

export const sinusoidNames = {
  interleaved: '2017 paper',
  tensor2tensor: 'tensor2tensor’s',
  transformerXl: 'Transformer-XL’s',
} as const;

export type Sinusoid = keyof typeof sinusoidNames;

export const sinusoids: Record<Sinusoid, Required<Pick<SinusoidalOptions, 'layout' | 'spacing'>>> = {
  interleaved: { layout: 'interleaved', spacing: 'd_model' },
  tensor2tensor: { layout: 'concatenated', spacing: 'timescales' },
  transformerXl: { layout: 'concatenated', spacing: 'd_model' },
};

/** The ratio of the longest wavelength to the shortest. Links of before it could be set mean the papers'. */
export const bases: Steps = {
  kind: 'steps',
  label: 'Base',
  values: [10, 100, 1000, 10_000, 100_000, 1_000_000],
  initial: 10_000,
};
