// Cuts a text into BERT's word pieces. It uses only the parts of the published tokenizer that MiniLM's
// tokenizer.json names: Tokenizer itself brings along the parts of every other model, ten times as much code.
import { BertNormalizer, BertPreTokenizer, WordPiece } from '@huggingface/tokenizers';

/** The part of tokenizer.json that is read. */
export interface TokenizerFile {
  /** How a text is cleaned: BertNormalizer's settings. */
  normalizer: object;
  /** The pieces and their ids. */
  model: { vocab: Readonly<Record<string, number>> };
  /** Special tokens, which a text may contain literally. */
  added_tokens: readonly { content: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Refuses anything that is not the file of such a tokenizer with at most `vocabulary` pieces. */
function checked(file: unknown, vocabulary: number): TokenizerFile {
  const { normalizer, model, added_tokens } = (file ?? {}) as Partial<Record<string, unknown>>;
  if (!isObject(normalizer) || normalizer.type !== 'BertNormalizer') {
    throw new Error('Its normalizer is not a BertNormalizer.');
  }
  if (!isObject(model) || model.type !== 'WordPiece') throw new Error('Its model is not of word pieces.');
  const { vocab, unk_token } = model;
  const ids: unknown[] = isObject(vocab) ? Object.values(vocab) : [];
  const isId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabulary;
  if (!isObject(vocab) || new Set(ids).size !== ids.length || !ids.every(isId)) {
    throw new Error(`Its vocabulary does not number pieces, each once, from 0 to ${vocabulary - 1}.`);
  }
  if (!Array.isArray(added_tokens) || !added_tokens.every((one) => typeof one?.content === 'string')) {
    throw new Error('Its added_tokens are not a list of markers.');
  }
  const markers: unknown[] = ['[CLS]', '[SEP]', unk_token, ...added_tokens.map(({ content }) => content)];
  const missing = markers.findIndex((marker) => typeof marker !== 'string' || !Object.hasOwn(vocab, marker));
  if (missing >= 0) throw new Error(`Its vocabulary lacks the marker ${String(markers[missing])}.`);
  return file as TokenizerFile;
}

/**
 * Cuts texts into pieces, between [CLS] and [SEP], and names pieces by their ids. `file` is the contents of
 * tokenizer.json, with ids below `vocabulary`; anything else is an Error that says what is wrong with it.
 */
export function wordPieces(file: unknown, vocabulary: number) {
  const { normalizer, model, added_tokens } = checked(file, vocabulary);
  const normalized = new BertNormalizer(normalizer);
  const words = new BertPreTokenizer();
  const pieces = new WordPiece(model);
  const markers = new Set(added_tokens.map(({ content }) => content));
  const escaped = [...markers].map((marker) => marker.replace(/[^\w]/g, '\\$&'));
  const marked = new RegExp(`(${escaped.join('|')})`);

  const cutUp = (text: string): { ids: number[]; tokens: string[] } => {
    const within = text
      .split(marked)
      .flatMap((part) =>
        markers.has(part) ? [part] : pieces.encode(words.pre_tokenize_text(normalized.normalize(part))),
      );
    const tokens = ['[CLS]', ...within, '[SEP]'];
    return { tokens, ids: tokens.map((token) => model.vocab[token] as number) };
  };

  let names: string[] | undefined;
  const pieceOf = (id: number): string => {
    if (!names) {
      names = [];
      for (const [piece, place] of Object.entries(model.vocab)) names[place] = piece;
    }
    const name = names[id];
    if (name === undefined) throw new RangeError(`The MiniLM file tokenizer.json has no piece ${id}.`);
    return name;
  };
  return { cutUp, pieceOf };
}
