// The part of a model's card that runs it over a corpus, and the figures that come of it; loaded once a model is open.
import type { Opened } from '../figures/ownModel.js';
import { made } from './ownFile.js';

export { mechanismFigures } from '../figures/ownMechanism.js';

/** Nothing long begins before the reader presses its button. */
export function corpusForm(
  { readsText, layers, bytes }: Opened,
  ask: (corpus: string) => void,
): HTMLFormElement {
  const ids = made('textarea', { name: 'corpus', required: true, rows: 4 });
  const size = (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });
  const form = made(
    'form',
    { className: 'own-options' },
    made('p', {
      className: 'note',
      textContent: `What its scores ask is told by means of its queries and keys over a corpus, through all ${layers} layers (${size} MB are read). That takes seconds to minutes.`,
    }),
    ...(readsText
      ? []
      : [
          made(
            'label',
            {},
            'Without a tokenizer, the corpus is yours: ids of some hundred tokens, a sentence a line ',
            ids,
          ),
        ]),
    made('button', { textContent: 'Average over a corpus' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(ids.value);
  });
  return form;
}
