// The address of the page and its figures: a link opens a figure in its state, a change of a figure can be
// gone back from, and a link that cannot be read says so.

import type { Change } from '../element/asking.js';
import { FigureElement } from '../element/figureElement.js';
import { readLink, writeLink } from '../element/link.js';
import type { State } from '../figures/controls.js';

/** Browsers refuse more than a hundred addresses in half a minute; this is one in 0.4 s. */
const pause = 400;

let timer = 0;

const figureOf = (name: string): FigureElement | undefined =>
  [...document.querySelectorAll('superpose-figure')].find(
    (one): one is FigureElement => one instanceof FigureElement && one.name === name,
  );

async function remember(element: FigureElement, state: State, settled: boolean): Promise<void> {
  const figure = await element.loaded();
  if (!figure) return;
  const fragment = writeLink(element.name, figure.controls, state);
  if (settled) history.pushState({ figure: element.name }, '', fragment);
  else history.replaceState(history.state, '', fragment);
}

/** To the figure itself; while the page is loading, what is above it may still take its room. */
function bring(element: HTMLElement): void {
  element.scrollIntoView();
  if (document.readyState !== 'complete') {
    window.addEventListener('load', () => element.scrollIntoView(), { once: true });
  }
}

export function followAddress(notice: (sentence: string) => void): void {
  document.addEventListener('superpose-change', (event) => {
    const element = event.target as FigureElement;
    const { state, settled } = (event as CustomEvent<Change>).detail;
    clearTimeout(timer);
    if (!settled) return;
    timer = window.setTimeout(() => void remember(element, state, true), pause);
  });
  const open = () => {
    // A change that waits for its address has been left behind.
    clearTimeout(timer);
    const link = readLink(location.hash);
    if (!link) return;
    if ('refused' in link) {
      notice(`${link.refused} The page shows its first views instead.`);
      return;
    }
    const element = figureOf(link.figure);
    if (!element) {
      notice(`This link asks for a figure called “${link.figure.slice(0, 40)}”, which is not on this page.`);
      return;
    }
    notice('');
    void element.show(link.settings);
    bring(element);
  };
  window.addEventListener('hashchange', open);
  open();
}

/** Going back to an address without a state gives the figure its first view. */
export function followHistory(): void {
  let touched = new Set<string>();
  document.addEventListener('superpose-change', (event) => touched.add((event.target as FigureElement).name));
  window.addEventListener('popstate', () => {
    const link = readLink(location.hash);
    if (link && !('refused' in link)) return;
    for (const name of touched) void figureOf(name)?.show([]);
    touched = new Set();
  });
}
