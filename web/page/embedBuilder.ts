// The dialog that a figure's "Embed" button opens: it says how to show the figure elsewhere in its current
// state.
import { html, LitElement, type TemplateResult, unsafeCSS } from 'lit';
import { type Result, toSvg } from '../element/exports.js';
import type { FigureElement } from '../element/figureElement.js';
import { untranslate } from '../element/translated.js';
import { readFrameMessage } from '../embed/frameMessages.js';
import type { Control } from '../figures/controls.js';
import { home } from './elsewhere.js';
import css from './embedBuilder.css?inline';
import { oneFile } from './oneFile.js';
import { type Piece, type Platform, type PlatformName, platforms } from './platforms.js';
import { type EmbedRequest, frameAddress, picturesToSave } from './snippets.js';

/** A file to save. */
interface SavedFile {
  name: string;
  type: string;
  make(): Promise<string>;
}

export class EmbedBuilder extends LitElement {
  static override styles = unsafeCSS(css);

  static override properties = Object.fromEntries(
    ['result', 'place', 'theme', 'width', 'height', 'dropped', 'status'].map((name) => [
      name,
      { state: true },
    ]),
  );

  /** The figure's result when the dialog was opened: the page behind it may scroll to another step. */
  private result: FigureElement['result'];
  private place: PlatformName = 'html';
  private theme: EmbedRequest['theme'] = 'auto';
  private width = 700;
  private height = 700;
  #heightIsTyped = false;
  private dropped: readonly string[] = [];
  private status = '';

  async open(target: FigureElement): Promise<void> {
    this.result = target.result;
    this.dropped = [];
    this.status = target.busy ? 'Still computing: what to paste describes what is shown so far.' : '';
    // The figure's height here serves until the preview reports its own.
    this.height = target.offsetHeight;
    this.#heightIsTyped = false;
    window.addEventListener('message', this.#hear);
    await this.updateComplete;
    this.renderRoot.querySelector('dialog')?.showModal();
  }

  /** Takes the height from the preview, which is as wide as the frame will be, unless a height was typed. */
  readonly #hear = ({ data, source }: MessageEvent): void => {
    if (this.#heightIsTyped || source !== this.renderRoot.querySelector('iframe')?.contentWindow) return;
    const message = readFrameMessage(data);
    if (typeof message === 'number') this.height = message;
  };

  readonly #leave = (): void => {
    window.removeEventListener('message', this.#hear);
  };

  get #request(): (EmbedRequest & { height: number }) | undefined {
    if (!this.result) return undefined;
    const { figure, data, state: settings } = this.result;
    return {
      figure,
      data,
      state: settings,
      finding: figure.describe(data, settings),
      home,
      version: __SUPERPOSE_VERSION__,
      theme: this.theme,
      keep: Object.keys(figure.controls).filter((name) => !this.dropped.includes(name)),
      width: this.width,
      height: this.height,
    };
  }

  protected override willUpdate(): void {
    untranslate(this.renderRoot);
  }

  override render(): TemplateResult {
    const request = this.#request;
    return html`<dialog aria-labelledby="title" @close=${this.#leave}>
      ${request ? this.#body(request) : html`<h2 id="title">Embed</h2><p>Nothing to show yet.</p>`}
      <form method="dialog"><button>Close</button></form>
    </dialog>`;
  }

