// Tells the page around how high this one is, in the message that hosts of embeds know.
export function tellHeight(): void {
  if (window.parent === window) return;
  let last = 0;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    const message = { context: 'iframe.resize', src: location.href, height };
    // Whoever is around may know it: it is a number.
    window.parent.postMessage(JSON.stringify(message), '*');
  };
  new ResizeObserver(tell).observe(document.body);
  tell();
}
