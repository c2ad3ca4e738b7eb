// The library's peers on one thread, for a page and for Node: bundled for each, since neither finds what TensorFlow.js's
// modules import. `folder` has the packages with their .wasm files.
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';

export async function peersIn(folder) {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = `${folder}/onnxruntime-web/dist/`;
  setThreadsCount(1);
  setWasmPaths(`${folder}/@tensorflow/tfjs-backend-wasm/dist/`);
  const ready = await tf.setBackend('wasm').catch(() => false);
  return { ort, tf: ready && tf };
}
