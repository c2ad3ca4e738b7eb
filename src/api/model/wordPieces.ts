// A text as BERT's word pieces: of the published tokenizer those parts that MiniLM's tokenizer.json names, put
// together here, because Tokenizer itself brings the parts of every other model along, ten times as much.
import { BertNormalizer, BertPreTokenizer, WordPiece } from '@huggingface/tokenizers';

/** What is read of tokenizer.json. */
export interface TokenizerFile {
  /** How a text is cleaned: BertNormalizer's settings. */
  normalizer: object;
  /** The pieces and their ids. */
  model: { vocab: Readonly<Record<string, number>> };
  /** Markers, which a text may hold as they are written. */
  added_tokens: readonly { content: string }[];
}

/** Cuts texts into pieces, between [CLS] and [SEP]. */
export function wordPieces({ normalizer, model, added_tokens }: TokenizerFile) {
  const normalized = new BertNormalizer(normalizer);
  const words = new BertPreTokenizer();
  const pieces = new WordPiece(model);
  const markers = new Set(added_tokens.map(({ content }) => content));
  const escaped = [...markers].map((marker) => marker.replace(/[^\w]/g, '\\$&'));
  const marked = new RegExp(`(${escaped.join('|')})`);

  return (text: string): { ids: number[]; tokens: string[] } => {
    const within = text
      .split(marked)
      .flatMap((part) =>
        markers.has(part) ? [part] : pieces.encode(words.pre_tokenize_text(normalized.normalize(part))),
      );
    const tokens = ['[CLS]', ...within, '[SEP]'];
    return { tokens, ids: tokens.map((token) => model.vocab[token] as number) };
  };
}
