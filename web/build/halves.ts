// figures/index.ts lists what every figure is and what computes it. The page needs the first half and a worker the second;
// a bundler that saw both would put every picture into the worker.
import type { Plugin } from 'vite';

export const onlyHalf = (kept: 'figures' | 'computes'): Plugin => ({
  name: 'only-half',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/figures\/index\.ts$/.test(id)) return undefined;
    const other = kept === 'figures' ? 'computes' : 'figures';
    const half = code.replace(new RegExp(`^export const ${other}\\b[^]*?^};$`, 'm'), `export const ${other} = {};`);
    if (half === code) throw new Error(`${id} has no list of ${other}.`);
    return { code: half, map: null };
  },
});
