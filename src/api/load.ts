// Apart from rest.ts, so that no page of figures fetches what writes files.
import { loadFirst } from './first.js';
import { type EncodeSafetensorsApi, encodeSafetensorsApi } from './model/encodeSafetensors.js';
import type { LoadOptions } from './module.js';
import { loadRest } from './rest.js';
import type { Superpose } from './superpose.js';

/**
 * Starts the WebAssembly modules and returns the functions that run in them, and the one that writes files, which no
 * page of figures needs. Throws an Error whose message is a plain sentence when the engine has no WebAssembly SIMD or a
 * file cannot be read.
 */
export async function load(options: LoadOptions = {}): Promise<Superpose & EncodeSafetensorsApi> {
  return { ...(await loadRest(await loadFirst(options), options)), ...encodeSafetensorsApi() };
}
