import type { Controls, StateOf } from './controls.js';
import { gaugeControl } from './gaugeControl.js';
import type { Layer } from './seededLayer.js';
import { headControl, sentenceControl, weightsControl } from './sentence.js';

export const most = 2;

const step = 0.1;

export const controls = {
  of: {
    kind: 'choice',
    label: 'Mistake',
    options: { gauge: 'Shares taken raw', parts: 'Parts normalized one by one' },
    initial: 'gauge',
    radio: true,
  },
  amount: {
    kind: 'range',
    label: 'Mean rows moved',
    min: -most,
    max: most,
    step,
    initial: 1,
  },
  weights: weightsControl,
  head: { ...headControl, initial: 9 },
  gauge: { ...gaugeControl, more: true },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 16 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: false },
  text: sentenceControl,
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export const amounts = Array.from({ length: 2 * Math.round(most / step) + 1 }, (_, place) =>
  Number((step * place - most).toFixed(1)),
);

export const placeOf = ({ amount }: State): number => amounts.indexOf(Number(amount.toFixed(1)));

export type HeadOfLayer = Layer & { only: [number] };

export const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;
