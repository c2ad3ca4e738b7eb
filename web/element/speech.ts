// What a screen reader is told: what the reader's changes have led to, and where the cursor is. It is not
// told every move of the pointer.
import type { LitElement, ReactiveController } from 'lit';
import type { ReadoutPiece } from '../figures/figure.js';
import { spokenPiece } from './readoutPiece.js';
import type { View } from './view.js';

/** A finding is read out when the reader has stopped moving a slider. */
const pause = 900;

interface Host extends LitElement {
  readonly picture: { readonly view: View | undefined; readonly readout: readonly ReadoutPiece[] };
}

export class Speech implements ReactiveController {
  spoken = '';
  /** The reader has changed something and not yet heard what came of it. */
  changed = false;
  #timer = 0;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /** Says the finding, once no further change follows. */
  finding(): void {
    if (!this.changed) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.say(this.host.picture.view?.finding ?? ''), pause);
  }

  async readout(): Promise<void> {
    await this.host.updateComplete;
    this.say(this.host.picture.readout.map(spokenPiece).join(' '));
  }

  say(sentence: string): void {
    clearTimeout(this.#timer);
    this.changed = false;
    this.spoken = sentence;
    this.host.requestUpdate();
  }
}
