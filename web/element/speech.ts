// The spoken text of a figure, for screen readers: the finding after the reader's changes, and the readout
// at the cursor. Moves of the pointer are not spoken.
import { html, type LitElement, nothing, type ReactiveController, type TemplateResult } from 'lit';
import type { ReadoutPiece } from '../figures/figure.js';
import { termLabels } from '../figures/terms.js';
import type { View } from './exports.js';

/** The name of a piece’s term, where only its colour shows it. */
const termName = (piece: Exclude<ReadoutPiece, string>): string | undefined =>
  piece.term && !/[a-z]{3}/i.test(piece.text) ? termLabels[piece.term] : undefined;

export const spokenPiece = (piece: ReadoutPiece): string =>
  typeof piece === 'string' ? piece : `${termName(piece) ?? ''} ${piece.text}`;

export function drawnPiece(piece: ReadoutPiece): TemplateResult | string {
  if (typeof piece === 'string') return piece;
  const ink = piece.term ?? piece.ink;
  const text = piece.strong ? html`<b>${piece.text}</b>` : piece.text;
  if (!ink) return html`${text}`;
  const name = termName(piece);
  return html`<span data-term=${piece.term ?? nothing}><span class="swatch f-${ink}" role=${name ? 'img' : nothing} aria-label=${name ?? nothing}></span>${text}</span>`;
}

/** How long after its last change a finding is spoken, in milliseconds: a slider has then stopped moving. */
const pause = 900;

interface Host extends LitElement {
  readonly picture: { readonly view: View | undefined; readonly readout: readonly ReadoutPiece[] };
}

export class Speech implements ReactiveController {
  /** The text that screen readers speak. */
  spoken = '';
  /** Whether the reader has changed something that no finding has followed yet. */
  changed = false;
  #timer = 0;
  /** Sentences of the finding that was spoken last. */
  #lastSentences: string[] = [];

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Speaks the new sentences of the finding, once no change follows for a while. With `again` it does so even
   * if the reader has changed nothing: after each step of a paused live job.
   */
  finding(again = false): void {
    if (!this.changed && !again) return;
    // Cleared now, because a change that comes before the finding is spoken asks for a later one.
    this.changed = false;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      const sentences = (this.host.picture.view?.finding ?? '').split(/(?<=[.!?]) /);
      const fresh = sentences.filter((sentence) => !this.#lastSentences.includes(sentence));
      this.#lastSentences = sentences;
      this.say(fresh.join(' ') || 'The finding has not changed.');
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
