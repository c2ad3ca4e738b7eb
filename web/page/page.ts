import '../element/figureElement.js';
import { followAddress, followHistory } from './address.js';
import { takeBets } from './bets.js';
import { lightTerms } from './terms.js';

const notice = document.querySelector<HTMLElement>('#notice');
lightTerms(document.body);
takeBets();
followHistory();
followAddress((sentence) => {
  if (!notice) return;
  notice.textContent = sentence;
  notice.hidden = sentence === '';
});
