import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { sharedStyles } from './figure.js';
import { sentence } from './sentence.js';

/** Long enough for far more than 128 tokens, short enough to be cut into tokens while one types. */
const longest = 5000;
const pause = 120;

/** A box that the reader types into; several on a page show the same text. */
@customElement('superpose-sentence')
export class SentenceInput extends LitElement {
  static override styles = [
    sharedStyles,
    css`
      textarea {
        width: 100%;
        margin-top: 0.25rem;
        padding: 0.6rem 0.75rem;
        font-size: 1.02rem;
        resize: vertical;
        min-height: 3.2rem;
        field-sizing: content;
      }
    `,
  ];

  @state() private text = sentence.get();
  private timer = 0;
  private stopListening?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopListening = sentence.listen((text) => {
      this.text = text;
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopListening?.();
  }

  override render(): TemplateResult {
    return html`<label>Your sentence
      <textarea rows="2" maxlength=${longest} dir="auto" spellcheck="false" @input=${this.typed} .value=${live(this.text)}></textarea>
    </label>`;
  }

  private typed(event: Event): void {
    const { value } = event.target as HTMLTextAreaElement;
    this.text = value;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => sentence.set(value), pause);
  }
}
