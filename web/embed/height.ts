// Tells the surrounding page how high this one is, in the message that hosts of embeds know.

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
    const message = { context: 'iframe.resize', src, height };
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
