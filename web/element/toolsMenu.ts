// The Tools menu of a figure: its numbers as a table, files to save, and links to its state.
import { html, type LitElement, nothing, type ReactiveController, type TemplateResult } from 'lit';
import type { Source } from '../figures/figure.js';
import { openingText } from '../plot/format.js';
import type { Cursor } from '../plot/scene.js';
import type { View } from './exports.js';
import type { FigureRequest } from './figureRequest.js';
import { hostPage, linkBase, writeLink } from './link.js';
import type { Surroundings } from './surroundings.js';

/** The text of the badge for each source of numbers, and its explanation. */
const sources: Record<Source, readonly [text: string, explanation: string]> = {
  seeded: ['seeded', 'Random numbers, always the same for the same seed'],
  trained: ['trained weights', 'Computed from the weights of a trained model'],
  mixed: [
    'trained tokens, random positions',
    'The tokens are a trained model’s; positions are random, the same for the same seed',
  ],
  exact: ['exact', 'Computed from a formula'],
  recorded: ['recorded', 'Runs on another machine, whose results are in a file'],
  user: ['your file', 'Computed from rows of your file'],
};

interface Host extends LitElement {
  readonly request: FigureRequest;
  readonly surroundings: Surroundings;
}

export class ToolsMenu implements ReactiveController {
  /** Says what the last save or copy did. */
  status = '';
  tableOpen = false;
  /** A closed menu is not drawn again for each new view. */
  open = false;
  /** Removes the listeners of the open menu. */
  #listening = new AbortController();

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostDisconnected(): void {
    this.status = '';
    this.#listening.abort();
  }

  /** A link to this view; undefined without a page to link to. */
  link(): string | undefined {
    const base = linkBase();
    const { figure, settings } = this.host.request;
    return base === undefined || !figure ? base : base + writeLink(figure.name, figure.controls, settings);
  }

  homeLink(): TemplateResult | typeof nothing {
    const link = hostPage.foreign ? this.link() : undefined;
    if (link === undefined) return nothing;
    return html` <a href=${link} target="_blank" rel="noopener">Open in Superpose</a>`;
  }

  /** A link to the figure that the cell at the cursor opens. */
  opens({ figure, data, state }: View, cursor: Cursor): TemplateResult | typeof nothing {
    const target = figure.opens?.(data, state, cursor);
    const base = linkBase();
    if (!target || base === undefined) return nothing;
    const link = base + writeLink(target.figure.name, target.figure.controls, target.state);
    return html`<p class="opens" part="caption"><a href=${link} target=${hostPage.foreign ? '_blank' : nothing} rel="noopener">${openingText(target)}</a></p>`;
  }

  tools(view: View): TemplateResult {
    const { surroundings } = this.host;
    const [text, explanation] = sources[view.source];
    return html`<details class="menu" @toggle=${this.#follow}><summary>Tools</summary><div class="tools">
      <span class="badge" title=${explanation}>Numbers: ${text}</span>
      <button aria-expanded=${this.tableOpen} @click=${this.#toggleTable}>The numbers as a table</button>
      <div role="group" aria-label="Save as"><span aria-hidden="true">Save</span> ${[
        this.#button(view, 'PNG', 'image/png', ({ toPng }) =>
          toPng(view, surroundings.width, surroundings.theme, webAddress()),
        ),
        this.#button(view, 'SVG', 'image/svg+xml', ({ toFramedSvg }) =>
          toFramedSvg(view, surroundings.width, surroundings.theme, webAddress()),
        ),
        this.#button(view, 'CSV', 'text/csv', ({ toCsv }) => toCsv(view)),
        this.#button(view, 'JSON', 'application/json', ({ toJson }) => toJson(view)),
      ]}</div>
      ${linkBase() === undefined ? nothing : html`<button @click=${this.#copyLink}>Copy link</button>`}
      <slot name="tools" @click=${{ handleEvent: this.#shut, capture: true }}></slot>
      ${this.homeLink()}
      <span class="said" role="status">${this.status}</span>
    </div></details>`;
  }

  #toggleTable = (): void => {
    this.tableOpen = !this.tableOpen;
    this.host.requestUpdate();
  };

  get #menu(): HTMLDetailsElement | null {
    return this.host.renderRoot.querySelector('details.menu');
  }

  /**
   * Escape closes the menu and nothing around it, wherever the focus is: WebKit does not focus a button that
   * is pressed. A press anywhere else closes it, too.
   */
  #close = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !this.#menu?.open) return;
    event.preventDefault();
    end(event);
    // A page may close something when the key comes up.
    window.addEventListener('keyup', end, { capture: true, once: true });
    this.#shut();
  };
  /** Runs before a pressed button opens a dialog, because the dialog returns the focus to where it was. */
  #shut = (): void => {
    const menu = this.#menu as HTMLDetailsElement;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  };
  #follow = (): void => {
    this.#listening.abort();
    this.#listening = new AbortController();
    this.open = this.#menu?.open ?? false;
    this.host.requestUpdate();
    const [head, list] = this.#menu?.children ?? [];
    // Above its button, if the window has room for it there.
    if (head && list)
      list.classList.toggle('down', head.getBoundingClientRect().top < list.getBoundingClientRect().height);
    if (!this.open) return;
    const { signal } = this.#listening;
    // The root, not the document: outside a closed shadow, all events from within seem to come from its host.
    this.host.getRootNode().addEventListener('pointerdown', this.#pressed, { signal });
    window.addEventListener('keydown', this.#close, { signal, capture: true });
  };
  #pressed = (event: Event): void => {
    const menu = this.#menu;
    if (menu && !event.composedPath().includes(menu)) menu.open = false;
  };

  #button(
    view: View,
    kind: string,
    type: string,
    make: (exports: typeof import('./exports.js')) => Promise<BlobPart> | BlobPart,
  ): TemplateResult {
    const save = async () => {
      const name = `${view.figure.name}.${kind.toLowerCase()}`;
      try {
        // Loaded late: few readers save anything, and none before the first figure.
        download(name, new Blob([await make(await import('./exports.js'))], { type }));
        this.#report(`${name} saved.`);
      } catch (error) {
        this.#report((error as Error).message);
      }
    };
    return html`<button @click=${save}>${kind}</button> `;
  }

  #copyLink = async (): Promise<void> => {
    const link = this.link();
    if (link === undefined) return;
    try {
      await navigator.clipboard.writeText(link);
      this.#report('Link copied.');
    } catch {
      // Many frames may not write to the clipboard; the reader can copy the link by hand.
      this.#report(`Copying is blocked. This is the link: ${link}`);
    }
  };

  #report(sentence: string): void {
    this.status = sentence;
    this.host.requestUpdate();
  }
}

const end = (event: Event): void => event.stopImmediatePropagation();

/** The page's address, unless it is a file on the reader's disk. */
const webAddress = (): string | undefined => {
  const base = linkBase();
  return base && /^https?:/.test(base) ? base : undefined;
};

function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
