// A card in which the reader opens files: hands them to the worker, says how it went, shows their figures.
import { writeAddress } from '../element/addressBar.js';
import type { State } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import { type Asker, asker } from '../worker/client.js';

export const made = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const element = Object.assign(document.createElement(name), members);
  element.append(...children);
  return element;
};

/** An input for files; `take` gets those that are chosen. */
export function fileInput(
  members: Partial<HTMLInputElement>,
  take: (files: File[]) => void,
): HTMLInputElement {
  const input = made('input', { type: 'file', ...members });
  input.addEventListener('change', () => {
    take([...(input.files ?? [])]);
    // So that choosing the same files again is a change too.
    input.value = '';
  });
  return input;
}

export abstract class OwnFile<Question extends object, Answer> {
  protected readonly status = made('p', { className: 'note' });
  protected readonly shown = made('div');
  protected readonly stop = made('button', { type: 'button', textContent: 'Stop', hidden: true });
  protected readonly forget = made('button', { type: 'button', hidden: true });
  #names: readonly string[] = [];
  #digest = '';
  #doing = '';
  #asked: object | undefined;
  readonly #asker: Asker;

  /** The names of its figures begin with `figure`; the worker opens files for `figure` and “open”. */
  constructor(
    private readonly figure: string,
    forget: string,
  ) {
    this.status.setAttribute('role', 'status');
    this.forget.textContent = forget;
    this.stop.addEventListener('click', () => {
      this.#asker.cancel();
      this.stop.hidden = true;
      this.say('Stopped.');
    });
    this.#asker = asker(`${figure}open`, {
      answered: (data, question) => {
        // An answer to an older question says nothing of the one under way.
        if (question !== this.#asked) return;
        this.stop.hidden = true;
        this.opened(data as Answer);
      },
      failed: (sentence) => {
        this.stop.hidden = true;
        this.fail(sentence);
      },
      progress: (fraction) => this.say(`${this.#doing}: ${Math.round(100 * fraction)} %`),
    });
  }

  protected abstract opened(answer: Answer): void;

  protected say(sentence: string): void {
    this.status.className = 'note';
    this.status.textContent = sentence;
  }

  protected fail(sentence: string): void {
    this.say(sentence);
    this.status.className = 'note warning';
  }

  /** `doing` is said of how far it is. */
  protected open(question: Question, sentence: string, doing = 'Reading'): void {
    this.#doing = doing;
    this.say(sentence);
    this.stop.hidden = false;
    this.ask(question);
  }

  /** Files and pictures go to a worker as they are. */
  protected ask(question: Question): void {
    this.#asked = question;
    this.#asker.ask(question as unknown as State);
  }

  protected cancel(): void {
    this.#asker.cancel();
    this.stop.hidden = true;
  }

  /** Takes the shown file's state out of the address: it does not fit another file. */
  protected leave(): void {
    if (this.#digest && `${location.hash}&`.includes(`&file=${this.#digest}&`)) writeAddress('#own-model');
  }

  protected remove(): void {
    this.shown.replaceChildren();
    for (const name of this.#names) delete figures[name];
    this.#names = [];
    this.#digest = '';
  }

  protected show(own: Record<string, AnyFigure>, digest: string): void {
    this.remove();
    this.#digest = digest;
    this.add(own);
  }

  /** Shows more figures of the same file; those of the same names make room. */
  protected add(own: Record<string, AnyFigure>): void {
    for (const [name, figure] of Object.entries(own)) {
      this.shown.querySelector(`[name=${name}]`)?.remove();
      figures[name] = async () => figure;
      const element = document.createElement('superpose-figure');
      element.setAttribute('name', name);
      element.append(made('h4', { slot: 'title', textContent: figure.title }));
      this.shown.append(element);
    }
    this.#names = [...new Set([...this.#names, ...Object.keys(own)])];
    // A link to one of them may have waited for it.
    if (location.hash.includes(`&figure=${this.figure}`)) window.dispatchEvent(new Event('hashchange'));
  }
}
