// add-or-concatenate/embed: importing it makes every <superpose-figure> of a page live. It is for pages that
// are built with a bundler, or that load the package from a CDN; other pages load embed.js from a site.
import { type ModuleName, supportedSimd, wasmAddress } from 'add-or-concatenate';
import { unknownName } from '../../build/package/unknownName.js';
import { hostPage } from '../element/link.js';
import { pageThread, type Transport, transports } from '../worker/transports.js';
import type { EmbedOptions } from './index.js';
import { startNextCopy, startOneCopy } from './oneCopy.js';
import type { ComputeResources } from './program.js';
import { whenNear } from './whenNear.js';

let model: string | undefined;
let wasm: string | undefined;

/** An option's absolute address, which the page may give relative to its own. */
function addressOf(name: keyof EmbedOptions, value: unknown): string {
  try {
    if (typeof value === 'string' || value instanceof URL) return new URL(value, document.baseURI).href;
  } catch {
    // The error below says which option it is.
  }
  throw new TypeError(`${name} must be an address; got ${typeof value === 'string' ? `“${value}”` : value}.`);
}
/** A folder's address, which the page may give with or without its last slash. */
const folderAt = (name: 'model' | 'wasm', value: unknown) => addressOf(name, value).replace(/\/?$/, '/');

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

/** Where the files are, for a worker that is made from a blob and so has no address of its own. */
function supplies(): ComputeResources {
  const simd = supportedSimd() ?? 'plain';
  const at = (module: ModuleName) =>
    wasm === undefined
      ? wasmAddress(simd, module).href
      : `${wasm}superpose-${module === 'small' ? 'small-' : ''}${simd}.wasm`;
  return {
    module: { simd, wasm: { small: at('small'), full: at('full') } },
    model,
    modelAdvice:
      "Name a folder that has MiniLM’s files: configure({ model: 'https://example.org/superpose/model/' }), with the address of your site.",
  };
}

/** The worker is bundled as text, so that no bundler has to find a file for it. */
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
    pageThread(async () => {
      const [{ computeWithSupplies }, { answering }] = await Promise.all([
        import('./program.js'),
        import('../worker/answers.js'),
      ]);
      return (reply) => answering(computeWithSupplies(supplies()), reply);
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
