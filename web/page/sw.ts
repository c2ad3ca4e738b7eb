// The service worker: after one visit the page works without a network. Each version has a cache of its own,
// filled as a whole before it is used and dropped as a whole, so no page ever mixes two versions. A new
// version waits until the last page of the old one is closed. Other files of the build are kept as they are
// used: the model's, a figure's own page, the demo. An address that the build does not list is none of its
// business: below its scope there may be anything, even answers that are for one visitor alone.

interface Worker {
  registration: { scope: string };
  clients: { claim(): Promise<void> };
  navigator: { connection?: { saveData?: boolean } };
  addEventListener(type: string, listener: (event: LifeEvent) => void): void;
}
interface LifeEvent extends Event {
  request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

// TypeScript takes `self` for that of a page.
const worker = self as unknown as Worker;

/** Put in by the build: relative addresses with the digests of their contents, and those that are kept as they are used. */
const files: Readonly<Record<string, string>> = JSON.parse('__SUPERPOSE_FILES__');
const more: readonly string[] = JSON.parse('__SUPERPOSE_MORE__');

const { scope } = worker.registration;
// Other deployments on the same origin have caches too. No address has a space in it.
const ours = `superpose ${new URL(scope).pathname} `;
const shell = `${ours}__SUPERPOSE_SHELL__`;
const model = `${ours}model __SUPERPOSE_MODEL__`;

const at = (file: string) => new URL(file, scope).href;
const modelFolder = at('model/');
const known = new Set(Object.keys(files).map(at));
const listed = new Set([...known, ...more.map(at)]);

/** The host may say that an answer is not to be kept, or that it is for one visitor. */
const mayBeKept = ({ headers }: Response): boolean =>
  !/\bno-store\b|\bprivate\b/i.test(headers.get('Cache-Control') ?? '') &&
  !/\*|\bcookie\b|\bauthorization\b/i.test(headers.get('Vary') ?? '');

async function install(): Promise<void> {
  // If the reader saves data, the previous version stays in use, or the network alone.
  if (worker.navigator.connection?.saveData)
    throw new Error('Nothing is fetched ahead where data are saved.');
  const cache = await caches.open(shell);
  // For files named by their content the browser's own copy will do. Anything but what was built, such as a
  // captive portal's sign-in page, fails its digest, and the next visit tries again.
  const requests = Object.entries(files).map(
    ([file, integrity]) =>
      new Request(at(file), { integrity, cache: file.startsWith('assets/') ? 'default' : 'no-cache' }),
  );
  const add = async (request: Request) => {
    const response = await fetch(request);
    if (response.status !== 200 || !mayBeKept(response)) throw new Error(`${request.url} cannot be kept.`);
    await cache.put(request, response);
  };
  await Promise.all(requests.map(add)).catch(async (error: unknown) => {
    await caches.delete(shell);
    throw error;
  });
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(ours) && name !== shell && name !== model);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
  const figures = new BroadcastChannel(modelFolder);
  figures.onmessage = ({ data }) => {
    if (Array.isArray(data)) for (const address of data) keepPast(address);
  };
  figures.postMessage('taken');
}

/** A file that the first visit's figures fetched past it, and name: see web/worker/worker.ts. */
function keepPast(address: string): void {
  if (!listed.has(address)) return;
  // The browser's own copy if it has one.
  const request = new Request(address, { cache: 'force-cache' });
  answer(request, address, true, () => {}).catch(() => {});
}

/** The cache may be out of reach; then only the network is left. */
const kept = async (name: string, address: string): Promise<Response | undefined> => {
  try {
    return await (await caches.open(name)).match(address, { ignoreVary: true });
  } catch {
    return undefined;
  }
};

async function keep(name: string, address: string, response: Response): Promise<void> {
  try {
    await (await caches.open(name)).put(address, response);
  } catch {
    // The quota is full. The answer is good all the same.
  }
}

/** The answer to a listed address. With a query it comes from the network, for a server may give it a meaning. */
async function answer(
  request: Request,
  address: string,
  isWhole: boolean,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Response> {
  const isModel = address.startsWith(modelFolder);
  const name = isModel ? model : shell;
  // These never change. A request to reload one means that the copy here was found to be bad.
  const settled = isWhole && (known.has(address) || isModel) && request.cache !== 'reload';
  const early = settled ? await kept(name, address) : undefined;
  if (early) return early;
  try {
    const response = await fetch(request);
    // No file of the model is HTML: that would be a captive portal's page.
    const isPage = /^text\/html/.test(response.headers.get('Content-Type') ?? '');
    const isNew = isWhole && !known.has(address);
    if (isNew && response.status === 200 && !(isModel && isPage) && mayBeKept(response)) {
      waitUntil(keep(name, address, response.clone()));
    }
    return response;
  } catch (error) {
    const late = await kept(name, address);
    if (late) return late;
    // This page was not opened before, but the figure is on the site's main page too.
    if (request.mode !== 'navigate') throw error;
    const figure = address.slice(scope.length).match(/^figures\/([\w-]+)\/?$/)?.[1];
    return Response.redirect(figure ? at(`#v=1&figure=${figure}`) : scope);
  }
}

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  const address = (origin + pathname).replace(/\/index\.html$/, '/');
  if (request.method === 'GET' && listed.has(address))
    event.respondWith(answer(request, address, search === '', (work) => event.waitUntil(work)));
});

export {};
