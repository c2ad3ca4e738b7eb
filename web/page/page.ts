import { defineFigures } from '../element/figureElement.js';
import { figures } from '../figures/index.js';
import { startEarly } from '../worker/client.js';
import { siteWorker } from '../worker/siteWorker.js';
import { setWays } from '../worker/ways.js';
import { followAddress, followHistory } from './address.js';
import { takeBets } from './bets.js';
import { followSections } from './contents.js';
import { addEmbedButtons } from './embedButtons.js';
import { workOffline } from './offline.js';
import { lightTerms } from './terms.js';

setWays(siteWorker);
defineFigures();
// While the page is laid out, before a figure is known to be near: what computes, and the first figures' code.
startEarly();
figures.sum?.().catch(() => {
  // The figure says so itself.
});
const contents = document.querySelector<HTMLElement>('.contents');
if (contents) followSections(contents);
const notice = document.querySelector<HTMLElement>('#notice');
addEmbedButtons();
lightTerms(document.body);
takeBets();
followHistory();
followAddress((sentence) => {
  if (!notice) return;
  notice.textContent = sentence;
  notice.hidden = sentence === '';
});
workOffline();
