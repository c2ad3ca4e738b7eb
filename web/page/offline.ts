/** Registers the service worker that the page names; under `npm start` it names none. */
export function workOffline(): void {
  const script = document.documentElement.dataset.offline;
  if (!script || !('serviceWorker' in navigator)) return;
  // After everything that the first view needs.
  const register = () => navigator.serviceWorker.register(script).catch(() => {});
  if (document.readyState === 'complete') register();
  else window.addEventListener('load', register);
}
