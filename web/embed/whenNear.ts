// Finds a page's figures, and the moment when the first of them comes near the reader's view.
const element = 'superpose-figure';
// Farther than on the figures' own page: the code is still to load, and heights must change out of sight.
const distance = '1200px';
/** Between two searches of a page that changes its size, in milliseconds. */
const pause = 200;

/** An element that may have a closed shadow: a custom one, or an empty one of a kind that can have any. */
const mayBeClosed = (element: Element): boolean =>
  !element.shadowRoot &&
  (element.localName.includes('-')
    ? customElements.get(element.localName) !== undefined
    : !element.firstElementChild &&
      /^(article|aside|div|footer|header|main|nav|section|span)$/.test(element.localName) &&
      !element.textContent?.trim());

/**
 * Calls `define` once; until then the elements are unknown to the browser, and show what is between their
 * tags.
 */
export function whenNear(define: () => Promise<void>, failed: (error: unknown) => void): void {
  let over = false;
  let hasFigure = false;
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
  /** Looks for figures in open shadows too, even in those of elements that are defined later. */
  const look = (elements: Iterable<Element>) => {
    for (const candidate of elements) {
      if (candidate.localName === element) {
        hasFigure = true;
        views.observe(candidate);
      } else if (candidate.shadowRoot) enter(candidate.shadowRoot);
      else if (candidate.localName.includes('-') && !known.has(candidate)) {
        known.add(candidate);
        const enterLater = () => {
          if (candidate.shadowRoot) enter(candidate.shadowRoot);
          else if (none()) watchClosed([candidate]);
        };
        customElements.whenDefined(candidate.localName).then(enterLater, () => {});
      }
    }
  };
  /** Whether the page has loaded and shows no figure: its figures may then be in closed shadows. */
  const none = () => !hasFigure && document.readyState === 'complete';
  const watchClosed = (elements: Iterable<Element>) => {
    for (const element of elements) if (!over && mayBeClosed(element)) views.observe(element);
  };
  const enter = (root: Document | ShadowRoot) => {
    if (over) return;
    additions.observe(root, { childList: true, subtree: true });
    look(root.querySelectorAll('*'));
    if (none()) watchClosed(root.querySelectorAll('*'));
  };
  const additions = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node instanceof Element) look([node, ...node.querySelectorAll('*')]);
    }
  });
  // Attaching a shadow later is no mutation of the tree, but changes the page's size. While that keeps
  // changing, the page is searched now and then, not at every step.
  let waiting = false;
  const layouts = new ResizeObserver(() => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      enter(document);
    }, pause);
  });
  enter(document);
  addEventListener('load', () => enter(document));
  layouts.observe(document.documentElement);
}
