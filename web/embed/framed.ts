// What a frame and the page around it say to each other: the frame asks for that page's theme, hears when it changes,
// and tells its height.
import type { Theme } from '../plot/colour.js';

const context = 'superpose.theme';
/** The message that hosts of embeds know. */
const resized = 'iframe.resize';

/** In pixels. At a width of 280, no figure takes more with all that it has opened. */
const mostHeight = 6000;

/** The page's message; without a theme it is the frame's question. */
export const themeMessage = (theme?: Theme): string => JSON.stringify({ context, theme });

/** In a frame: calls the listener with the theme of the page around, if that page says it. */
export function hearTheme(listener: (theme: Theme) => void): void {
  if (window.parent === window) return;
  window.addEventListener('message', ({ data, source }) => {
    if (source !== window.parent) return;
    for (const theme of ['light', 'dark'] as const) if (data === themeMessage(theme)) listener(theme);
  });
  window.parent.postMessage(themeMessage(), '*');
}

/** What a frame has said: its height within bounds, or that it asks for the theme. Anybody may post anything. */
export function said(data: unknown): number | 'theme' | undefined {
  if (typeof data !== 'string' || data.length > 10_000) return undefined;
  if (!data.includes(resized) && !data.includes(context)) return undefined;
  try {
    const message = JSON.parse(data);
    if (message.context === context) return 'theme';
    if (message.context !== resized || typeof message.height !== 'number' || !(message.height > 0))
      return undefined;
    return Math.min(Math.ceil(message.height), mostHeight);
  } catch {
    // Somebody else's message.
    return undefined;
  }
}

/** The address before the reader's own settings and texts were written into it. */
export const givenAddress = (): string => history.state?.given ?? location.href;

/** Longer than a figure takes to draw, in milliseconds. */
const longest = 5000;

/** Waits until the figure is drawn: its placeholder has another height, and the page would move twice. */
export function tellHeight(figure: Element | null): void {
  if (window.parent === window) return;
  const src = givenAddress();
  let last = 0;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    const message = { context: resized, src, height };
    // Any page may read it: it holds only a number and the address that the page gave.
    window.parent.postMessage(JSON.stringify(message), '*');
  };
  const sizes = new ResizeObserver(tell);
  // Observing twice does no harm, and a figure may be drawn after the wait is over.
  const begin = () => {
    clearTimeout(waiting);
    sizes.observe(document.body);
  };
  const waiting = setTimeout(begin, longest);
  figure?.addEventListener('superpose-drawn', begin, { once: true });
}
