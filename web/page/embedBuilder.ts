// The dialog that a figure's "Embed" button opens: how to show it elsewhere, in its present state.
import { html, LitElement, type TemplateResult, unsafeCSS } from 'lit';
import { toPng, toSvg } from '../element/exports.js';
import type { FigureElement } from '../element/figureElement.js';
import { said } from '../embed/framed.js';
import type { Control } from '../figures/controls.js';
import css from './embedBuilder.css?inline';
import { oneFile } from './oneFile.js';
import { type Kind, type Piece, type Platform, type PlatformName, platforms } from './platforms.js';
import { frameAddress, isFirstView, type Wish } from './snippets.js';

const kinds: Record<Kind, string> = {
  iframe: 'Frame',
  script: 'Script tag',
  markdown: 'Markdown',
  svg: 'Picture (SVG)',
  file: 'One file',
  link: 'Link',
  cite: 'Cite',
};

const says: Record<Kind, string> = {
  iframe: 'For most blogs; isolated from your page.',
  script: 'Part of your page: figures share one module and, with the same group="…", their sliders.',
  markdown: 'A picture with a link to the figure, where HTML is not taken.',
  svg: 'Save the picture beside the page.',
  file: 'One file, which opens from disk too.',
  link: 'The platform makes a card or a frame of it.',
  cite: 'This state, with the version that made it.',
};

/** Whether the figure itself is embedded, and answers there. */
const isLive = (kind: Kind): boolean => ['iframe', 'script', 'file'].includes(kind);

export class EmbedBuilder extends LitElement {
  static override styles = unsafeCSS(css);

  static override properties = Object.fromEntries(
    ['result', 'place', 'kind', 'theme', 'width', 'height', 'dropped', 'said'].map((name) => [
      name,
      { state: true },
    ]),
  );

  /** What the figure showed when the dialog was opened: behind it the page can scroll to another step. */
  private result: FigureElement['result'];
  private place: PlatformName = 'html';
  private kind: Kind = 'iframe';
  private theme: Wish['theme'] = 'auto';
  private width = 800;
  private height = 700;
  #written = false;
  private dropped: readonly string[] = [];
  private said = '';

  async open(target: FigureElement): Promise<void> {
    this.result = target.result;
    this.dropped = [];
    this.said = target.busy ? 'Still computing: what to paste describes what is shown so far.' : '';
    this.#written = false;
    window.addEventListener('message', this.#hear);
    await this.updateComplete;
    this.renderRoot.querySelector('dialog')?.showModal();
  }

  /** The preview is as wide as the frame will be, and reports its height. A height that was typed stays. */
  readonly #hear = ({ data, source }: MessageEvent): void => {
    if (this.#written || source !== this.renderRoot.querySelector('iframe')?.contentWindow) return;
    const heard = said(data);
    if (typeof heard === 'number') this.height = heard;
  };

  readonly #leave = (): void => {
    window.removeEventListener('message', this.#hear);
  };

  get #wish(): Wish | undefined {
    if (!this.result) return undefined;
    const { figure, data, state: settings } = this.result;
    return {
      figure,
      state: settings,
      finding: figure.describe(data, settings),
      home: new URL('./', location.href.split('#')[0]).href,
      version: __SUPERPOSE_VERSION__,
      theme: this.theme,
      keep: Object.keys(figure.controls).filter((name) => !this.dropped.includes(name)),
      width: this.width,
      height: this.height,
    };
  }

  override render(): TemplateResult {
    const wish = this.#wish;
    return html`<dialog aria-labelledby="title" @close=${this.#leave}>
      ${wish ? this.#body(wish) : html`<h2 id="title">Embed</h2><p>Nothing to show yet.</p>`}
      <form method="dialog"><button>Close</button></form>
    </dialog>`;
  }

