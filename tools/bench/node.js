// The client in Node, as a child process that takes orders as messages.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../steps.mjs';
import { clientOf } from './client.js';

const made = (file) => join(root, 'build/bench', file);

export const inNode = {
  about: `Node ${process.version}`,
  async peers() {
    const [entryPoints, outfile] = [[join(import.meta.dirname, 'peers.js')], made('peers.cjs')];
    const options = { bundle: true, format: 'cjs', platform: 'node', mainFields: ['module', 'main'] };
    await build({ entryPoints, outfile, ...options, ignoreAnnotations: true, logLevel: 'error' });
    const { peersIn } = await import(outfile);
    // Undefined where it was not built.
    const straight = await import(made('straight.js')).catch(() => undefined);
    return { ...(await peersIn(join(root, 'node_modules'))), straight: straight?.default };
  },
};

if (process.argv[1] === import.meta.filename) {
  const answer = clientOf(inNode);
  process.on('message', async (order) =>
    process.send(await answer(order).catch((error) => ({ failed: String(error?.stack ?? error) }))),
  );
}
