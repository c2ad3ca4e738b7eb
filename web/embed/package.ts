// superpose/embed: importing it makes every <superpose-figure> of a page live. For pages that are built with
// a bundler; others take embed.js from a site.
import { type ModuleName, supportedSimd, wasmAddress } from 'superpose';
import { hostPage } from '../element/link.js';
import { ownThread, setTransports, type Transport } from '../worker/transports.js';
import type { EmbedOptions } from './index.js';
import { startNextCopy, startOneCopy } from './oneCopy.js';
import type { Supplies } from './program.js';
import { whenNear } from './whenNear.js';

let model: string | undefined;
let wasm: string | undefined;

/** A folder's whole address; it may be given with or without its last slash. */
const folderAt = (folder: string | URL) => new URL(folder, document.baseURI).href.replace(/\/?$/, '/');

/** On a server there is nothing to make live, and no base address. */
const onServer = typeof document === 'undefined';

export function configure(options: EmbedOptions): void {
  if (onServer) return;
  if (options.home !== undefined) hostPage.home = new URL(options.home, document.baseURI).href;
  if (options.model !== undefined) model = folderAt(options.model);
  if (options.wasm !== undefined) wasm = folderAt(options.wasm);
}

/** A worker made of a blob has no address of its own, so it is told where the files are. */
function supplies(): Supplies {
  const simd = supportedSimd() ?? 'plain';
  const at = (module: ModuleName) =>
    wasm === undefined
      ? wasmAddress(simd, module).href
      : `${wasm}superpose-${module === 'small' ? 'small-' : ''}${simd}.wasm`;
  return { module: { simd, wasm: { small: at('small'), whole: at('whole') } }, model };
}

/** Bundled as text, so that no bundler has to find a file for it. */
const inlineWorker = (Program: new () => Worker): Transport => ({
  name: 'blob worker',
  start() {
    const worker = new Program();
    worker.postMessage(supplies());
    return worker;
  },
});

async function define(): Promise<void> {
  hostPage.foreign = true;
  const { default: Program } = await import('./packageWorker.js?worker&inline');
  setTransports(
    inlineWorker(Program),
    ownThread(async () => {
      const [{ runWith }, { answering }] = await Promise.all([
        import('./program.js'),
        import('../worker/answers.js'),
      ]);
      return (say) => answering(runWith(supplies()), say);
    }),
  );
  (await import('./mirror.js')).defineMirrored();
}

if (!onServer) {
  startOneCopy(__SUPERPOSE_VERSION__, () =>
    whenNear(define, (error) => {
      console.warn(`Superpose could not be loaded; the pictures stay. (${error})`);
      startNextCopy();
    }),
  );
}
