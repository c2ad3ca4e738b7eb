/**
 * A tokenizer.json like BERT's, in lower case, with words in brackets special and [CLS] … [SEP] around a
 * text.
 */
export function wordPieceTokenizer(vocab: Record<string, number>) {
  const marker = (content: string) => ({ id: content, ids: [vocab[content]], tokens: [content] });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: Object.entries(vocab)
      .filter(([content]) => /^\[.*\]$/.test(content))
      .map(([content, id]) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': marker('[CLS]'), '[SEP]': marker('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}
