// The entry of both pages: defines the figures, and connects address, contents, beats, bets and dialogs to
// them.
import { defineFigures } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { decodedLink } from '../element/link.js';
import { figures } from '../figures/index.js';
import { openingFigures } from '../figures/opening.js';
import { startEarly } from '../worker/client.js';
import { siteWorker } from '../worker/siteWorker.js';
import { transports } from '../worker/transports.js';
import { followAddress, followHistory } from './address.js';
import { followBeats } from './beats.js';
import { followSections } from './contents.js';
import { goElsewhere } from './elsewhere.js';
import { addEmbedButtons } from './embedButtons.js';
import { lightTerms } from './terms.js';

/** Starts everything; figures draw as they come near. */
function start(): void {
  transports.push(siteWorker);
  defineFigures();
  // Loads the worker and the opening figures' code before the layout shows which figures are near.
  startEarly();
  // A reader who follows a link to another place need not wait for the opening figures.
  if (location.hash === '') fetchOpening();
  // A sandboxed page may start no worker.
  if (origin === 'null') import('./sandboxed.js').then(({ sayWhy }) => sayWhy()).catch(() => {});
  const contents = document.querySelector<HTMLElement>('.contents');
  if (contents) followSections(contents);
  const notice = document.querySelector<HTMLElement>('#notice');
  addEmbedButtons();
  lightTerms(document.body);
  takeBetsWhenNear();
  offerUserFiles();
  countClaims();
  keepControlsInPlace();
  followBeats();
  followHistory();
  followAddress((sentence) => {
    if (!notice) return;
    notice.textContent = sentence;
    notice.hidden = sentence === '';
  });
}

function fetchOpening(): void {
  for (const [name, { early }] of Object.entries(openingFigures)) {
    if (early && document.querySelector(`superpose-figure[name="${name}"]`)) {
      figures[name]?.().catch(() => {
        // The figure says so itself.
      });
    }
  }
}

/** No bet is on the first screen, so their code comes when one is near. */
function takeBetsWhenNear(): void {
  const nearBets = new IntersectionObserver(
    (views) => {
      if (!views.some(({ isIntersecting }) => isIntersecting)) return;
      nearBets.disconnect();
      import('./bets.js').then(({ takeBets }) => takeBets()).catch(() => {});
    },
    { rootMargin: '300px' },
  );
  for (const bet of document.querySelectorAll('.bet')) nearBets.observe(bet);
}

function offerUserFiles(): void {
  const userCard = document.querySelector<HTMLDetailsElement>('#user-model');
  if (!userCard) return;
  const offer = () =>
    void import('./userModel.js').then(({ offerUserModel }) => offerUserModel(userCard)).catch(() => {});
  userCard.addEventListener('toggle', offer);
  // The card may have been opened before this script ran.
  if (userCard.open) offer();
}

/** page.css applies the filters of claims; a screen reader says how many are left. */
function countClaims(): void {
  document.querySelector('.kinds')?.addEventListener('change', ({ currentTarget }) => {
    const claims = [...document.querySelectorAll('.verdict')];
    const left = claims.filter((claim) => claim.checkVisibility()).length;
    const status = (currentTarget as Element).querySelector('[role=status]') as Element;
    status.textContent = `${left} of ${claims.length} claims are shown.`;
  });
}

/**
 * Controls below a picture keep their place in the window when a choice makes the picture much higher or
 * lower, or a reader who chooses many learning curves would find another section there. A beat keeps its
 * place itself.
 */
function keepControlsInPlace(): void {
  document.addEventListener('superpose-change', (event) => {
    const figure = event.target as Element;
    const controls = figure.shadowRoot?.querySelector('.controls.below');
    if (!controls || !(event as CustomEvent<Change>).detail.settled || figure.closest('.stage, dialog'))
      return;
    const [{ top }, y] = [controls.getBoundingClientRect(), scrollY];
    const keep = () => {
      const moved = controls.getBoundingClientRect().top - top;
      if (scrollY === y && Math.abs(moved) > 99) scrollBy({ top: moved, behavior: 'instant' });
    };
    figure.addEventListener('superpose-drawn', keep, { once: true });
  });
}

// What is on another page is opened there, and nothing is loaded here.
if (!goElsewhere(decodedLink(location.hash))) start();
