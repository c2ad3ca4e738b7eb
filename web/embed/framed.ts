// A frame and the page around it: the frame asks for that page's theme, and hears when it changes.
import type { Theme } from '../plot/colour.js';

const context = 'superpose.theme';

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
