// Cuts a text into BERT's word pieces, as MiniLM's tokenizer.json defines them. The tokenizer of any model
// (tokenizer.ts) is ten times as much code. A test compares the two, character by character.
// Source: BertNormalizer, BertPreTokenizer and WordPiece of Hugging Face's tokenizers.
import type { Tokenizer } from './model.js';

/** The part of tokenizer.json that is read. */
export interface TokenizerFile {
  /** The pieces and their ids, and the piece that replaces a word that has none. */
  model: { vocab: Readonly<Record<string, number>>; unk_token: string };
  /** Special tokens, which a text may contain literally. */
  added_tokens: readonly { content: string }[];
}

/** A word of more characters is unknown. */
const longestWord = 100;

const word = /[^\s\p{P}$+<=>^`|~]+|[\p{P}$+<=>^`|~]/gu;

/**
 * The text in small letters, without control characters and accents; each Chinese character is a word of its
 * own.
 */
const normalized = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/\s/g, ' ')
    .replace(/[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g, ' $& ')
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '');

/** A tokenizer that cuts texts into pieces between [CLS] and [SEP], from the contents of tokenizer.json. */
export function wordPieces({ model: { vocab, unk_token }, added_tokens }: TokenizerFile): Tokenizer {
  const idOf = new Map(Object.entries(vocab));
  const pieceOf = new Map(Array.from(idOf, ([piece, id]) => [id, piece]));
  const specialTokens = new Set(added_tokens.map(({ content }) => content));
  const escaped = [...specialTokens].map((token) => token.replace(/[^\w]/g, '\\$&'));
  const specialToken = new RegExp(`(${escaped.join('|')})`);
  /** The longest piece that the word begins with, then the longest that the rest begins with, and so on. */
  const piecesOf = (text: string): string[] => {
    const characters = [...text];
    if (characters.length > longestWord) return [unk_token];
    const pieces: string[] = [];
    let from = 0;
    let to = characters.length;
    while (from < to) {
      const piece = (from > 0 ? '##' : '') + characters.slice(from, to).join('');
      if (idOf.has(piece)) {
        pieces.push(piece);
        from = to;
        to = characters.length;
      } else {
        to -= 1;
      }
    }
    return from < characters.length ? [unk_token] : pieces;
  };
  return {
    cut(text) {
      const pieces = text
        .split(specialToken)
        .flatMap((part) =>
          specialTokens.has(part) ? [part] : (normalized(part).match(word) ?? []).flatMap(piecesOf),
        );
      const tokens = ['[CLS]', ...pieces, '[SEP]'];
      return { tokens, ids: tokens.map((token) => idOf.get(token) as number) };
    },
    pieces: (ids) => ids.map((id) => pieceOf.get(id) ?? String(id)),
  };
}