  #body(wish: Wish): TemplateResult {
    const { kind } = this;
    const place: Platform = platforms[this.place];
    const pieces = place.forms[kind]?.(wish) ?? [];
    const picture = place.picture ?? 'svg';
    const needsFile = kind === 'svg' || kind === 'file' || (kind === 'markdown' && !isFirstView(wish));
    return html`
      <h2 id="title">Embed: ${wish.figure.title}</h2>
      <p><label>Your platform <select name="place" @change=${(event: Event) => this.#move((event.target as HTMLSelectElement).value as PlatformName)}>
        ${Object.entries(platforms).map(([name, { label }]) => html`<option value=${name} ?selected=${name === this.place}>${label}</option>`)}
      </select></label> <small>${place.tested ? '✓ tested' : ''}</small></p>
      <fieldset><legend>As</legend>${(Object.keys(kinds) as Kind[])
        .filter((one) => one in place.forms)
        .map(
          (one) => html`<label><input type="radio" name="kind" .value=${one} .checked=${one === kind}
          @change=${() => this.#choose(one)} />${kinds[one]}</label>`,
        )}</fieldset>
      <p>${says[kind]} ${place.says}</p>
      ${kind === 'cite' || kind === 'link' ? '' : this.#options(wish, kind)}
      ${pieces.map((piece, at) => this.#piece(piece, at, pieces.length))}
      <div class="buttons">
        ${needsFile ? html`<button @click=${() => this.#save(wish, picture)}>Save ${wish.figure.name}.${kind === 'file' ? 'html' : picture}</button>` : ''}
        <span role="status">${this.said}</span>
      </div>
      ${
        isLive(kind)
          ? html`<p class="label">As it will be:</p>
            <div class="preview"><iframe inert title="Preview of ${wish.figure.title}" sandbox="allow-scripts" src=${frameAddress(wish)}
              width=${wish.width} height=${wish.height}></iframe></div>`
          : ''
      }`;
  }

  /** A text to paste, where it goes, and its button. */
  #piece({ into, text }: Piece, at: number, all: number): TemplateResult {
    const label = all > 1 ? `What to paste into ${into}` : 'What to paste';
    return html`<label class="label" for="piece-${at}">${all > 1 ? `Into ${into}:` : ''}</label>
      <textarea id="piece-${at}" readonly aria-label=${label} .value=${text}></textarea>
      <div class="buttons"><button @click=${() => this.#copy(text, into, at)}>Copy${all > 1 ? ` for ${into}` : ''}</button></div>`;
  }

  #options(wish: Wish, kind: Kind): TemplateResult {
    const number = (label: string, value: number, set: (to: number) => void, most: number) =>
      html`<label>${label}<input type="number" min="280" max=${most} .value=${String(value)}
        @change=${(event: Event) => set(Math.min(most, Math.max(280, Math.round(Number((event.target as HTMLInputElement).value)) || value)))} /></label>`;
    // The page does not show these in this state.
    const unused = new Set(wish.figure.unused?.(wish.state) ?? []);
    return html`
      <fieldset><legend>Size and theme</legend>
        ${number(
          'Width',
          this.width,
          (to) => {
            this.width = to;
          },
          2000,
        )}
        ${
          kind === 'iframe'
            ? number(
                'Height',
                this.height,
                (to) => {
                  this.height = to;
                  this.#written = true;
                },
                4000,
              )
            : ''
        }
        <label>Theme <select @change=${(event: Event) => {
          this.theme = (event.target as HTMLSelectElement).value as Wish['theme'];
        }}>
          ${(['auto', 'light', 'dark'] as const).map((one) => html`<option value=${one} ?selected=${one === this.theme}>${one === 'auto' ? (kind === 'script' || kind === 'iframe' ? 'the page’s' : 'the reader’s') : one}</option>`)}
        </select></label>
      </fieldset>
      ${
        isLive(kind)
          ? html`<fieldset><legend>The reader can change</legend>${Object.entries(
              wish.figure.controls as Record<string, Control>,
            )
              .filter(([name]) => !unused.has(name))
              .map(
                ([name, { label }]) => html`<label><input type="checkbox" .checked=${wish.keep.includes(name)}
                @change=${() => this.#toggle(name)} />${label}</label>`,
              )}</fieldset>`
          : ''
      }`;
  }

  #choose(kind: Kind): void {
    this.kind = kind;
    this.said = '';
  }

  #move(to: PlatformName): void {
    this.place = to;
    this.said = '';
    const { forms }: Platform = platforms[to];
    if (!(this.kind in forms)) this.kind = Object.keys(forms)[0] as Kind;
  }

  #toggle(name: string): void {
    this.dropped = this.dropped.includes(name)
      ? this.dropped.filter((one) => one !== name)
      : [...this.dropped, name];
  }

  async #copy(text: string, into: string, at: number): Promise<void> {
    const lines = text.split('\n').length - 1;
    const what = `${kinds[this.kind]} for ${into}, ${lines} ${lines === 1 ? 'line' : 'lines'}`;
    try {
      await navigator.clipboard.writeText(text);
      this.said = `Copied: ${what}.`;
    } catch {
      this.renderRoot.querySelectorAll('textarea')[at]?.select();
      this.said = `Selected: ${what}. Copy it with Ctrl-C or ⌘C.`;
    }
  }

  async #save(wish: Wish, picture: 'svg' | 'png'): Promise<void> {
    const { result } = this;
    if (!result) return;
    this.said = 'Preparing the file…';
    try {
      const blob = (type: string, text: string) => new Blob([text], { type });
      const [extension, file] =
        this.kind === 'file'
          ? (['html', blob('text/html', await oneFile(wish, result))] as const)
          : picture === 'png'
            ? ([picture, await toPng(result, wish.width, 'light')] as const)
            : ([picture, blob('image/svg+xml', await toSvg(result, wish.width, wish.theme))] as const);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = `${wish.figure.name}.${extension}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      this.said = `${link.download} saved.`;
    } catch (error) {
      this.said = (error as Error).message;
    }
  }
}

customElements.define('superpose-embed-builder', EmbedBuilder);
