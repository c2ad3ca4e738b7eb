// Lights up the names of terms in the prose together with the terms in the figures.
import { linked } from '../element/cursor.js';
import type { Term } from '../plot/scene.js';

export function lightTerms(root: HTMLElement): void {
  const termOf = (event: Event) =>
    (event.target as Element).closest<HTMLElement>('[data-term]')?.dataset.term as Term | undefined;
  root.addEventListener('pointerover', (event) => {
    // Inside a figure, the figure itself decides what is lit.
    if ((event.target as Element).localName !== 'superpose-figure') linked.lightTerm(termOf(event));
  });
  root.addEventListener('pointerleave', () => linked.lightTerm(undefined));
  linked.listen(() => {
    const term = linked.term();
    if (term) root.dataset.lit = term;
    else delete root.dataset.lit;
  });
}
