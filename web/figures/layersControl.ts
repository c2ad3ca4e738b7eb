// Whether a figure runs all layers, which are fetched only when the reader asks. Until then it shows what was computed
// beforehand, or, for a reader's own model, what needs no layer.
import type { MiniLM } from 'superpose';
import type { Choice } from './controls.js';
import type { Job } from './figure.js';

/** The size is that of all layers' files together; a test compares it with the manifest. */
export const layersControl = {
  kind: 'choice',
  label: 'Computed',
  options: { none: 'Beforehand', all: 'Here, your sentence (20.7 MB)' },
  initial: 'none',
  radio: true,
} as const satisfies Choice;

export const fetchingLayers = 'Fetching MiniLM: its six layers, 20.7 MB, unless they are here already…';

/** Options for forward() and the like: fetching is the first `part` of the job, and stops with the job. */
export const watching = ({ signal, progress }: Job, part: number) => ({
  signal,
  progress: (bytes: number, of: number) => progress((part * bytes) / of),
});

/** Bytes of the files of all layers. */
export const bytesOfLayers = ({ layerBytes }: MiniLM): number =>
  layerBytes.reduce((sum, bytes) => sum + bytes, 0);

/** A text in quotation marks, cut where it is too long for its place. */
export const quoted = (text: string, most: number): string =>
  `“${text.length > most ? `${text.slice(0, most - 1)}…` : text}”`;
