// What a screen reader is told: what the reader's changes have led to, and where the cursor is. It is not
// told every move of the pointer.
import { html, type LitElement, nothing, type ReactiveController, type TemplateResult } from 'lit';
import type { ReadoutPiece } from '../figures/figure.js';
import { termLabels } from '../figures/terms.js';
import type { View } from './exports.js';

/** The name of a piece’s term, where only its colour says it. */
const unsaid = (piece: Exclude<ReadoutPiece, string>): string | undefined =>
  piece.term && !/[a-z]{3}/i.test(piece.text) ? termLabels[piece.term] : undefined;

export const spokenPiece = (piece: ReadoutPiece): string =>
  typeof piece === 'string' ? piece : `${unsaid(piece) ?? ''} ${piece.text}`;

export function drawnPiece(piece: ReadoutPiece): TemplateResult | string {
  if (typeof piece === 'string') return piece;
  const ink = piece.term ?? piece.ink;
  const text = piece.strong ? html`<b>${piece.text}</b>` : piece.text;
  if (!ink) return html`${text}`;
  const name = unsaid(piece);
  return html`<span data-term=${piece.term ?? nothing}><span class="swatch f-${ink}" role=${name ? 'img' : nothing} aria-label=${name ?? nothing}></span>${text}</span>`;
}

/** A finding is read out when the reader has stopped moving a slider. */
const pause = 900;

interface Host extends LitElement {
  readonly picture: { readonly view: View | undefined; readonly readout: readonly ReadoutPiece[] };
}

export class Speech implements ReactiveController {
  spoken = '';
  /** The reader has changed something, and no picture has come of it yet. */
  changed = false;
  #timer = 0;
  /** Sentences of the finding that was said last. */
  #heard: string[] = [];

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /** Says what is new in the finding, once no further change follows; `again`: of each step of a held run. */
  finding(again = false): void {
    if (!this.changed && !again) return;
    // A change that comes before this is read out gets its own turn.
    this.changed = false;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      const sentences = (this.host.picture.view?.finding ?? '').split(/(?<=[.!?]) /);
      const fresh = sentences.filter((one) => !this.#heard.includes(one));
      this.#heard = sentences;
      this.say(fresh.join(' ') || 'What the figure says is the same.');
    }, pause);
  }

  async readout(): Promise<void> {
    await this.host.updateComplete;
    this.say(this.host.picture.readout.map(spokenPiece).join(' '));
  }

  say(sentence: string): void {
    clearTimeout(this.#timer);
    this.spoken = sentence;
    this.host.requestUpdate();
  }
}
