// Recognizes a finger that swipes across a screen, to the left or to the right.

/** How many pixels the finger must move sideways, and how many times as far as up or down. */
const [least, steep] = [60, 2];
/** Selects the places where a finger drags or sets something instead of swiping. */
const dragged = '.knob, input, select, textarea, [draggable]';

/** Calls back with 1 for a swipe to the left and −1 for one to the right. */
export function swiped(root: HTMLElement, callback: (way: 1 | -1) => void): void {
  let from: Touch | undefined;
  root.addEventListener(
    'touchstart',
    (event) => {
      const on = event.composedPath()[0] as Element;
      from = event.touches.length === 1 && !on.closest(dragged) ? event.touches[0] : undefined;
    },
    { passive: true },
  );
  root.addEventListener('touchend', ({ changedTouches: [to] }) => {
    if (!from || !to) return;
    const [across, down] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = undefined;
    if (Math.abs(across) >= least && Math.abs(across) >= steep * Math.abs(down))
      callback(across < 0 ? 1 : -1);
  });
}
