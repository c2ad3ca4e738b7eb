// Finds out whether the page around a figure is light or dark, however the page switches: by a class, an
// attribute, or the reader's preference. The background behind the figure decides.
import type { Theme } from '../plot/colour.js';

const listeners = new Set<() => void>();
const notify = () => {
  for (const listener of listeners) listener();
};
// Pages switch by an attribute of html or body, and their colours may follow a frame later.
const switches = new MutationObserver(() => requestAnimationFrame(notify));
const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const media = [darkScheme, matchMedia('(forced-colors: active)')];

/** Calls the listener when the page may have changed its theme. Returns a function that stops it. */
export function watchPageTheme(listener: () => void): () => void {
  if (listeners.size === 0) {
    for (const root of [document.documentElement, document.body])
      switches.observe(root, { attributes: true });
    document.addEventListener('transitionend', notify);
    for (const query of media) query.addEventListener('change', notify);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    switches.disconnect();
    document.removeEventListener('transitionend', notify);
    for (const query of media) query.removeEventListener('change', notify);
  };
}

/** The theme of the nearest background that is opaque; if there is none, that of the browser's canvas. */
export function pageTheme(element: Element): Theme {
  for (let ancestor = above(element); ancestor; ancestor = above(ancestor)) {
    const theme = themeOf(getComputedStyle(ancestor).backgroundColor);
    if (theme) return theme;
  }
  return canvasOf(element);
}

/** The theme of the browser's canvas: of the schemes that the page supports, the reader's choice. */
function canvasOf(element: Element): Theme {
  const { colorScheme } = getComputedStyle(element);
  const pageSchemes = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')?.content ?? '';
  const schemes = colorScheme === 'normal' ? pageSchemes : colorScheme;
  return schemes.includes('dark') && (darkScheme.matches || !schemes.includes('light')) ? 'dark' : 'light';
}

const above = (element: Element): Element | null => {
  if (element.assignedSlot) return element.assignedSlot;
  const parent = element.parentNode;
  return parent instanceof ShadowRoot ? parent.host : element.parentElement;
};

let pixel: CanvasRenderingContext2D | null | undefined;

/** Undefined for a colour that is more transparent than opaque. A canvas reads colours in any notation. */
function themeOf(colour: string): Theme | undefined {
  pixel ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
    willReadFrequently: true,
  });
  if (!pixel) return undefined;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  if (alpha < 128) return undefined;
  return 0.3 * red + 0.59 * green + 0.11 * blue < 128 ? 'dark' : 'light';
}
