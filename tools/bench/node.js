// The client in Node, in a process of its own. TensorFlow.js's modules import what Node does not find, so they are bundled.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../steps.mjs';
import { clientOf } from './client.js';

export const inNode = {
  async peers() {
    const [entryPoints, outfile] = [
      [join(import.meta.dirname, 'peers.js')],
      join(root, 'build/bench/peers.cjs'),
    ];
    const options = { bundle: true, format: 'cjs', platform: 'node', mainFields: ['module', 'main'] };
    await build({ entryPoints, outfile, ...options, ignoreAnnotations: true, logLevel: 'error' });
    const { peersIn } = await import(outfile);
    return peersIn(join(root, 'node_modules'));
  },
};

if (process.argv[1] === import.meta.filename) {
  const answer = clientOf(inNode);
  process.on('message', async (order) =>
    process.send(await answer(order).catch((error) => ({ failed: String(error?.stack ?? error) }))),
  );
}
