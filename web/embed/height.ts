// Tells the page around how high this one is, in the message that hosts of embeds know.

/** What the address was before the reader's own settings, and texts, were written into it. */
export const givenAddress = (): string => history.state?.given ?? location.href;

/** Longer than a figure takes, in milliseconds. */
const longest = 5000;

/** Once the figure is drawn: a picture that stands in first has another height, and the page around would move twice. */
export function tellHeight(figure: Element | null): void {
  if (window.parent === window) return;
  const src = givenAddress();
  let last = 0;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    const message = { context: 'iframe.resize', src, height };
    // Whoever is around may know it: it is a number, and the address that they gave.
    window.parent.postMessage(JSON.stringify(message), '*');
  };
  const begin = () => {
    clearTimeout(waiting);
    new ResizeObserver(tell).observe(document.body);
  };
  const waiting = setTimeout(begin, longest);
  figure?.addEventListener('superpose-drawn', begin, { once: true });
}
