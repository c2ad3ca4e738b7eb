// What the client needs in Node: the library and its peers, from where they were built and installed.
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { everyBuild } from './engines.js';
import { straightFile, straightOf } from './straight.js';

const root = new URL('../../', import.meta.url);
const { load, supportedSimd, wasmAddress } = await import(new URL('build/package/index.js', root));

/** TensorFlow.js for Node lacks gradients and tensor methods; the files beside it register them globally. */
async function gradientsOf(name) {
  const from = (file) => `import '${name}/dist/${file}';`;
  const contents = ['register_all_gradients', 'public/chained_ops/register_all_chained_ops']
    .map(from)
    .join('');
  const outfile = fileURLToPath(new URL('build/bench/tfjs-gradients.mjs', root));
  const stdin = { contents, resolveDir: fileURLToPath(root) };
  await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'browser', logLevel: 'error' });
  return pathToFileURL(outfile).href;
}

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
    await import(await gradientsOf('@tensorflow/tfjs-core'));
    const bytes = await readFile(new URL(straightFile, root)).catch(() => undefined);
    return { superpose: await everyBuild(inNode), ort, tf, straight: bytes && straightOf(bytes) };
  },
};
