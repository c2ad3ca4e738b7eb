// Figures of a page, and the moment when the first of them comes near the reader's view.
const element = 'superpose-figure';
// Farther than figures of their own page: their code is still to come, and what changes its height must be out of sight.
const distance = '1200px';

/** Calls `define` once; until then the elements are unknown to the browser, and show what is between their tags. */
export function whenNear(define: () => Promise<void>, failed: (error: unknown) => void): void {
  let over = false;
  const known = new WeakSet<Element>();
  const views = new IntersectionObserver(
    (entries) => {
      if (over || !entries.some(({ isIntersecting }) => isIntersecting)) return;
      over = true;
      views.disconnect();
      additions.disconnect();
      layouts.disconnect();
      define().catch(failed);
    },
    { rootMargin: distance },
  );
  /** Figures are looked for in open shadows too, and in those of elements that are defined later. */
  const look = (elements: Iterable<Element>) => {
    for (const one of elements) {
      if (one.localName === element) views.observe(one);
      else if (one.shadowRoot) enter(one.shadowRoot);
      else if (one.localName.includes('-') && !known.has(one)) {
        known.add(one);
        const enterLater = () => one.shadowRoot && enter(one.shadowRoot);
        customElements.whenDefined(one.localName).then(enterLater, () => {});
      }
    }
  };
  const enter = (root: Document | ShadowRoot) => {
    if (over) return;
    additions.observe(root, { childList: true, subtree: true });
    look(root.querySelectorAll('*'));
  };
  const additions = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node instanceof Element) look([node, ...node.querySelectorAll('*')]);
    }
  });
  // A shadow that an element of the page is given later is no addition, but it takes room.
  const layouts = new ResizeObserver(() => enter(document));
  enter(document);
  layouts.observe(document.documentElement);
}
