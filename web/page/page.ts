import '../element/figureElement.js';
import { followAddress, followHistory } from './address.js';
import { lightTerms } from './terms.js';

const notice = document.querySelector<HTMLElement>('#notice');
lightTerms(document.body);
followHistory();
followAddress((sentence) => {
  if (!notice) return;
  notice.textContent = sentence;
  notice.hidden = sentence === '';
});
