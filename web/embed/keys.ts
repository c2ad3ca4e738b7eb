// What is pressed or typed in a figure is the figure's. A page around it may listen for keys, to turn a slide or to open
// its search, and from outside it cannot see that they were typed into a field or moved a slider. So their events end
// at the element; a page hears them only if it listens in the capture phase.
import type { FigureElement } from '../element/figureElement.js';

/**
 * What moves about in the page around or closes it, unless the figure has done something with it. Clickers for slides
 * send Page keys.
 */
const passing = /^(Tab|Escape|PageUp|PageDown|Shift|Control|Alt|AltGraph|Meta|F\d+)$/;

function isOfPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented) return false;
  // On some keyboards it takes a modifier to write a letter.
  const shortcut = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph');
  return shortcut || passing.test(event.key);
}

/** Ends the events of keys and texts at a figure's element. */
export function endKeys(element: FigureElement): void {
  /** What the page has put between the element's tags is the page's. */
  const isInside = (event: Event) => event.target === element && event.composedPath()[0] !== element;
  /** Codes of the keys that are down and whose events end here. */
  const down = new Set<string>();
  const press = (event: Event): void => {
    if (!isInside(event)) return;
    const { code, key, type } = event as KeyboardEvent;
    // It comes up where it has led to.
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
