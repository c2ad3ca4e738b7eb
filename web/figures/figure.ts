// What every figure has: its styles, redrawing when the colour scheme changes, and where it says what
// went wrong or what it is waiting for.
import { html, LitElement, nothing, type TemplateResult, unsafeCSS } from 'lit';
import { onSchemeChange } from '../plot/colour.js';
import shared from './figure.css?inline';

export const sharedStyles = unsafeCSS(shared);

export abstract class Figure extends LitElement {
  private stopWatching?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopWatching = onSchemeChange(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopWatching?.();
  }

  /** A sentence about a failure, with a way to try again; nothing when all is well. */
  protected problem(sentence: string | undefined, again: () => void): TemplateResult | typeof nothing {
    if (!sentence) return nothing;
    return html`<p class="problem" role="alert">${sentence} <button @click=${again}>Try again</button></p>`;
  }
}

/** Moves a cursor on an n by n grid by an arrow, Home or End key; undefined for any other key. */
export function moved(
  cursor: { i: number; j: number },
  key: string,
  n: number,
): { i: number; j: number } | undefined {
  const { i, j } = cursor;
  const within = (place: number) => Math.max(0, Math.min(n - 1, place));
  switch (key) {
    case 'ArrowUp':
      return { i: within(i - 1), j };
    case 'ArrowDown':
      return { i: within(i + 1), j };
    case 'ArrowLeft':
      return { i, j: within(j - 1) };
    case 'ArrowRight':
      return { i, j: within(j + 1) };
    case 'Home':
      return { i, j: 0 };
    case 'End':
      return { i, j: within(n - 1) };
    default:
      return undefined;
  }
}
