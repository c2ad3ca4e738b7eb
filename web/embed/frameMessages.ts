// The messages between a frame and the page around it: the frame asks for that page's theme, receives its
// changes, and reports its own height.
import type { Theme } from '../plot/colour.js';

const context = 'superpose.theme';
/** The message that hosts of embeds know. */
const resize = 'iframe.resize';

/** In pixels. At a width of 280, no figure is higher with everything opened. */
const mostHeight = 6000;

/** The page's message; without a theme, the frame's question. */
export const themeMessage = (theme?: Theme): string => JSON.stringify({ context, theme });

/** In a frame: calls the listener with the theme of the page around, if that page sends it. */
export function followTheme(listener: (theme: Theme) => void): void {
  if (window.parent === window) return;
  window.addEventListener('message', ({ data, source }) => {
    if (source !== window.parent) return;
    for (const theme of ['light', 'dark'] as const) if (data === themeMessage(theme)) listener(theme);
  });
  window.parent.postMessage(themeMessage(), '*');
}

/**
 * Reads a frame's message: its height within bounds, or that it asks for the theme. Anybody may post
 * anything.
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

/** In milliseconds: longer than a figure takes to draw. */
const longestWait = 5000;

/**
 * Reports the height once the figure is drawn: its placeholder has another height, and the page would move
 * twice.
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
    // Any page may read it: it has only a number and the address that the page gave.
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
