// The client in a page.
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';
import { load, supportedSimd, wasmAddress } from '../../build/package/index.js';
import { serve } from './client.js';
import { everyBuild } from './engines.js';
import { straightOf } from './straight.js';

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
    const file = await fetch('/straight/straight.wasm');
    const straight = file.ok && straightOf(await file.arrayBuffer());
    return { superpose: await everyBuild(runtime), ort, tf: ready && tf, straight };
  },
};

serve(ask, runtime).catch((error) => ask('broken', String(error?.stack ?? error)));
