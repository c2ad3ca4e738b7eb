// The messages between a frame and the page around it: the frame asks for that page's theme, receives its
// changes, and reports its own height.
import type { Theme } from '../plot/colour.js';

const context = 'superpose.theme';
/** The `context` of the message about heights, by which sites that host embeds recognize it. */
const resize = 'iframe.resize';

/** The largest height that is believed, in pixels. At a width of 280, no figure with all open is higher. */
const mostHeight = 6000;

/** The page's message to a frame; without a theme, the frame's question to the page. */
export const themeMessage = (theme?: Theme): string => JSON.stringify({ context, theme });

/** In a frame: calls the listener with the theme of the surrounding page, if that page sends it. */
export function followTheme(listener: (theme: Theme) => void): void {
  if (window.parent === window) return;
  window.addEventListener('message', ({ data, source }) => {
    if (source !== window.parent) return;
    for (const theme of ['light', 'dark'] as const) if (data === themeMessage(theme)) listener(theme);
  });
  window.parent.postMessage(themeMessage(), '*');
}

/**
 * Reads a frame's message: the frame's height within bounds, or `theme` if the frame asks for the theme.
 * Undefined for any other message, because anybody may post anything.
 */
export function readFrameMessage(data: unknown): number | 'theme' | undefined {
  if (typeof data !== 'string' || data.length > 10_000) return undefined;
  if (!data.includes(resize) && !data.includes(context)) return undefined;
  try {
    const message = JSON.parse(data);
    if (message.context === context) return 'theme';
    if (message.context !== resize || typeof message.height !== 'number' || !(message.height > 0))
      return undefined;
    return Math.min(Math.ceil(message.height), mostHeight);
  } catch {
    // Somebody else's message.
    return undefined;
  }
}

/** The address before the reader's settings and texts were written into it. */
export const originalAddress = (): string => history.state?.given ?? location.href;

/** How long reportHeight() waits for the figure, in milliseconds: longer than a figure takes to draw. */
const longestWait = 5000;

/**
 * Reports the height only once the figure is drawn: its placeholder has another height, so the page would
 * move twice.
 */
export function reportHeight(figure: Element | null): void {
  if (window.parent === window) return;
  const src = originalAddress();
  let last = 0;
  const report = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    const message = { context: resize, src, height };
    // Any page may read the message: it has only a number and the address that the page gave.
    window.parent.postMessage(JSON.stringify(message), '*');
  };
  const sizes = new ResizeObserver(report);
  // Observing twice has no effect, and a figure may be drawn after the wait.
  const begin = () => {
    clearTimeout(waiting);
    sizes.observe(document.body);
  };
  const waiting = setTimeout(begin, longestWait);
  figure?.addEventListener('superpose-drawn', begin, { once: true });
}
