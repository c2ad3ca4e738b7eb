// The client in Node: node node.js ADDRESS
import { serve } from './client.js';

const root = new URL('../../', import.meta.url);
const address = process.argv[2];
const { load } = await import(new URL('build/package/index.js', root));

const modules = { superpose: [], load: (simd) => load({ simd }) };
for (const simd of ['plain', 'relaxed']) {
  await load({ simd })
    .then((superpose) => modules.superpose.push(superpose))
    .catch(() => {});
}
modules.ort = await import('onnxruntime-web');
modules.ort.env.wasm.numThreads = 1;
modules.tf = await import('@tensorflow/tfjs-core');
const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
setWasmPaths(new URL('node_modules/@tensorflow/tfjs-backend-wasm/dist/', root).pathname);
await modules.tf.setBackend('wasm');

const ask = async (what, body = null) =>
  (await fetch(address + what, { method: 'POST', body: JSON.stringify(body) })).json();
await serve(ask, modules);
process.exit(0);
