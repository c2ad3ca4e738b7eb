// Keeps the page's address and its figures in step: a link opens a figure in its state, Back undoes a change
// of a figure, and the page says so if it cannot read a link.

import { writeAddress } from '../element/addressBar.js';
import { FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { decodedLink, readLink, writeLink } from '../element/link.js';
import type { State } from '../figures/controls.js';
import { beatOf, goToStep, keepInBeat } from './beats.js';

/** Changes that follow one another within this time, in milliseconds, are one entry of the history. */
const pause = 400;

let timer = 0;
/** A change that has not reached the address yet. */
let pending: (() => void) | undefined;

const figureOf = (name: string): FigureElement | undefined =>
  [...document.querySelectorAll<HTMLElement>('superpose-figure')].find(
    (element): element is FigureElement => element instanceof FigureElement && element.name === name,
  );

/** The link to the state of every figure that was changed, for Back and Forward. */
let states: Record<string, string> = history.state?.states ?? {};

async function remember(element: FigureElement, state: State): Promise<void> {
  const figure = await element.loaded();
  if (!figure) return;
  const link = writeLink(element.name, figure.controls, state);
  states = { ...states, [element.name]: link };
  writeAddress(link, { states }, 'pushState');
}

/** The link that the reader has followed from a sentence to the figure that shows it. */
let from: HTMLAnchorElement | undefined;

/** Whether that link led to where the reader is now. */
const isFrom = () => from?.hash === location.hash;

/** Opens every closed card around a place. */
function unfold(place: Element | null | undefined): void {
  const folded = place?.closest('details');
  if (!folded) return;
  folded.open = true;
  unfold(folded.parentElement);
}

/** Scrolls to the figure, and again once the page has loaded: what is above may still grow. */
function bring(element: HTMLElement): void {
  unfold(element);
  const stage = beatOf(element);
  const above = claimAbove(element, stage) ?? stage ?? element;
  const come = () => {
    // A reader of a step sees its picture already.
    if (!stage?.contains(from ?? null)) above.scrollIntoView();
    keepInBeat(element);
  };
  come();
  if (from) {
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  }
  if (document.readyState !== 'complete') {
    window.addEventListener('load', come, { once: true });
  }
}

/** Puts the sentence that the reader came from above its figure, with a button that leads back. */
function claimAbove(element: HTMLElement, stage = element): HTMLElement | undefined {
  document.querySelector('.claimed')?.remove();
  if (!isFrom()) return undefined;
  const sentence = from?.closest('.verdict')?.querySelector('summary') ?? from?.closest('.answer p');
  if (!sentence) return undefined;
  const line = document.createElement('p');
  line.className = 'claimed';
  const back = document.createElement('button');
  back.textContent = 'Back';
  back.addEventListener('click', () => history.back());
  line.append(
    ...[...sentence.childNodes].map((node) =>
      node instanceof HTMLAnchorElement ? (node.textContent ?? '') : node.cloneNode(true),
    ),
    ' ',
    back,
  );
  stage.before(line);
  return line;
}

export function followAddress(notice: (sentence: string) => void): void {
  let changed: FigureElement | undefined;
  document.addEventListener('superpose-change', (event) => {
    const element = event.target as FigureElement;
    const { state, settled } = (event as CustomEvent<Change>).detail;
    clearTimeout(timer);
    if (changed !== element) pending?.();
    pending = undefined;
    if (!settled) return;
    changed = element;
    pending = () => void remember(element, state);
    timer = window.setTimeout(() => {
      pending?.();
      pending = undefined;
    }, pause);
  });
  const open = (returned = false) => {
    // A change that has not reached the address yet is dropped.
    clearTimeout(timer);
    pending = undefined;
    const hash = decodedLink(location.hash);
    if (hash !== location.hash) writeAddress(hash);
    if (/^#present(\/|$)/.test(hash)) {
      import('./present.js')
        .then(({ present }) => present())
        .catch(() => notice('The presentation could not be loaded. Reload the page to try again.'));
      return;
    }
    const link = readLink(hash);
    if (!link) {
      if (returned || goToStep(hash)) return;
      const place = document.getElementById(hash.slice(1));
      if (place && isFrom()) bring(place);
      else unfold(place);
      return;
    }
    if ('refused' in link) {
      notice(`${link.refused} The page shows its first views instead.`);
      return;
    }
    const element = figureOf(link.figure);
    if (!element && link.figure.startsWith('user-')) {
      unfold(document.querySelector('#user-model > summary'));
      const [, file = ''] = link.settings.find(([name]) => name === 'file') ?? [];
      notice(`This link was made from the file ${file.slice(0, 33)}. Open the same file below to see it.`);
      return;
    }
    if (!element) {
      notice(`This link asks for a figure called “${link.figure.slice(0, 40)}”, which is not on this page.`);
      return;
    }
    notice('');
    // A reader who comes from a sentence sees it above the figure.
    if (!isFrom() && !returned && goToStep(hash)) return;
    element.speech.changed = true;
    void element.show(link.settings);
    if (returned) keepInBeat(element);
    else bring(element);
  };
  document.addEventListener('click', (event) => {
    // Links inside figures count, too.
    const link = (event.composedPath()[0] as Element).closest('a');
    if (!link?.hash || link.origin + link.pathname !== location.origin + location.pathname) return;
    from = link.classList.contains('see') ? link : undefined;
    // On the way back the browser restores the place of the link, so the page must not go to the figure in
    // the address.
    writeAddress(undefined, { ...history.state, left: true });
    // A link to the current address fires no hashchange.
    if (link.hash === location.hash) open();
  });
  window.addEventListener('hashchange', ({ isTrusted }) => open(isTrusted && history.state?.left));
  open();
}

/** On Back and Forward, gives every changed figure the state that it had there, or its first view. */
export function followHistory(): void {
  const touched = new Set<string>();
  document.addEventListener('superpose-change', (event) => touched.add((event.target as FigureElement).name));
  writeAddress(undefined, { states, ...history.state });
  window.addEventListener('popstate', ({ state }) => {
    const link = readLink(location.hash);
    const shown = link && !('refused' in link) ? link.figure : undefined;
    if (state?.left || !isFrom()) document.querySelector('.claimed')?.remove();
    // A followed link changes its own figure alone.
    if (!state) {
      if (shown !== undefined) states = { ...states, [shown]: location.hash };
      writeAddress(undefined, { states });
      return;
    }
    states = state.states ?? {};
    if (state.left || (shown === undefined && !isFrom())) {
      from?.focus();
      from = undefined;
    }
    for (const name of touched) {
      const earlier = readLink(states[name] ?? '');
      const settings = earlier && !('refused' in earlier) ? earlier.settings : [];
      if (name !== shown) void figureOf(name)?.show(settings);
    }
  });
}
