// The one place that writes the page's address. Browsers let a page change it only so often: Safari a hundred times in 10
// or 30 seconds, Firefox and Chromium two hundred times in 10. Then Safari and Firefox throw, and Chromium only leaves
// the address as it was. What could not be written is written later, unless something newer has taken its place.

interface Entry {
  fragment: string;
  state: unknown;
  /** A new entry of the history, to which Back leads. */
  fresh: boolean;
  /** Where the page was. */
  from: string;
}

/** In milliseconds. */
const pause = 1000;
/** Longer than any browser's limit lasts. Some frames may never change their address. */
const mostTries = 60;

let waiting: Entry | undefined;
let timer = 0;

function attempt(entry: Entry, tries: number): void {
  const { fragment, state, fresh, from } = entry;
  clearTimeout(timer);
  waiting = undefined;
  // Meanwhile a link was followed, or the reader has gone back.
  if (from !== location.href) return;
  try {
    history[fresh ? 'pushState' : 'replaceState'](state, '', fragment);
  } catch {}
  const arrived =
    location.href === new URL(fragment, from).href && JSON.stringify(history.state) === JSON.stringify(state);
  if (arrived || tries === 0) return;
  waiting = entry;
  timer = window.setTimeout(attempt, pause, entry, tries - 1);
}

/** What waits for the page to be where it is now. */
const due = (): Entry | undefined => (waiting?.from === location.href ? waiting : undefined);

/** Writes an address relative to the present one, and what the history is to keep with it. */
export function writeAddress(
  fragment = due()?.fragment ?? location.href,
  state: unknown = due()?.state ?? history.state,
  fresh = false,
): void {
  attempt({ fragment, state, fresh: fresh || !!due()?.fresh, from: location.href }, mostTries);
}
