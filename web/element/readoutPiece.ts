// A readout's pieces, on screen and read aloud. A term that only a colour shows is named aloud.
import { html, nothing, type TemplateResult } from 'lit';
import type { ReadoutPiece } from '../figures/figure.js';
import { termLabels } from '../figures/terms.js';

/** The name of a piece’s term, where only its colour says it. */
const unsaid = (piece: Exclude<ReadoutPiece, string>): string | undefined =>
  piece.term && !/[a-z]{3}/i.test(piece.text) ? termLabels[piece.term] : undefined;

export function spokenPiece(piece: ReadoutPiece): string {
  if (typeof piece === 'string') return piece;
  return `${unsaid(piece) ?? ''} ${piece.text}`;
}

export function drawnPiece(piece: ReadoutPiece): TemplateResult | string {
  if (typeof piece === 'string') return piece;
  const ink = piece.term ?? piece.ink;
  const text = piece.strong ? html`<b>${piece.text}</b>` : piece.text;
  if (!ink) return html`${text}`;
  const name = unsaid(piece);
  return html`<span data-term=${piece.term ?? nothing}><span class="swatch f-${ink}" role=${name ? 'img' : nothing} aria-label=${name ?? nothing}></span>${text}</span>`;
}
