// Figures as the build for Node computes them, each state only once: results are stored for as long as the
// build is the same.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { memoize } from '../../web/build/site/figures.ts';

type Headless = typeof import('../../web/node/index.ts');

const folder = fileURLToPath(new URL('../../build/', import.meta.url));
export const headless: Headless = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);
const render = headless.renderer(pathToFileURL(`${folder}model/`));

export async function rendered(name: string, settings: [string, string][]): ReturnType<typeof render> {
  const result = await memoize(['test', name, settings], async () => ({
    ...(await render(name, settings)),
    // Functions cannot be stored.
    figure: undefined,
  }));
  return { ...result, figure: headless.figures[name] as Headless['figures'][string] };
}