  get #platform(): Platform {
    return platforms[this.place];
  }

  /** The files to save for this platform, beside the pasted text or instead of it. */
  #files(request: EmbedRequest): SavedFile[] {
    const { saves } = this.#platform;
    const result = this.result as Result;
    if (saves === 'html') {
      const name = `${request.figure.name}.html`;
      return [{ name, type: 'text/html', make: () => oneFile(request, result) }];
    }
    return (saves ? picturesToSave(request) : []).map(({ name, width }) => ({
      name,
      type: 'image/svg+xml',
      // In a chosen theme the picture has no background: it stands on the page that the theme was chosen for.
      make: () => toSvg(result, width, request.theme, { ground: request.theme === 'auto' }),
    }));
  }

  #body(request: EmbedRequest & { height: number }): TemplateResult {
    const { says, live, saves } = this.#platform;
    const files = this.#files(request);
    const pieces = this.#platform.pieces(request);
    return html`
      <h2 id="title">Embed: ${request.figure.title}</h2>
      <fieldset><legend>Where</legend>${Object.entries(platforms).map(
        ([
          name,
          { label },
        ]) => html`<label><input type="radio" name="place" .value=${name} .checked=${name === this.place} ?autofocus=${name === this.place}
          @change=${() => this.#move(name as PlatformName)} />${label}</label>`,
      )}</fieldset>
      <p>${says}</p>
      ${this.#options(request)}
      ${pieces.map((piece, at) => this.#piece(piece, at, pieces.length))}
      ${saves === 'svg' && files.length > 0 ? html`<p>The pictures of this state go ${this.place === 'mdx' ? 'into the app’s public folder' : 'beside the page'}.${live ? ' They are shown until the figure is live, where it cannot be, and in feeds.' : ''}</p>` : ''}
      <div class="buttons">
        ${files.map((file) => html`<button @click=${() => this.#save(file)}>Save ${file.name}</button>`)}
        <span role="status">${this.status}</span>
      </div>
      ${
        live
          ? html`<p class="label">As it will be:</p>
            <div class="preview" role="group" aria-label="Preview" tabindex="0"><iframe inert title="Preview of ${request.figure.title}" sandbox="allow-scripts" src=${frameAddress(request)}
              width=${request.width} height=${request.height}></iframe></div>`
          : ''
      }`;
  }

  /** A text to paste, its destination, and its button. */
  #piece({ into, text }: Piece, at: number, all: number): TemplateResult {
    const label = all > 1 ? `What to paste into ${into}` : 'What to paste';
    return html`<label class="label" for="piece-${at}">${all > 1 ? `Into ${into}:` : ''}</label>
      <textarea id="piece-${at}" readonly aria-label=${label} .value=${text}></textarea>
      <div class="buttons"><button @click=${() => this.#copy(text, into, at)}>Copy${all > 1 ? ` for ${into}` : ''}</button></div>`;
  }

  #options(request: EmbedRequest & { height: number }): TemplateResult {
    const { live } = this.#platform;
    const number = (label: string, value: number, set: (to: number) => void, most: number) =>
      html`<label>${label}<input type="number" min="280" max=${most} .value=${String(value)}
        @change=${(event: Event) => {
          const field = event.target as HTMLInputElement;
          const to = Math.min(most, Math.max(280, Math.round(Number(field.value)) || value));
          // Setting an equal value would not render the field again.
          field.value = String(to);
          set(to);
        }} /></label>`;
    const setWidth = (to: number) => {
      this.width = to;
    };
    const setHeight = (to: number) => {
      this.height = to;
      this.#heightIsTyped = true;
    };
    const setTheme = (event: Event) => {
      this.theme = (event.target as HTMLSelectElement).value as EmbedRequest['theme'];
    };
    const labels = {
      auto: this.place === 'picture' || this.place === 'file' ? 'the reader’s' : 'the page’s',
      light: 'light',
      dark: 'dark',
    };
    return html`
      <fieldset><legend>Size and theme</legend>
        ${number('Width', this.width, setWidth, 2000)}
        ${this.place === 'frame' ? number('Height', this.height, setHeight, 4000) : ''}
        <label>Theme <select @change=${setTheme}>
          ${Object.entries(labels).map(([theme, label]) => html`<option value=${theme} ?selected=${theme === this.theme}>${label}</option>`)}
        </select></label>
      </fieldset>
      ${live ? this.#settings(request) : ''}`;
  }

  /** The settings that readers may change, without those that have no effect in this state. */
  #settings({ figure, state, keep }: EmbedRequest): TemplateResult {
    const unused = new Set(figure.unused?.(state) ?? []);
    const shown = Object.entries(figure.controls as Record<string, Control>).filter(
      ([name]) => !unused.has(name),
    );
    return html`<fieldset><legend>The reader can change</legend>${shown.map(
      ([name, { label }]) => html`<label><input type="checkbox" .checked=${keep.includes(name)}
        @change=${() => this.#toggle(name)} />${label}</label>`,
    )}</fieldset>`;
  }

  #move(to: PlatformName): void {
    this.place = to;
    this.status = '';
  }

  #toggle(name: string): void {
    this.dropped = this.dropped.includes(name)
      ? this.dropped.filter((dropped) => dropped !== name)
      : [...this.dropped, name];
  }

  async #copy(text: string, into: string, at: number): Promise<void> {
    const lines = text.split('\n').length - 1;
    const what = `for ${into}, ${lines} ${lines === 1 ? 'line' : 'lines'}`;
    try {
      await navigator.clipboard.writeText(text);
      this.status = `Copied: ${what}.`;
    } catch {
      this.renderRoot.querySelectorAll('textarea')[at]?.select();
      this.status = `Selected: ${what}. Copy it with Ctrl-C or ⌘C.`;
    }
  }

  async #save({ name, type, make }: SavedFile): Promise<void> {
    this.status = 'Preparing the file…';
    try {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([await make()], { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      this.status = `${name} saved.`;
    } catch (error) {
      this.status = (error as Error).message;
    }
  }
}

customElements.define('superpose-embed-builder', EmbedBuilder);
