// superpose/embed: importing it makes every <superpose-figure> of a page live. For pages that are built with
// a bundler; others take embed.js from a site.
import { type ModuleName, supportedSimd, wasmAddress } from 'superpose';
import { unknownName } from '../../build/package/unknown.js';
import { hostPage } from '../element/link.js';
import { ownThread, type Transport, transports } from '../worker/transports.js';
import type { EmbedOptions } from './index.js';
import { startNextCopy, startOneCopy } from './oneCopy.js';
import type { Supplies } from './program.js';
import { whenNear } from './whenNear.js';

let model: string | undefined;
let wasm: string | undefined;

/** An option's whole address, which the page may give relative to its own. */
function addressOf(name: keyof EmbedOptions, given: unknown): string {
  try {
    if (typeof given === 'string' || given instanceof URL) return new URL(given, document.baseURI).href;
  } catch {}
  throw new TypeError(
    `${name} must be an address; it is ${typeof given === 'string' ? `“${given}”` : given}.`,
  );
}
/** A folder's; it may be given with or without its last slash. */
const folderAt = (name: 'model' | 'wasm', given: unknown) => addressOf(name, given).replace(/\/?$/, '/');

const optionNames: Readonly<Record<keyof EmbedOptions, true>> = { home: true, model: true, wasm: true };

/** On a server there is nothing to make live, and no base address. */
const onServer = typeof document === 'undefined';

export function configure(options: EmbedOptions): void {
  if (onServer) return;
  if (typeof options !== 'object' || options === null)
    throw new TypeError('configure() takes an object with home, model or wasm.');
  for (const name of Object.keys(options))
    if (!Object.hasOwn(optionNames, name))
      throw new RangeError(unknownName('option', name, Object.keys(optionNames)));
  if (options.home !== undefined) {
    hostPage.home = addressOf('home', options.home);
    hostPage.pictures = `${hostPage.home}pictures/`;
  }
  if (options.model !== undefined) model = folderAt('model', options.model);
  if (options.wasm !== undefined) wasm = folderAt('wasm', options.wasm);
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
  const { default: Program } = await import('./packageWorker.js?worker&inline');
  transports.push(
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
      console.warn(`Superpose ${__SUPERPOSE_VERSION__} could not be loaded; ${startNextCopy()}. (${error})`);
    }),
  );
}
