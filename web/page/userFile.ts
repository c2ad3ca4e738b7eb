// A card in which the reader opens files: it hands them to the worker, says what came of it, and shows their
// figures.
import { writeAddress } from '../element/addressBar.js';
import type { State } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import { type Asker, asker } from '../worker/client.js';

/** Creates an element with these members and children. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const created = Object.assign(document.createElement(name), members);
  created.append(...children);
  return created;
};

/** An input for files; `take` gets those that are chosen. */
export function fileInput(
  members: Partial<HTMLInputElement>,
  take: (files: File[]) => void,
): HTMLInputElement {
  const input = element('input', { type: 'file', ...members });
  input.addEventListener('change', () => {
    take([...(input.files ?? [])]);
    // So that choosing the same files again is a change too.
    input.value = '';
  });
  return input;
}

export abstract class UserFileCard<Request extends object, Answer> {
  protected readonly status = element('p', { className: 'note' });
  protected readonly shown = element('div');
  protected readonly stop = element('button', { type: 'button', textContent: 'Stop', hidden: true });
  protected readonly forget = element('button', { type: 'button', hidden: true });
  /** The names of the figures that are shown, and the digest of their file. */
  #names: readonly string[] = [];
  #digest = '';
  /** What the worker is doing, said before its progress. */
  #activity = '';
  #latest: object | undefined;
  readonly #asker: Asker;

  /** The names of the card's figures begin with `prefix`; `prefix` and “open” has the worker open files. */
  constructor(
    private readonly prefix: string,
    forget: string,
  ) {
    this.status.setAttribute('role', 'status');
    this.forget.textContent = forget;
    this.stop.addEventListener('click', () => {
      this.#asker.cancel();
      this.stop.hidden = true;
      this.say('Stopped.');
    });
    this.#asker = asker(`${prefix}open`, {
      answered: (data, request) => {
        // An answer to an older request says nothing about the one under way.
        if (request !== this.#latest) return;
        this.stop.hidden = true;
        this.opened(data as Answer);
      },
      failed: (sentence) => {
        this.stop.hidden = true;
        this.fail(sentence);
      },
      progress: (fraction) => this.say(`${this.#activity}: ${Math.round(100 * fraction)} %`),
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

  protected open(request: Request, sentence: string, activity = 'Reading'): void {
    this.#activity = activity;
    this.say(sentence);
    this.stop.hidden = false;
    this.ask(request);
  }

  /** Files and pictures go to a worker as they are. */
  protected ask(request: Request): void {
    this.#latest = request;
    this.#asker.ask(request as unknown as State);
  }

  protected cancel(): void {
    this.#asker.cancel();
    this.stop.hidden = true;
  }

  /** Takes the shown file's state out of the address: it does not fit another file. */
  protected leave(): void {
    if (this.#digest && `${location.hash}&`.includes(`&file=${this.#digest}&`)) writeAddress('#user-model');
  }

  protected remove(): void {
    this.shown.replaceChildren();
    for (const name of this.#names) delete figures[name];
    this.#names = [];
    this.#digest = '';
  }

  protected show(userFigures: Record<string, AnyFigure>, digest: string): void {
    this.remove();
    this.#digest = digest;
    for (const [name, figure] of Object.entries(userFigures)) {
      figures[name] = async () => figure;
      const shown = document.createElement('superpose-figure');
      shown.setAttribute('name', name);
      shown.append(element('h4', { slot: 'title', textContent: figure.title }));
      this.shown.append(shown);
    }
    this.#names = Object.keys(userFigures);
    // A link to one of them may have waited for it.
    if (location.hash.includes(`&figure=${this.prefix}`)) window.dispatchEvent(new Event('hashchange'));
  }
}
