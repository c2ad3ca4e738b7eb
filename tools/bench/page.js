// The client in a page.

import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';
import { load } from '../../build/package/index.js';
import { serve } from './client.js';

const ask = async (what, body = null) =>
  (await fetch(`/${what}`, { method: 'POST', body: JSON.stringify(body) })).json();

async function start() {
  const superpose = [];
  for (const simd of ['plain', 'relaxed']) {
    await load({ simd })
      .then((one) => superpose.push(one))
      .catch(() => {});
  }
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = '/ort/';
  setThreadsCount(1);
  setWasmPaths('/tfjs/');
  const ready = await tf.setBackend('wasm').catch(() => false);
  await serve(ask, { superpose, load: (simd) => load({ simd }), ort, tf: ready && tf });
}

start().catch((error) => ask('broken', String(error?.stack ?? error)));
