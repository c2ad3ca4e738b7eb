// What the client needs of Node: the library and its peers, from where they were built and installed.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { everyBuild } from './engines.js';

const root = new URL('../../', import.meta.url);
const { load, supportedSimd, wasmAddress } = await import(new URL('build/package/index.js', root));

export const inNode = {
  about: `Node ${process.version}`,
  load,
  supportedSimd,
  bytesOf: (simd) => readFile(wasmAddress(simd)),
  async engines() {
    const ort = await import('onnxruntime-web');
    ort.env.wasm.numThreads = 1;
    const tf = await import('@tensorflow/tfjs-core');
    const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
    setWasmPaths(fileURLToPath(new URL('node_modules/@tensorflow/tfjs-backend-wasm/dist/', root)));
    await tf.setBackend('wasm');
    return { superpose: await everyBuild(inNode), ort, tf };
  },
};
