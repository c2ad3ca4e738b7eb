// The only place that writes the page's address. Browsers limit how often a page may change it: Safari to a
// hundred times in 10 or 30 seconds, Firefox and Chromium to two hundred times in 10. Beyond that Safari and
// Firefox throw, and Chromium leaves the address as it was. An address that could not be written is written
// later, unless a newer one has taken its place.

/** The time between two tries, in milliseconds. */
const pause = 1000;
/** A minute of tries, longer than any browser's limit lasts. Some frames may never change their address. */
const mostTries = 60;

let timer = 0;

/**
 * Writes an address relative to the present one, and the state that the history keeps with it. With
 * `pushState` the address becomes a new entry of the history, from which Back leads away. Without a fragment
 * the present address is written, unless another waits to be written.
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
  // While this waited, the reader followed a link or went back.
  if (from !== location.href) return;
  const { href } = new URL(fragment ?? from, from);
  try {
    history[method](state, '', href);
  } catch {}
  const arrived = location.href === href && JSON.stringify(history.state) === JSON.stringify(state);
  if (!arrived && tries > 0)
    timer = window.setTimeout(writeAddress, pause, href, state, method, from, tries - 1);
}
