// The worker from the site's files: directly for pages of the same origin, through a blob for others, and as
// a module on the page's own thread.
import { pageThread, scriptAddress, type Transport, workerOf } from './transports.js';
import address from './worker.ts?worker&url';

// Absolute, because a blob has no base that an address could be relative to.
const absolute = () => new URL(address, import.meta.url).href;

export const newWorker = () => new Worker(scriptAddress(absolute()), { type: 'module' });

export const siteWorker: Transport = {
  name: 'worker',
  start() {
    // A worker of another origin is not even tried, because some browsers log the refusal to the console.
    if (new URL(absolute()).origin !== location.origin) throw new Error('The worker is of another origin.');
    return newWorker();
  },
};

export const siteBlobWorker: Transport = {
  name: 'blob worker',
  start() {
    // Questions that arrive early wait in the worker until the module that it imports listens.
    return workerOf(`import ${JSON.stringify(absolute())};`, { type: 'module' });
  },
};

export const siteModule: Transport = pageThread(async () => {
  const { answeringHere }: typeof import('./worker.js') = await import(/* @vite-ignore */ absolute());
  return answeringHere;
});
