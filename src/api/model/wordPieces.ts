// Cuts a text into BERT's word pieces, as MiniLM's tokenizer.json has it: the whole tokenizer (tokenizer.ts), which reads
// any model's, is ten times as much code. Source: BertNormalizer, BertPreTokenizer and WordPiece of Hugging Face's
// tokenizers, with which a test compares it, character by character.
import type { Tokenizer } from './model.js';

/** The part of tokenizer.json that is read. */
export interface TokenizerFile {
  /** The pieces and their ids, and what there is in place of a word that has none. */
  model: { vocab: Readonly<Record<string, number>>; unk_token: string };
  /** Special tokens, which a text may contain literally. */
  added_tokens: readonly { content: string }[];
}

/** A longer word is unknown. */
const longestWord = 100;

const word = /[^\s\p{P}$+<=>^`|~]+|[\p{P}$+<=>^`|~]/gu;

/** Without control characters and accents, in small letters, each Chinese character a word of its own. */
const normalized = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/\s/g, ' ')
    .replace(/[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g, ' $& ')
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '');

/** Cuts texts into pieces, between [CLS] and [SEP], by the contents of tokenizer.json. */
export function wordPieces({ model: { vocab, unk_token }, added_tokens }: TokenizerFile): Tokenizer {
  const ids = new Map(Object.entries(vocab));
  const names = new Map(Array.from(ids, ([piece, id]) => [id, piece]));
  const markers = new Set(added_tokens.map(({ content }) => content));
  const escaped = [...markers].map((marker) => marker.replace(/[^\w]/g, '\\$&'));
  const marked = new RegExp(`(${escaped.join('|')})`);
  /** The longest piece that a word begins with, and so on. */
  const piecesOf = (text: string): string[] => {
    const characters = [...text];
    const pieces: string[] = [];
    let from = 0;
    let to = characters.length;
    if (to > longestWord) return [unk_token];
    while (from < to) {
      const piece = (from > 0 ? '##' : '') + characters.slice(from, to).join('');
      if (!ids.has(piece)) to -= 1;
      else {
        pieces.push(piece);
        [from, to] = [to, characters.length];
      }
    }
    return from < characters.length ? [unk_token] : pieces;
  };
  return {
    cut(text) {
      const within = text
        .split(marked)
        .flatMap((part) =>
          markers.has(part) ? [part] : (normalized(part).match(word) ?? []).flatMap(piecesOf),
        );
      const tokens = ['[CLS]', ...within, '[SEP]'];
      return { tokens, ids: tokens.map((token) => ids.get(token) as number) };
    },
    pieces: (asked) => asked.map((id) => names.get(id) ?? String(id)),
  };
}
