// The client in a page, from a server of the whole checkout.
import './gradients.js';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';
import straight from '../../build/bench/straight.js';
import { clientOf } from './client.js';

globalThis.answer = clientOf({
  about: navigator.userAgent,
  async peers() {
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = '/node_modules/onnxruntime-web/dist/';
    setThreadsCount(1);
    setWasmPaths('/node_modules/@tensorflow/tfjs-backend-wasm/dist/');
    const ready = await tf.setBackend('wasm').catch(() => false);
    return { ort, tf: ready && tf, straight };
  },
});
