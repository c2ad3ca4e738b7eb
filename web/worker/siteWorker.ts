// The worker of the site's own files, for pages of the same origin, for others through a blob, and as a module
// of the page itself.
import { ownThread, scriptAddress, type Way } from './ways.js';
import address from './worker.ts?worker&url';

// Made absolute here: in a blob nothing is relative to anything.
const absolute = () => new URL(address, import.meta.url).href;

export const newWorker = () => new Worker(scriptAddress(absolute()), { type: 'module' });

export const siteWorker: Way = {
  name: 'worker',
  start() {
    // Not tried, because some browsers put the refusal on the console.
    if (new URL(absolute()).origin !== location.origin) throw new Error('The worker is of another origin.');
    return newWorker();
  },
};

export const siteBlobWorker: Way = {
  name: 'blob worker',
  start() {
    const text = `import ${JSON.stringify(absolute())};`;
    // Questions that come before the module is there wait in it: the worker's own file listens then.
    const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    return new Worker(scriptAddress(address), { type: 'module' });
  },
};

export const siteModule: Way = ownThread(async () => {
  const { answeringHere }: typeof import('./worker.js') = await import(/* @vite-ignore */ absolute());
  return answeringHere;
});
