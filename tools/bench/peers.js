// The library's peers in Node, from where they were built and installed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../steps.mjs';

/** A peer that is built here; undefined where it was not. */
const straight = () =>
  import(pathToFileURL(join(root, 'build/bench/straight.js')).href).catch(() => undefined);

/** As one file, because Node does not find what TensorFlow.js's own modules import. */
async function addGradients() {
  const outfile = join(root, 'build/bench/tfjs-gradients.mjs');
  const entryPoints = [join(import.meta.dirname, 'gradients.js')];
  await build({ entryPoints, outfile, bundle: true, format: 'esm', logLevel: 'error' });
  await import(pathToFileURL(outfile).href);
}

export const inNode = {
  about: `Node ${process.version}`,
  async peers() {
    const ort = await import('onnxruntime-web');
    ort.env.wasm.numThreads = 1;
    const tf = await import('@tensorflow/tfjs-core');
    const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
    setWasmPaths(join(root, 'node_modules/@tensorflow/tfjs-backend-wasm/dist/'));
    await tf.setBackend('wasm');
    await addGradients();
    return { ort, tf, straight: (await straight())?.default };
  },
};
