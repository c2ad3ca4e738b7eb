// Figures of a page, and the moment when the first of them comes near the reader's view.
const element = 'superpose-figure';
const distance = '400px';

/** Calls `define` once; until then the elements are unknown to the browser, and show what is between their tags. */
export function whenNear(define: () => Promise<void>, failed: (error: unknown) => void): void {
  const seen = new WeakSet<Element>();
  const views = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      views.disconnect();
      additions.disconnect();
      define().catch(failed);
    },
    { rootMargin: distance },
  );
  const look = () => {
    for (const one of document.getElementsByTagName(element)) {
      if (seen.has(one)) continue;
      seen.add(one);
      views.observe(one);
    }
  };
  const additions = new MutationObserver(look);
  additions.observe(document.documentElement, { childList: true, subtree: true });
  look();
}
