// What later figures need: measurements of encodings, schemes and geometry. Fetched on demand. Encoders, which run in
// the same module, have their own file, model/encoder.ts: few figures run one.
import { channelsApi } from './encodings/channels.js';
import { gramApi } from './encodings/gram.js';
import { relativePositionApi } from './encodings/relativePosition.js';
import { rotaryApi } from './encodings/rotary.js';
import { shiftApi } from './encodings/shift.js';
import { wavelengthsApi } from './encodings/wavelengths.js';
import { type Made, made } from './factories.js';
import type { First } from './first.js';
import { collisionsApi } from './geometry/collisions.js';
import { cosinesApi } from './geometry/cosines.js';
import { meanDecompositionApi } from './geometry/meanDecomposition.js';
import { obliqueApi } from './geometry/oblique.js';
import { subspacesApi } from './geometry/subspaces.js';
import { type Loaded, type LoadOptions, loadPart, type RawSecond } from './module.js';
import { costApi } from './scores/cost.js';
import { rankApi } from './scores/rank.js';
import { schemeRegistryApi } from './scores/schemeRegistry.js';
import { schemesApi } from './scores/schemes.js';
import { softmaxApi } from './scores/softmax.js';
import { tasksApi } from './training/tasks.js';
import { trainApi } from './training/train.js';
import { trainerApi } from './training/trainer.js';
import create from './wasm/superpose-second-plain.js';

export type * from './encodings/channels.js';
export type * from './encodings/gram.js';
export type * from './encodings/relativePosition.js';
export type * from './encodings/rotary.js';
export type * from './encodings/shift.js';
export type * from './encodings/wavelengths.js';
export type * from './geometry/collisions.js';
export type * from './geometry/cosines.js';
export type * from './geometry/meanDecomposition.js';
export type * from './geometry/oblique.js';
export type * from './geometry/subspaces.js';
export type * from './model/encoder.js';
export type * from './model/encodeSafetensors.js';
export type * from './scores/cost.js';
export type * from './scores/rank.js';
export type * from './scores/schemeInputs.js';
export type * from './scores/schemeRegistry.js';
export type * from './scores/schemes.js';
export type * from './scores/softmax.js';
export type * from './training/tasks.js';
export type * from './training/train.js';
export type * from './training/trainer.js';
export type * from './training/trainerOptions.js';
export type * from './training/trainerResults.js';

const factories = [
  channelsApi,
  gramApi,
  relativePositionApi,
  rotaryApi,
  shiftApi,
  wavelengthsApi,
  collisionsApi,
  cosinesApi,
  meanDecompositionApi,
  obliqueApi,
  subspacesApi,
  costApi,
  rankApi,
  schemeRegistryApi,
  schemesApi,
  softmaxApi,
  tasksApi,
  trainApi,
  trainerApi,
] as const;

export interface Second extends Made<typeof factories> {
  /** Bytes of the module's memory, as in First. */
  memoryBytes(): number;
}

export const startSecond = (options: LoadOptions) => loadPart<RawSecond>('second', create, options);

/** The functions that run in this module, but for encoders. */
export const secondOver = ({ raw }: Loaded<RawSecond>, first: First): Second => ({
  memoryBytes: raw.memoryBytes,
  ...made(factories, raw, first),
});
