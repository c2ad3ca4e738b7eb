// How BERT's tokenizer normalizes a text, splits it into words, and cuts the words into pieces.
// Source: BertNormalizer, BertPreTokenizer and WordPiece of Hugging Face's tokenizers.
import { afterUnicode8, lowercase, normalForm, punctuation } from './unicode.js';

/** What BertNormalizer does to a text. The members are named as in tokenizer.json. */
export interface BertNormalization {
  /** Removes control characters, and replaces every other white space character by a space. */
  clean_text: boolean;
  /** Makes each Chinese character a word of its own. */
  handle_chinese_chars: boolean;
  /** Removes accents. If it is null, accents are removed where `lowercase` is true. */
  strip_accents: boolean | null;
  /** Converts the text to lower case. */
  lowercase: boolean;
}

const control = new RegExp(String.raw`(?![\t\n\r${afterUnicode8}])[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]`, 'gu');
const accent = new RegExp(String.raw`[\u1734\u{1171e}]|(?![${afterUnicode8}])\p{Mn}`, 'gu');
const ideograph =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;

/** The text as BERT's vocabulary spells it. */
export function bertNormalized(text: string, steps: BertNormalization): string {
  let normalized = text;
  if (steps.clean_text) normalized = normalized.replace(control, '').replace(/\p{White_Space}/gu, ' ');
  if (steps.handle_chinese_chars) normalized = normalized.replace(ideograph, ' $& ');
  if (steps.strip_accents ?? steps.lowercase) normalized = normalForm(normalized, 'NFD').replace(accent, '');
  return steps.lowercase ? lowercase(normalized) : normalized;
}

const word = new RegExp(String.raw`${punctuation}|(?:(?!${punctuation})\P{White_Space})+`, 'gu');

/** The words of a text; each punctuation mark is a word of its own. */
export const bertWords = (text: string): string[] => text.match(word) ?? [];

/** The member `model` of tokenizer.json, as far as WordPiece reads it. */
export interface WordPieceModel {
  /** The piece for a word that cannot be cut into pieces. */
  unk_token: string;
  /** The prefix of a piece that continues a word. */
  continuing_subword_prefix: string;
  /** A word of more characters than this is unknown. */
  max_input_chars_per_word: number;
}

/**
 * The pieces of a word: first the longest piece that the word begins with, then the longest that the rest
 * begins with, and so on.
 */
export function wordPiecesOf(word: string, vocabulary: ReadonlyMap<string, number>, model: WordPieceModel) {
  const characters = [...word];
  if (characters.length > model.max_input_chars_per_word) return [model.unk_token];
  const pieces: string[] = [];
  let from = 0;
  let to = characters.length;
  while (from < to) {
    const piece = (from > 0 ? model.continuing_subword_prefix : '') + characters.slice(from, to).join('');
    if (vocabulary.has(piece)) {
      pieces.push(piece);
      from = to;
      to = characters.length;
    } else {
      to -= 1;
    }
  }
  return from < characters.length ? [model.unk_token] : pieces;
}
