// Tells the page around how high this one is, in the message that hosts of embeds know.

/** What the address was before the reader's own settings, and texts, were written into it. */
export const givenAddress = (): string => history.state?.given ?? location.href;

export function tellHeight(): void {
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
  new ResizeObserver(tell).observe(document.body);
  tell();
}
