// The client in a page.
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';
import { load, supportedSimd, wasmAddress } from '../../build/package/index.js';
import { serve } from './client.js';
import { everyBuild } from './engines.js';

const ask = async (what, body = null) =>
  (await fetch(`/${what}`, { method: 'POST', body: JSON.stringify(body) })).json();

const runtime = {
  about: navigator.userAgent,
  load,
  supportedSimd,
  bytesOf: async (simd) => (await fetch(wasmAddress(simd))).arrayBuffer(),
  async engines() {
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = '/ort/';
    setThreadsCount(1);
    setWasmPaths('/tfjs/');
    const ready = await tf.setBackend('wasm').catch(() => false);
    return { superpose: await everyBuild(runtime), ort, tf: ready && tf };
  },
};

serve(ask, runtime).catch((error) => ask('broken', String(error?.stack ?? error)));
