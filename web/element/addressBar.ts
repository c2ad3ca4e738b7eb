// The one place that writes the page's address. Browsers let a page change it only so often: Safari a hundred times in 10
// or 30 seconds, Firefox and Chromium two hundred times in 10. Then Safari and Firefox throw, and Chromium only leaves
// the address as it was. What could not be written is written later, unless something newer has taken its place.

/** In milliseconds. */
const pause = 1000;
/** Longer than any browser's limit lasts. Some frames may never change their address. */
const mostTries = 60;

let timer = 0;

/**
 * Writes an address relative to the present one, and what the history is to keep with it; pushed, it is an entry of its
 * own, from which Back leads away. Without an address it is the present one, unless another waits.
 */
export function writeAddress(
  fragment?: string,
  state: unknown = history.state,
  method: 'pushState' | 'replaceState' = 'replaceState',
  from = location.href,
  tries = mostTries,
): void {
  if (timer && fragment === undefined) return;
  clearTimeout(timer);
  timer = 0;
  // While it waited a link was followed, or the reader went back.
  if (from !== location.href) return;
  const { href } = new URL(fragment ?? from, from);
  try {
    history[method](state, '', href);
  } catch {}
  const arrived = location.href === href && JSON.stringify(history.state) === JSON.stringify(state);
  if (!arrived && tries > 0)
    timer = window.setTimeout(writeAddress, pause, href, state, method, from, tries - 1);
}
