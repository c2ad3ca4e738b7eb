// Keeps keys that are pressed in a figure from the page around it. A page may listen for keys, to turn a
// slide or to open its search, and from outside it cannot see that a key was typed into a field or moved a
// slider. So the keys' events stop at the element, and a page receives them only if it listens in the capture
// phase.
import type { FigureElement } from '../element/figureElement.js';

/**
 * Keys that move about in the surrounding page or close something there, unless the figure has used them.
 * Clickers for slides send Page keys.
 */
const pageKeys = /^(Tab|Escape|PageUp|PageDown|Shift|Control|Alt|AltGraph|Meta|F\d+)$/;

function isOfPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented) return false;
  // On some keyboards AltGr types ordinary characters, so it makes no shortcut.
  const shortcut = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph');
  return shortcut || pageKeys.test(event.key);
}

/** Stops the events of keys and texts at a figure's element. */
export function stopKeys(element: FigureElement): void {
  /** Whether an event comes from the figure itself, not from what the page has put between its tags. */
  const isInside = (event: Event) => event.target === element && event.composedPath()[0] !== element;
  /** Codes of the keys that are down and whose events stop here. */
  const down = new Set<string>();
  const press = (event: Event): void => {
    if (!isInside(event)) return;
    const { code, key, type } = event as KeyboardEvent;
    // The Tab key comes up at the place that it has led to.
    if (type === 'keyup' && key === 'Tab') element.cursors.wasClicked = false;
    if (type === 'keydown') {
      if (isOfPage(event as KeyboardEvent)) down.delete(code);
      else down.add(code);
    }
    if (down.has(code)) event.stopPropagation();
    if (type === 'keyup') down.delete(code);
  };
  const type = (event: Event): void => {
    if (isInside(event)) event.stopPropagation();
  };
  element.addEventListener('pointerdown', () => {
    element.cursors.wasClicked = true;
  });
  for (const kind of ['keydown', 'keypress', 'keyup']) element.addEventListener(kind, press);
  for (const kind of ['beforeinput', 'input', 'paste']) element.addEventListener(kind, type);
}
