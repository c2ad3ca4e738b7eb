// Cuts a text into MiniLM's word pieces. The tokenizer of any model (tokenizer.ts) is several times as much
// code.
import {
  type BertNormalization,
  bertNormalized,
  bertWords,
  type WordPieceModel,
  wordPiecesOf,
} from './bert.js';
import type { Tokenizer } from './model.js';

/** The part of tokenizer.json that is read. */
export interface TokenizerFile {
  /** How texts are spelled in the vocabulary. */
  normalizer: BertNormalization;
  /** The pieces, and how words are cut into them. */
  model: WordPieceModel & { vocab: Readonly<Record<string, number>> };
  /** Special tokens, which a text may contain literally. */
  added_tokens: readonly { content: string }[];
}

/** A tokenizer that cuts texts into pieces between [CLS] and [SEP], from the contents of tokenizer.json. */
export function wordPieces({ normalizer, model, added_tokens }: TokenizerFile): Tokenizer {
  const idOf = new Map(Object.entries(model.vocab));
  const pieceOf = new Map(Array.from(idOf, ([piece, id]) => [id, piece]));
  const specialTokens = new Set(added_tokens.map(({ content }) => content));
  const escaped = [...specialTokens].map((token) => token.replace(/[^\w]/g, '\\$&'));
  const specialToken = new RegExp(`(${escaped.join('|')})`);
  const piecesOf = (part: string) =>
    specialTokens.has(part)
      ? [part]
      : bertWords(bertNormalized(part, normalizer)).flatMap((word) => wordPiecesOf(word, idOf, model));
  return {
    cut(text) {
      const tokens = ['[CLS]', ...text.split(specialToken).flatMap(piecesOf), '[SEP]'];
      return { tokens, ids: tokens.map((token) => idOf.get(token) as number) };
    },
    pieces: (ids) => ids.map((id) => pieceOf.get(id) ?? String(id)),
  };
}
