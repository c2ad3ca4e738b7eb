// The service worker: after one visit the page works without a network. Each version has a cache of its own,
// filled whole before it is used and dropped whole, so that no page ever mixes two; a new version waits until
// the last page of the old one is closed. Words of the model are kept as they are fetched.

interface Worker {
  registration: { scope: string };
  clients: { claim(): Promise<void> };
  addEventListener(type: string, listener: (event: LifeEvent) => void): void;
}
interface LifeEvent extends Event {
  request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

// The compiler's list of what there is is a page's.
const worker = self as unknown as Worker;

/** Put in by the build: relative addresses, and what they and the model's files are made of. */
const files: readonly string[] = JSON.parse('__SUPERPOSE_FILES__');
const shell = 'superpose-__SUPERPOSE_SHELL__';
const model = 'superpose-model-__SUPERPOSE_MODEL__';

const scope = worker.registration.scope;
const modelFolder = new URL('model/', scope).href;
const known = new Set(files.map((file) => new URL(file, scope).href));

async function install(): Promise<void> {
  const isModel = (file: string) => file.startsWith('model/');
  const [pages, words] = await Promise.all([caches.open(shell), caches.open(model)]);
  // Past the browser's own cache, which may still have an older index.html.
  await pages.addAll(
    files
      .filter((file) => !isModel(file))
      .map((file) => new Request(new URL(file, scope), { cache: 'reload' })),
  );
  await words.addAll(files.filter(isModel).map((file) => new URL(file, scope).href));
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith('superpose-') && name !== shell && name !== model);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

async function answer(request: Request, address: string): Promise<Response> {
  const isModel = address.startsWith(modelFolder);
  const cache = await caches.open(isModel ? model : shell);
  const kept = await cache.match(address);
  if (kept) return kept;
  const response = await fetch(request);
  if (isModel && response.ok) await cache.put(address, response.clone());
  return response;
}

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const address = origin + pathname;
  const ours = known.has(address) || address.startsWith(modelFolder);
  if (request.method === 'GET' && ours) event.respondWith(answer(request, address));
});

export {};
