// <script type="module" src=".../embed.js">: makes every <superpose-figure> of a page live as soon as one of
// them comes near the reader's view. Until then only this file is fetched, and the page shows what is
// between the element's tags: a picture with a link. No error is ever thrown into the page.
import { hostPage } from '../element/link.js';
import { siteBlobWorker, siteModule, siteWorker } from '../worker/siteWorker.js';
import { transports } from '../worker/transports.js';
import { startNextCopy, startOneCopy } from './oneCopy.js';
import { whenNear } from './whenNear.js';

async function define(home: string): Promise<void> {
  hostPage.home = home;
  hostPage.pictures = `${home}pictures/${__SUPERPOSE_VERSION__}/`;
  transports.push(siteWorker, siteBlobWorker, siteModule);
  (await import('./mirror.js')).defineMirrored();
}

function failed(home: string, error: unknown): void {
  console.warn(
    `Superpose ${__SUPERPOSE_VERSION__} could not be loaded from ${home}; ${startNextCopy()}. Another site's pages need the header Access-Control-Allow-Origin: * on its files. (${error})`,
  );
}

try {
  const home = new URL(/* @vite-ignore */ './', import.meta.url).href;
  startOneCopy(__SUPERPOSE_VERSION__, () =>
    whenNear(
      () => define(home),
      (error) => failed(home, error),
    ),
  );
} catch (error) {
  console.warn(`Superpose could not start; the pictures stay. (${error})`);
}
