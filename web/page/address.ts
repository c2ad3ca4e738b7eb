// Keeps the page's address and its figures in step: a link opens a figure in its state, Back undoes a change
// of a figure, and the page says so if it cannot read a link.

import { writeAddress } from '../element/addressBar.js';
import { FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { decodedLink, readLink, writeLink } from '../element/link.js';
import { type ChangedTexts, pageTexts, setPageTexts } from '../element/pageTexts.js';
import type { State } from '../figures/controls.js';
import { beatOf, goToStep, keepInBeat } from './beats.js';
import { goElsewhere, home } from './elsewhere.js';

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
  writeAddress(link, entry(), 'pushState');
}

/** What an entry of the history keeps. */
const entry = () => ({ states, texts: pageTexts() });

/** Removes the texts that have changed from the states' links, because all figures show the page's texts. */
function dropTexts(changed: ChangedTexts): void {
  for (const [name, link] of Object.entries(states)) {
    const fields = new URLSearchParams(link.slice(1));
    for (const text of Object.keys(changed)) fields.delete(text);
    states = { ...states, [name]: `#${fields}` };
  }
}

/** The link that the reader has followed from a sentence to the figure that shows it. */
let from: HTMLAnchorElement | undefined;
/** Where that link stood in the window. */
let fromTop = 0;

/** Carries such a sentence over to the site's other page. In some frames, access to storage throws. */
const claimBefore = {
  key: 'superpose-claim',
  take(): { hash?: string; sentence?: string } {
    try {
      const claim = JSON.parse(sessionStorage.getItem(this.key) ?? '{}');
      sessionStorage.removeItem(this.key);
      return claim;
    } catch {
      return {};
    }
  },
  leave(link: HTMLAnchorElement): void {
    const sentence = sentenceOf(link)?.textContent?.trim();
    try {
      if (sentence) sessionStorage.setItem(this.key, JSON.stringify({ hash: link.hash, sentence }));
    } catch {}
  },
};
const cameFrom = claimBefore.take();

/** Whether the followed link led to where the reader is now. */
const isFrom = () => (from ?? cameFrom).hash === location.hash;

/** The sentence that a link stands in: of the answer, or a claim. */
const sentenceOf = (link: Element | undefined): Element | null | undefined =>
  link?.closest('.verdict')?.querySelector('summary') ?? link?.closest('.answer p');

/** Opens every closed card around a place. */
function unfold(place: Element | null | undefined): void {
  const folded = place?.closest('details');
  if (!folded) return;
  folded.open = true;
  unfold(folded.parentElement);
}

/**
 * The browser restores the place in the page, but what is above it may have grown or shrunk meanwhile. So the
 * page then scrolls until the link is back at its old place in the window.
 */
function returnTo(link: HTMLAnchorElement, top: number): void {
  link.focus();
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      scrollBy({ top: link.getBoundingClientRect().top - top, behavior: 'instant' }),
    ),
  );
}

/** Scrolls to the figure, and again once the page has loaded: what is above may still grow. */
function bring(element: HTMLElement): void {
  unfold(element);
  const stage = beatOf(element);
  const above = claimAbove(element, stage) ?? stage ?? element;
  const come = () => {
    // A reader who comes from a step already sees the step's picture.
    if (from && stage?.contains(from) && element instanceof FigureElement) holdPlace(from, element);
    else above.scrollIntoView();
    keepInBeat(element);
  };
  come();
  if (isFrom()) {
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  }
  if (document.readyState !== 'complete') {
    window.addEventListener('load', come, { once: true });
  }
}

/**
 * A link stays where it was in the window while the figure that it has changed becomes higher or lower, until
 * the figure is done or the reader scrolls.
 */
function holdPlace(link: HTMLAnchorElement, figure: FigureElement): void {
  const { top } = link.getBoundingClientRect();
  let y = scrollY;
  const sizes = new ResizeObserver(() => {
    if (scrollY === y) scrollBy({ top: link.getBoundingClientRect().top - top, behavior: 'instant' });
    else sizes.disconnect();
    y = scrollY;
  });
  sizes.observe(figure);
  const finish = () => {
    if (figure.busy) return;
    figure.removeEventListener('superpose-drawn', finish);
    // The observer sees the last size in the frame of the last picture.
    requestAnimationFrame(() => requestAnimationFrame(() => sizes.disconnect()));
  };
  figure.addEventListener('superpose-drawn', finish);
}

/** Puts the sentence that the reader came from above its figure, with a button that leads back. */
function claimAbove(element: HTMLElement, stage = element): HTMLElement | undefined {
  document.querySelector('.claimed')?.remove();
  if (!isFrom()) return undefined;
  const nodes = [...(sentenceOf(from)?.childNodes ?? [])];
  const words = from
    ? nodes.map((node) =>
        node instanceof HTMLAnchorElement ? (node.textContent ?? '') : node.cloneNode(true),
      )
    : [cameFrom.sentence ?? ''];
  if (words.length === 0) return undefined;
  const line = document.createElement('p');
  line.className = 'claimed';
  const back = document.createElement('button');
  back.textContent = 'Back';
  back.addEventListener('click', () => history.back());
  line.append(...words, ' ', back);
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
    if (goElsewhere(hash)) return;
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
      const figure = place ? undefined : figureOf(hash.slice(1));
      if (place && isFrom()) bring(place);
      else if (figure) bring(figure);
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
    if (!link?.hash) return;
    if (link.origin + link.pathname !== location.origin + location.pathname) {
      if (link.classList.contains('see') && link.href.startsWith(home)) claimBefore.leave(link);
      return;
    }
    from = link.classList.contains('see') ? link : undefined;
    fromTop = link.getBoundingClientRect().top;
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
  document.addEventListener('superpose-text', ({ detail }: CustomEventInit<ChangedTexts>) =>
    dropTexts(detail ?? {}),
  );
  // A page from the browser's back/forward cache has not seen the texts that were given on another page.
  window.addEventListener('pageshow', ({ persisted }) => persisted && setPageTexts());
  writeAddress(undefined, { ...entry(), ...history.state, texts: pageTexts() });
  window.addEventListener('popstate', ({ state }) => {
    const link = readLink(location.hash);
    const shown = link && !('refused' in link) ? link.figure : undefined;
    if (state?.left || !isFrom()) document.querySelector('.claimed')?.remove();
    // A followed link changes its own figure alone.
    if (!state) {
      if (shown !== undefined) states = { ...states, [shown]: location.hash };
      writeAddress(undefined, entry());
      return;
    }
    setPageTexts(state.texts ?? {});
    states = state.states ?? {};
    if (state.left || (shown === undefined && !isFrom())) {
      if (from) returnTo(from, fromTop);
      from = undefined;
    }
    for (const name of touched) {
      const earlier = readLink(states[name] ?? '');
      const settings = earlier && !('refused' in earlier) ? earlier.settings : [];
      if (name !== shown) void figureOf(name)?.show(settings);
    }
  });
}
