// Whether a figure has the layers after the first scores, which are fetched only when the reader asks.
import type { MiniLM } from 'superpose';
import type { Mark } from '../plot/scene.js';
import type { Choice } from './controls.js';
import type { Job } from './figure.js';

/** The size is that of all layers' files together; a test compares it with the manifest. */
export const layersControl = {
  kind: 'choice',
  label: 'Layers of MiniLM',
  options: { none: 'Before the first', all: 'All six (fetches 20.7 MB)' },
  initial: 'none',
  radio: true,
} as const satisfies Choice;

export const fetchingLayers = 'Fetching MiniLM: its six layers, 20.7 MB, unless they are here already…';

/** Options for forward() and the like: fetching is the first `part` of the job, and stops with the job. */
export const watching = ({ signal, progress }: Job, part: number) => ({
  signal,
  progress: (bytes: number, of: number) => progress((part * bytes) / of),
});

/** Lines that say what will be in the room of layers that have not been asked for. */
export const roomFor = (x: number, y: number, lines: readonly string[]): Mark[] =>
  lines.map((text, line) => ({
    mark: 'text',
    x,
    y: y + 18 * (line - (lines.length - 2) / 2),
    text,
    anchor: 'middle',
    ink: 'ink',
  }));

/** Bytes of the files of all layers. */
export const bytesOfLayers = ({ layerBytes }: MiniLM): number =>
  layerBytes.reduce((sum, bytes) => sum + bytes, 0);
