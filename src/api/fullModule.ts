// The functions that only the full module has: measurements, schemes, geometry, models and training.
import { channelsApi } from './encodings/channels.js';
import { gramApi } from './encodings/gram.js';
import { rotaryApi } from './encodings/rotary.js';
import { shiftApi } from './encodings/shift.js';
import { wavelengthsApi } from './encodings/wavelengths.js';
import { type FunctionsOf, functionsOf } from './factories.js';
import { collisionsApi } from './geometry/collisions.js';
import { cosinesApi } from './geometry/cosines.js';
import { meansApi } from './geometry/means.js';
import { obliqueApi } from './geometry/oblique.js';
import { subspacesApi } from './geometry/subspaces.js';
import { encodeSafetensorsApi } from './model/encodeSafetensors.js';
import { transformerStackApi } from './model/transformerStack.js';
import type { Loaded } from './module.js';
import { schemeRegistryApi } from './scores/schemeRegistry.js';
import { schemesApi } from './scores/schemes.js';
import { type SmallSuperpose, smallApi } from './smallModule.js';
import { tasksApi } from './training/tasks.js';
import { trainerApi } from './training/trainer.js';

export type * from './encodings/channels.js';
export type * from './encodings/gram.js';
export type * from './encodings/rotary.js';
export type * from './encodings/shift.js';
export type * from './encodings/wavelengths.js';
export type * from './geometry/collisions.js';
export type * from './geometry/cosines.js';
export type * from './geometry/means.js';
export type * from './geometry/oblique.js';
export type * from './geometry/subspaces.js';
export type * from './model/transformerStack.js';
export type * from './scores/schemeInputs.js';
export type * from './scores/schemeRegistry.js';
export type * from './scores/schemes.js';
export type * from './training/tasks.js';
export type * from './training/trainer.js';
export type * from './training/trainerOptions.js';

const factories = [
  channelsApi,
  gramApi,
  rotaryApi,
  shiftApi,
  wavelengthsApi,
  collisionsApi,
  cosinesApi,
  meansApi,
  obliqueApi,
  subspacesApi,
  transformerStackApi,
  encodeSafetensorsApi,
  schemeRegistryApi,
  schemesApi,
  tasksApi,
  trainerApi,
] as const;

/**
 * The object that load() returns, with all functions that are written `superpose.` on this page.
 *
 * @category Load the library
 */
export interface Superpose extends SmallSuperpose, FunctionsOf<typeof factories> {}

export function fullApi(module: Loaded): Superpose {
  const small = smallApi(module);
  return { ...small, ...functionsOf(factories, module.raw, small) };
}
