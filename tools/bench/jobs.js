// The jobs of the bench. A job has shapes, an input, engines, and the allowed error relative to a reference.
// An engine's prepare(input) sets up what stays the same (weights, graphs, memory) and returns run(), which
// is timed, and release().
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import { load, supportedSimd } from 'add-or-concatenate';
import * as ort from 'onnxruntime-web/wasm';
import { forward } from './forward.js';
import { fourTerms } from './fourTerms.js';
import { training } from './training.js';

export const jobs = { fourTerms, forward, training };

/**
 * The argument of enginesOf(): the builds that can run here, the fastest last, and the peers, on one thread.
 */
export async function modules() {
  const builds = supportedSimd() === 'relaxed' ? ['plain', 'relaxed'] : ['plain'];
  const superpose = await Promise.all(builds.map((simd) => load({ simd })));
  const folder = globalThis.document ? '/node_modules' : `${process.cwd()}/node_modules`;
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = `${folder}/onnxruntime-web/dist/`;
  setThreadsCount(1);
  setWasmPaths(`${folder}/@tensorflow/tfjs-backend-wasm/dist/`);
  await tf.setBackend('wasm');
  return { superpose, ort, tf };
}
