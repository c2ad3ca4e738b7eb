// The models that cut words into pieces: WordPiece, WordLevel and Unigram. bytePairs.ts has BPE.
// Source: the models of Hugging Face's tokenizers.
import { wordPiecesOf } from '../bert.js';
import { checkedKind, member, optional, type Part, pair } from './parts.js';

export interface Token {
  /** Its index in the vocabulary. */
  id: number;
  /** Its text in the vocabulary or, if it is unknown, in the text that was cut. */
  text: string;
}

export interface SubwordModel {
  /** The pieces and their ids. */
  vocabulary: ReadonlyMap<string, number>;
  /**
   * Cuts a word. Throws RangeError for an unknown piece if the vocabulary has no token for unknown pieces.
   */
  cut(word: string): Token[];
}

/** The member `vocab` of a model, with the id of each piece. */
export function vocabularyOf(part: Part): Map<string, number> {
  const entries = Object.entries(member(part, 'vocab', 'object'));
  return new Map(entries.map(([piece, id]) => [piece, checkedKind(id, 'each id of vocab', 'number')]));
}

/** The token for what the vocabulary lacks. Throws RangeError if there is no such token. */
export function unknownToken(vocabulary: ReadonlyMap<string, number>, text: string | undefined): Token {
  const id = text === undefined ? undefined : vocabulary.get(text);
  if (text !== undefined && id !== undefined) return { id, text };
  throw new RangeError(
    'The text has a part that the vocabulary of tokenizer.json lacks, and it has no token for unknown parts. Change the text, or pass token ids instead.',
  );
}

const encoder = new TextEncoder();

/** A token for each byte of a text; undefined where the vocabulary lacks one of them. */
export function byteTokens(text: string, vocabulary: ReadonlyMap<string, number>): Token[] | undefined {
  const tokens: Token[] = [];
  for (const byte of encoder.encode(text)) {
    const name = `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
    const id = vocabulary.get(name);
    if (id === undefined) return undefined;
    tokens.push({ id, text: name });
  }
  return tokens;
}

export function wordPieceModel(part: Part): SubwordModel {
  const vocabulary = vocabularyOf(part);
  const model = {
    unk_token: member(part, 'unk_token', 'string'),
    continuing_subword_prefix: member(part, 'continuing_subword_prefix', 'string'),
    max_input_chars_per_word: member(part, 'max_input_chars_per_word', 'number'),
  };
  return {
    vocabulary,
    cut: (word) =>
      wordPiecesOf(word, vocabulary, model).map((text) => {
        const id = vocabulary.get(text);
        return id === undefined ? unknownToken(vocabulary, text) : { id, text };
      }),
  };
}

export function wordLevelModel(part: Part): SubwordModel {
  const vocabulary = vocabularyOf(part);
  const unknown = member(part, 'unk_token', 'string');
  return {
    vocabulary,
    cut(text) {
      const id = vocabulary.get(text);
      return [id === undefined ? unknownToken(vocabulary, unknown) : { id, text }];
    },
  };
}

/** The score of an unknown character is this much below that of the least probable piece. */
const unknownPenalty = 10;

/** Cuts a word into the pieces whose probabilities have the largest product. */
export function unigramModel(part: Part): SubwordModel {
  const pieces = member(part, 'vocab', 'list').map((entry) => pair(entry, 'each entry of vocab'));
  const vocabulary = new Map(pieces.map(([text], id) => [text, id]));
  const scores = pieces.map(([, score]) => score);
  const unknownId = optional(part, 'unk_id', 'number');
  const hasByteFallback = optional(part, 'byte_fallback', 'boolean') ?? false;
  const unknownScore = scores.reduce((least, score) => Math.min(least, score), Infinity) - unknownPenalty;
  const longest = pieces.reduce((most, [text]) => Math.max(most, text.length), 0);

  /**
   * The last piece of the best cut of each beginning of a word, by the length of that beginning, which ends
   * after a whole character.
   */
  const lastPieces = (word: string) => {
    const best: { from: number; score: number; id: number | undefined }[] = [];
    best[0] = { from: 0, score: 0, id: undefined };
    const offer = (from: number, to: number, pieceScore: number, id: number | undefined) => {
      const score = (best[from]?.score as number) + pieceScore;
      if (score > (best[to]?.score ?? -Infinity) || best[to] === undefined) best[to] = { from, score, id };
    };
    let from = 0;
    for (const character of word) {
      const next = from + character.length;
      for (let to = next; to <= Math.min(from + longest, word.length); to++) {
        const id = vocabulary.get(word.slice(from, to));
        if (id !== undefined) offer(from, to, scores[id] as number, id);
      }
      if (!vocabulary.has(character)) offer(from, next, unknownScore, unknownId);
      from = next;
    }
    return best;
  };

  /** The texts of the pieces; neighbouring unknown pieces are joined. */
  const textsOf = (word: string): string[] => {
    const best = lastPieces(word);
    const texts: string[] = [];
    let followsUnknown = false;
    for (let to = word.length; to > 0; ) {
      const { from, id } = best[to] as (typeof best)[number];
      const text = word.slice(from, to);
      if (id === undefined) unknownToken(vocabulary, undefined);
      const isUnknown = id === unknownId;
      if (isUnknown && followsUnknown) texts.push(text + texts.pop());
      else texts.push(text);
      followsUnknown = isUnknown;
      to = from;
    }
    return texts.reverse();
  };

  return {
    vocabulary,
    cut: (word) =>
      textsOf(word).flatMap((text) => {
        const id = vocabulary.get(text);
        if (id !== undefined) return [{ id, text }];
        const bytes = hasByteFallback ? byteTokens(text, vocabulary) : undefined;
        return bytes ?? [{ id: unknownId ?? unknownToken(vocabulary, undefined).id, text }];
      }),
  };
}
