// Files named tokenizer.json: one for each component and each of its settings, and those of real models with
// small vocabularies. Also texts that are hard to cut.

/** What a file says about a tokenizer, as far as it differs from an empty one. */
export type Parts = Readonly<Record<string, unknown>>;

/** A model with a single token, which stands for every word, so that the tokens are the words. */
const wordsOnly = { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0]] };

export const tokenizerFile = (parts: Parts) => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  ...parts,
  model: parts.model ?? wordsOnly,
});

export const addedToken = (id: number, content: string, settings: Parts = {}) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...settings,
});

const idsOf = (pieces: Iterable<string>): Record<string, number> =>
  Object.fromEntries([...new Set(pieces)].map((piece, id) => [piece, id]));

/** The characters that byte-level tokenizers write for the 256 bytes. */
const byteCharacters = (() => {
  const visible = [...Array(256).keys()].filter(
    (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173),
  );
  let next = 256;
  return [...Array(256).keys()].map((byte) => String.fromCodePoint(visible.includes(byte) ? byte : next++));
})();

/** Merges that make each of these words, from left to right. */
const mergesOf = (words: readonly string[]): [string, string][] => {
  const merges = new Map<string, [string, string]>();
  for (const word of words) {
    const characters = [...word];
    for (let length = 1; length < characters.length; length++) {
      const merge: [string, string] = [characters.slice(0, length).join(''), characters[length] as string];
      merges.set(merge.join(' '), merge);
    }
  }
  return [...merges.values()];
};

const words = [
  'the',
  'Ġthe',
  'Ġriver',
  'bank',
  'Ġbank',
  'in',
  'er',
  'ĠĠ',
  'ĊĊ',
  '12',
  '123',
  "'s",
  'Ã©',
  'Ġa',
];
const byteLevelModel = (settings: Parts = {}) => {
  const merges = [...mergesOf(words), ['er', 'Ġthe'], ['ri', 'v'], ['r', 'i']] as [string, string][];
  const pieces = [...byteCharacters, ...merges.map((merge) => merge.join(''))];
  // A piece must be made before it can be merged.
  merges.sort((a, b) => a.join('').length - b.join('').length);
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: '',
    end_of_word_suffix: '',
    fuse_unk: false,
    byte_fallback: false,
    vocab: idsOf(pieces),
    merges: merges.map((merge) => merge.join(' ')),
    ...settings,
  };
};

/** The id of the first token that is added to the byte-level model. */
const firstAdded = Object.keys(byteLevelModel().vocab).length;

const byteTokens = [...Array(256).keys()].map(
  (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
);
const spacedWords = ['▁the', '▁river', '▁bank', 'in', 'er', '▁▁', 'ab', 'aba', '▁a', 'κό', 'σμ'];
/** The model of Llama and Mistral: characters, bytes for those that it lacks, and merges. */
const sentencePieceModel = (settings: Parts = {}, pieces: readonly string[] = byteTokens) => {
  const merges = mergesOf(spacedWords);
  const characters = [...'▁abcdefghijklmnopqrstuvwxyz.,κόσμε'];
  return {
    type: 'BPE',
    dropout: null,
    unk_token: '<unk>',
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: true,
    byte_fallback: true,
    ignore_merges: false,
    vocab: idsOf([
      '<unk>',
      '<s>',
      '</s>',
      ...pieces,
      ...characters,
      ...merges.map((merge) => merge.join('')),
    ]),
    merges,
    ...settings,
  };
};

const unigramPieces: [string, number][] = [
  ['<s>', 0],
  ['<pad>', 0],
  ['</s>', 0],
  ['<unk>', 0],
  ['▁', -2.5],
  ['▁the', -3.25],
  ['th', -5],
  ['e', -4.5],
  ['▁river', -7],
  ['ri', -6.5],
  ['ver', -6.75],
  ['r', -5.5],
  ['i', -5.25],
  ['v', -7.5],
  ['a', -4],
  ['b', -6],
  ['ab', -10],
  ['aba', -14],
  ['ba', -10],
  ['▁bank', -8],
  ['é', -9],
  ['一', -9.5],
  ['𠀀', -11],
];
const unigramModel = (settings: Parts = {}, more: readonly [string, number][] = []) => ({
  type: 'Unigram',
  unk_id: 3,
  vocab: [...unigramPieces, ...more],
  ...settings,
});
const bytePieces = byteTokens.map((piece, byte): [string, number] => [piece, -20 - byte / 64]);

const wordPieceModel = (settings: Parts = {}) => ({
  type: 'WordPiece',
  unk_token: '[UNK]',
  continuing_subword_prefix: '##',
  max_input_chars_per_word: 100,
  vocab: idsOf([
    ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', 'The', 'river', 'ri', '##ver', '##s', 'bank'],
    ...['ο', '##δος', '##δοσ', 'οδος', 'οδοσ', 'ΟΔΟΣ', 'e', 'é', 'i', '##i', 'ß', 'ss', '一', '𠀀', '.', ','],
    ...["'", '"', '!', '$', '¿', '…', '1', '##2', '12', 'a', '##a', '##b', 'ab', 'ﬁ', 'fi'],
  ]),
  ...settings,
});

const bertParts = (normalizer: Parts = {}): Parts => ({
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
    ...normalizer,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  model: wordPieceModel(),
});

const template = (before: readonly [string, number][], after: readonly [string, number][]): Parts => ({
  type: 'TemplateProcessing',
  single: [
    ...before.map(([id]) => ({ SpecialToken: { id, type_id: 0 } })),
    { Sequence: { id: 'A', type_id: 0 } },
    ...after.map(([id]) => ({ SpecialToken: { id, type_id: 0 } })),
  ],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
  special_tokens: Object.fromEntries(
    [...before, ...after].map(([id, number]) => [id, { id, ids: [number], tokens: [id] }]),
  ),
});

const byteLevel = (settings: Parts = {}): Parts => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: true,
  ...settings,
});
const split = (pattern: Parts, behavior = 'Isolated', invert = false): Parts => ({
  type: 'Split',
  pattern,
  behavior,
  invert,
});
const sequence = (...pretokenizers: Parts[]): Parts => ({ type: 'Sequence', pretokenizers });
const normalizers = (...parts: Parts[]): Parts => ({ type: 'Sequence', normalizers: parts });

/** The regular expressions of published tokenizers. */
export const publishedExpressions: Readonly<Record<string, string>> = {
  'GPT-2': "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  'Llama 3':
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  'Qwen 2':
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  'Mistral NeMo':
    '[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
  CLIP: "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+",
  BLOOM: ' ?[^(\\s|[.,!?…。，、।۔،])]+',
  'DeepSeek, letters': '\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+',
  'DeepSeek, punctuation': '\\s?[!-/:-~！-／：-～‘-‟　-。]+',
  'DeepSeek, white space': '\\s+$',
  'DeepSeek, ideographs': '[一-龥ࠀ-一가-퟿]+',
  'DeepSeek V3':
    '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
};
const expressionOf = (name: string) => ({ Regex: publishedExpressions[name] as string });

const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];
const flags = [false, true];

/** A table of SentencePiece’s that replaces texts by others: a trie of bytes in a double array. */
export function compiledTable(replacements: Readonly<Record<string, string>>): string {
  const encoder = new TextEncoder();
  const units: number[] = [0];
  const used = new Set([0]);
  const texts: number[] = [];
  const entries = Object.entries(replacements).map(([from, to]) => {
    const start = texts.length;
    texts.push(...encoder.encode(to), 0);
    return { key: [...encoder.encode(from)], start };
  });
  const place = (node: number, depth: number, group: typeof entries) => {
    const value = group.find(({ key }) => key.length === depth);
    const labels = [...new Set(group.flatMap(({ key }) => key.slice(depth, depth + 1)))];
    const children = value ? [0, ...labels] : labels;
    let offset = 1;
    while (children.some((label) => used.has(node ^ offset ^ label))) offset++;
    for (const label of children) used.add(node ^ offset ^ label);
    units[node] = ((units[node] ?? 0) | (offset << 10) | (value ? 256 : 0)) >>> 0;
    if (value) units[node ^ offset] = (value.start | 0x80000000) >>> 0;
    for (const label of labels) {
      const child = node ^ offset ^ label;
      units[child] = label;
      place(
        child,
        depth + 1,
        group.filter(({ key }) => key[depth] === label),
      );
    }
  };
  place(0, 0, entries);
  const size = Math.max(...used) + 1 + 256;
  const bytes = new Uint8Array(4 + 4 * size + texts.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 4 * size, true);
  for (const [index, unit] of units.entries()) view.setUint32(4 + 4 * index, unit ?? 0, true);
  bytes.set(texts, 4 + 4 * size);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

const compiled = {
  type: 'Precompiled',
  precompiled_charsmap: compiledTable({
    '\t': ' ',
    '\n': ' ',
    '\u00a0': ' ',
    '\u3000': ' ',
    ﬁ: 'fi',
    Ａ: 'A',
    'e\u0301': 'é',
    'E\u0301': 'É',
    '\u200b': '',
    '\u00ad': '',
    '…': '...',
    '①': '1',
  }),
};

/** The tokenizers of real models with small vocabularies, as their tokenizer.json describes them. */
export const realFiles: Readonly<Record<string, Parts>> = {
  'BERT, uncased': {
    ...bertParts(),
    added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].map((content, id) =>
      addedToken(id, content),
    ),
    post_processor: template([['[CLS]', 2]], [['[SEP]', 3]]),
    truncation: { max_length: 3, strategy: 'LongestFirst', stride: 0, direction: 'Right' },
    padding: {
      strategy: { Fixed: 64 },
      direction: 'Right',
      pad_to_multiple_of: null,
      pad_id: 0,
      pad_type_id: 0,
      pad_token: '[PAD]',
    },
  },
  'BERT, cased': {
    ...bertParts({ lowercase: false }),
    added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].map((content, id) =>
      addedToken(id, content),
    ),
    post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
  },
  'BERT of 2020, whose model has no type': {
    ...bertParts(),
    model: { ...wordPieceModel(), type: undefined },
  },
  'GPT-2': {
    added_tokens: [addedToken(firstAdded, '<|endoftext|>', { normalized: true })],
    pre_tokenizer: byteLevel(),
    post_processor: byteLevel({ add_prefix_space: true, trim_offsets: false }),
    model: byteLevelModel(),
  },
  'GPT-2 of 2020, whose model has no type': {
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true },
    model: { ...byteLevelModel(), type: undefined },
  },
  RoBERTa: {
    added_tokens: [
      addedToken(33, '!', { normalized: true }),
      addedToken(firstAdded, '<s>', { normalized: true }),
      addedToken(firstAdded + 1, '</s>', { normalized: true }),
      addedToken(firstAdded + 2, '<mask>', { lstrip: true }),
    ],
    pre_tokenizer: byteLevel({ add_prefix_space: true }),
    post_processor: {
      type: 'RobertaProcessing',
      sep: ['</s>', firstAdded + 1],
      cls: ['<s>', firstAdded],
      trim_offsets: true,
      add_prefix_space: true,
    },
    model: byteLevelModel(),
  },
  'Llama 2': {
    added_tokens: ['<unk>', '<s>', '</s>'].map((content, id) => addedToken(id, content)),
    normalizer: normalizers(
      { type: 'Prepend', prepend: '▁' },
      { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    ),
    post_processor: template([['<s>', 1]], []),
    model: sentencePieceModel(),
  },
  'Mistral 3': {
    added_tokens: ['<unk>', '<s>', '</s>'].map((content, id) => addedToken(id, content)),
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false },
    post_processor: template([['<s>', 1]], []),
    model: sentencePieceModel(),
  },
  'Llama 3': {
    added_tokens: [addedToken(firstAdded, '<|begin_of_text|>'), addedToken(firstAdded + 1, '<|eot_id|>')],
    pre_tokenizer: sequence(split(expressionOf('Llama 3')), byteLevel({ use_regex: false })),
    post_processor: {
      type: 'Sequence',
      processors: [byteLevel({ trim_offsets: false }), template([['<|begin_of_text|>', firstAdded]], [])],
    },
    model: byteLevelModel({ ignore_merges: true, continuing_subword_prefix: null, end_of_word_suffix: null }),
  },
  'Qwen 2': {
    added_tokens: [
      addedToken(firstAdded, '<|im_start|>'),
      addedToken(firstAdded + 1, '<tool_call>', { special: false }),
    ],
    normalizer: { type: 'NFC' },
    pre_tokenizer: sequence(split(expressionOf('Qwen 2')), byteLevel({ use_regex: false })),
    post_processor: byteLevel({ trim_offsets: false }),
    model: byteLevelModel(),
  },
  'Mistral NeMo': {
    pre_tokenizer: sequence(split(expressionOf('Mistral NeMo')), byteLevel({ use_regex: false })),
    model: byteLevelModel({ ignore_merges: true }),
  },
  DeepSeek: {
    pre_tokenizer: sequence(
      split({ Regex: '[\r\n]' }),
      split(expressionOf('DeepSeek, letters')),
      split(expressionOf('DeepSeek, punctuation')),
      split(expressionOf('DeepSeek, white space')),
      split(expressionOf('DeepSeek, ideographs')),
      { type: 'Digits', individual_digits: true },
      byteLevel({ use_regex: false }),
    ),
    model: byteLevelModel(),
  },
  'DeepSeek V3': {
    pre_tokenizer: sequence(
      split({ Regex: '\\p{N}{1,3}' }),
      split({ Regex: '[一-龥぀-ゟ゠-ヿ]+' }),
      split(expressionOf('DeepSeek V3')),
      byteLevel({ use_regex: false }),
    ),
    model: byteLevelModel(),
  },
  Gemma: {
    added_tokens: ['<unk>', '<s>', '</s>'].map((content, id) => addedToken(id, content)),
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    pre_tokenizer: split({ String: ' ' }, 'MergedWithPrevious'),
    model: sentencePieceModel(),
  },
  'XLM-RoBERTa': {
    added_tokens: [
      ...['<s>', '<pad>', '</s>', '<unk>'].map((content, id) => addedToken(id, content)),
      addedToken(23, '<mask>', { lstrip: true }),
    ],
    normalizer: normalizers(compiled, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }),
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    post_processor: template([['<s>', 0]], [['</s>', 2]]),
    model: unigramModel({ byte_fallback: false }),
  },
  CamemBERT: {
    added_tokens: [addedToken(0, '<s>', { special: false }), addedToken(23, '<s>NOTUSED')],
    normalizer: normalizers(
      { type: 'Replace', pattern: { String: '\n' }, content: ' ' },
      { type: 'Replace', pattern: { String: '\r' }, content: ' ' },
      { type: 'Strip', strip_left: false, strip_right: true },
      compiled,
      { type: 'Replace', pattern: { Regex: ' {2,}' }, content: '▁' },
    ),
    pre_tokenizer: sequence(
      { type: 'WhitespaceSplit' },
      { type: 'Metaspace', replacement: '▁', str_rep: '▁', add_prefix_space: true },
    ),
    model: unigramModel(),
  },
  ALBERT: {
    normalizer: normalizers(
      { type: 'Replace', pattern: { String: '``' }, content: '"' },
      { type: 'Replace', pattern: { String: "''" }, content: '"' },
      { type: 'NFKD' },
      { type: 'StripAccents' },
      { type: 'Lowercase' },
      compiled,
      { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
    ),
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true, prepend_scheme: 'always' },
    model: unigramModel(),
  },
  CLIP: {
    added_tokens: [addedToken(0, '<|startoftext|>', { normalized: true }), addedToken(1, '<|endoftext|>')],
    normalizer: normalizers(
      { type: 'NFC' },
      { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
      { type: 'Lowercase' },
    ),
    pre_tokenizer: sequence(split(expressionOf('CLIP'), 'Removed', true), byteLevel()),
    post_processor: {
      type: 'RobertaProcessing',
      sep: ['<|endoftext|>', 1],
      cls: ['<|startoftext|>', 0],
      trim_offsets: false,
      add_prefix_space: false,
    },
    model: {
      ...byteLevelModel({ unk_token: '<|endoftext|>', end_of_word_suffix: '</w>' }),
      vocab: idsOf([
        ...['<|startoftext|>', '<|endoftext|>', ...byteCharacters],
        ...byteCharacters.map((character) => `${character}</w>`),
        ...['th', 'the</w>', 'he</w>', 'in</w>'],
      ]),
      merges: ['t h', 'th e</w>', 'h e</w>', 'i n</w>'],
    },
  },
  BLOOM: {
    pre_tokenizer: sequence(split(expressionOf('BLOOM')), byteLevel({ use_regex: false })),
    model: byteLevelModel(),
  },
  StarCoder: {
    pre_tokenizer: sequence({ type: 'Digits', individual_digits: true }, byteLevel()),
    model: byteLevelModel(),
  },
};

/** Each component with each of its settings. */
export const componentFiles: Readonly<Record<string, Parts>> = Object.fromEntries([
  ...flags.flatMap((clean_text) =>
    flags.flatMap((handle_chinese_chars) =>
      [null, ...flags].flatMap((strip_accents) =>
        flags.map((lowercase) => {
          const settings = { clean_text, handle_chinese_chars, strip_accents, lowercase };
          return [`BertNormalizer ${JSON.stringify(settings)}`, bertParts(settings)] as const;
        }),
      ),
    ),
  ),
  ...['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents'].map(
    (type) => [type, { normalizer: { type } }] as const,
  ),
  ['NFD, then StripAccents', { normalizer: normalizers({ type: 'NFD' }, { type: 'StripAccents' }) }],
  ...flags.flatMap((strip_left) =>
    flags.map((strip_right) => {
      const settings = { strip_left, strip_right };
      return [`Strip ${JSON.stringify(settings)}`, { normalizer: { type: 'Strip', ...settings } }] as const;
    }),
  ),
  ...[
    { pattern: { String: 'a' }, content: '$&' },
    { pattern: { Regex: '[aeiou]+' }, content: '-' },
    { pattern: { Regex: '\\s+' }, content: '' },
  ].map(
    (settings) =>
      [`Replace ${JSON.stringify(settings)}`, { normalizer: { type: 'Replace', ...settings } }] as const,
  ),
  ['Prepend', { normalizer: { type: 'Prepend', prepend: 'x ' } }],
  ['Precompiled', { normalizer: compiled }],
  ['BertPreTokenizer', { pre_tokenizer: { type: 'BertPreTokenizer' } }],
  ...flags.flatMap((add_prefix_space) =>
    flags.map((use_regex) => {
      const settings = { add_prefix_space, use_regex };
      return [`ByteLevel ${JSON.stringify(settings)}`, { pre_tokenizer: byteLevel(settings) }] as const;
    }),
  ),
  ['Whitespace', { pre_tokenizer: { type: 'Whitespace' } }],
  ['WhitespaceSplit', { pre_tokenizer: { type: 'WhitespaceSplit' } }],
  ...['always', 'first', 'never'].flatMap((prepend_scheme) =>
    flags.map((isSplit) => {
      const settings = { replacement: '▁', prepend_scheme, split: isSplit };
      const added_tokens = [addedToken(1, '<s>'), addedToken(2, 'river', { normalized: true })];
      const parts = { added_tokens, pre_tokenizer: { type: 'Metaspace', ...settings } };
      return [`Metaspace ${JSON.stringify(settings)}`, parts] as const;
    }),
  ),
  [
    'Split, then Metaspace, first',
    {
      pre_tokenizer: sequence(split({ String: ' ' }), {
        type: 'Metaspace',
        replacement: '▁',
        prepend_scheme: 'first',
        split: true,
      }),
    },
  ],
  [
    'Metaspace, add_prefix_space: false',
    {
      pre_tokenizer: {
        type: 'Metaspace',
        replacement: '_',
        add_prefix_space: false,
        prepend_scheme: 'never',
      },
    },
  ],
  ...behaviors.flatMap((behavior) =>
    flags.flatMap((invert) =>
      [
        { String: 'er' },
        { String: '.' },
        { String: '--' },
        { Regex: '\\s' },
        { Regex: '[a-z]+' },
        { Regex: '\\p{N}{2}' },
      ].map((pattern) => {
        const part = split(pattern, behavior, invert);
        return [
          `Split ${JSON.stringify(pattern)} ${behavior} invert: ${invert}`,
          { pre_tokenizer: part },
        ] as const;
      }),
    ),
  ),
  ...[...behaviors, undefined].map(
    (behavior) => [`Punctuation ${behavior}`, { pre_tokenizer: { type: 'Punctuation', behavior } }] as const,
  ),
  ...flags.map(
    (individual_digits) =>
      [`Digits ${individual_digits}`, { pre_tokenizer: { type: 'Digits', individual_digits } }] as const,
  ),
  ['CharDelimiterSplit', { pre_tokenizer: { type: 'CharDelimiterSplit', delimiter: 'e' } }],
  ...Object.entries(publishedExpressions).flatMap(([name, Regex]) =>
    ['Isolated', 'Removed'].map(
      (behavior) => [`Split as ${name}, ${behavior}`, { pre_tokenizer: split({ Regex }, behavior) }] as const,
    ),
  ),
  ...[
    '\\p{Han}+',
    '^\\s',
    '(a|b)+?c',
    '(?<=e)r',
    '[\\p{L}--a]',
    '[a-z&&[aeiou]]',
    '[[:alpha:]]+',
    '\\w+',
    '\\bthe',
  ]
    .concat([
      '(?i)the',
      '\\p{L}++',
      'a{2}+',
      '(?>a)',
      '\\p{^L}',
      '[^[^a]]',
      '(?i:ss)',
      '.',
      'e*',
      '[]a]',
      '\\d\\D',
    ])
    .concat([
      '[\\-a]',
      '[a-]',
      '\\u00e9',
      '\\x41',
      '(?i:k|s)',
      '[\\s\\S]',
      "\\'",
      '\\p{Greek}',
      '\\p{Alpha}',
      'a}',
      '[一-龥\\p{L}]+',
      '[+--]',
      '[--/]',
      '[a-c-e]',
      '[a[b-]c]',
      '[^a[bc]d]',
      '[^^]',
      '-+',
      '[(-*]',
    ])
    .map((Regex) => [`Split /${Regex}/`, { pre_tokenizer: split({ Regex }) }] as const),
  ['WordPiece', { pre_tokenizer: { type: 'Whitespace' }, model: wordPieceModel() }],
  [
    'WordPiece, words of up to 3 characters',
    { pre_tokenizer: { type: 'Whitespace' }, model: wordPieceModel({ max_input_chars_per_word: 3 }) },
  ],
  [
    'WordPiece without prefix',
    { pre_tokenizer: { type: 'Whitespace' }, model: wordPieceModel({ continuing_subword_prefix: '' }) },
  ],
  ['WordPiece without unknown token', { model: wordPieceModel({ unk_token: '[NONE]' }) }],
  [
    'WordLevel',
    {
      pre_tokenizer: { type: 'Whitespace' },
      model: { type: 'WordLevel', unk_token: '[UNK]', vocab: idsOf(['[UNK]', 'the', 'river', '12', '.']) },
    },
  ],
  [
    'WordLevel without unknown token',
    { model: { type: 'WordLevel', unk_token: '[UNK]', vocab: idsOf(['the', 'a']) } },
  ],
  ...flags.flatMap((byte_fallback) =>
    flags.flatMap((fuse_unk) =>
      [byteTokens, byteTokens.slice(0, 0xc0)].flatMap((pieces) =>
        ['<unk>', null].map((unk_token) => {
          const settings = { byte_fallback, fuse_unk, unk_token };
          const model = sentencePieceModel(settings, pieces);
          const name = `BPE ${JSON.stringify(settings)}, ${pieces.length} bytes`;
          return [name, { pre_tokenizer: { type: 'WhitespaceSplit' }, model }] as const;
        }),
      ),
    ),
  ),
  [
    'BPE with continuing_subword_prefix',
    {
      pre_tokenizer: { type: 'Whitespace' },
      model: sentencePieceModel({
        continuing_subword_prefix: '##',
        vocab: idsOf([
          '<unk>',
          't',
          'h',
          '##h',
          '##e',
          '##r',
          'e',
          'r',
          'th',
          'the',
          '##er',
          'a',
          '##a',
          'aa',
        ]),
        merges: ['t ##h', 'th ##e', '##e ##r', 'a ##a'],
        byte_fallback: false,
      }),
    },
  ],
  [
    'BPE whose merges overlap',
    {
      model: sentencePieceModel({
        vocab: idsOf(['<unk>', 'a', 'b', 'aa', 'aaa', 'ab', 'ba', 'aba', 'bab']),
        merges: [
          ['a', 'b'],
          ['a', 'a'],
          ['b', 'a'],
          ['aa', 'a'],
          ['a', 'ba'],
          ['ab', 'a'],
          ['b', 'ab'],
          ['a', 'aa'],
        ],
        byte_fallback: false,
      }),
    },
  ],
  ...flags.map(
    (ignore_merges) =>
      [
        `BPE, ignore_merges: ${ignore_merges}`,
        {
          pre_tokenizer: { type: 'Whitespace' },
          model: sentencePieceModel({
            ignore_merges,
            byte_fallback: false,
            vocab: idsOf(['<unk>', ...'abehrtinv', 'river', 'the', 'th', 'in']),
            merges: ['t h', 'i n'],
          }),
        },
      ] as const,
  ),
  ['BPE, dropout', { model: sentencePieceModel({ dropout: 0.5 }) }],
  ['Unigram', { model: unigramModel() }],
  ['Unigram with byte_fallback', { model: unigramModel({ byte_fallback: true }, bytePieces) }],
  [
    'Unigram with byte_fallback, but few bytes',
    { model: unigramModel({ byte_fallback: true }, bytePieces.slice(0, 192)) },
  ],
  ['Unigram without unknown token', { model: unigramModel({ unk_id: null }) }],
  [
    'Unigram with byte_fallback and words',
    {
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
      model: unigramModel({ byte_fallback: true }, bytePieces),
    },
  ],
  ...[
    {},
    { single_word: true },
    { lstrip: true },
    { rstrip: true },
    { lstrip: true, rstrip: true },
    { single_word: true, lstrip: true, rstrip: true },
  ].flatMap((settings) =>
    flags.flatMap((normalized) =>
      [null, { type: 'Lowercase' }].map((normalizer) => {
        const added_tokens = ['the', 'Er', 'RIVER', ' . ', '<mask>', '<mask>!', 'é'].map((content, at) =>
          addedToken(at + 1, content, { ...settings, normalized }),
        );
        const name = `added tokens ${JSON.stringify({ ...settings, normalized })}${normalizer ? ', Lowercase' : ''}`;
        return [name, { added_tokens, normalizer, pre_tokenizer: { type: 'WhitespaceSplit' } }] as const;
      }),
    ),
  ),
  ['an added token with an id of its own', { added_tokens: [addedToken(7, 'river')] }],
  [
    'two added tokens that Lowercase makes one',
    {
      normalizer: { type: 'Lowercase' },
      added_tokens: ['The', 'the'].map((content, at) => addedToken(at + 1, content, { normalized: true })),
    },
  ],
  ...[
    { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
    {
      type: 'RobertaProcessing',
      sep: ['[SEP]', 3],
      cls: ['[CLS]', 2],
      trim_offsets: true,
      add_prefix_space: true,
    },
    byteLevel(),
    template(
      [['[CLS]', 2]],
      [
        ['[SEP]', 3],
        ['[CLS]', 2],
      ],
    ),
    { type: 'Sequence', processors: [byteLevel(), template([['[CLS]', 2]], []), byteLevel()] },
  ].map(
    (post_processor) =>
      [`post-processor ${post_processor.type}`, { ...bertParts(), post_processor }] as const,
  ),
  [
    'Metaspace, first, beside a normalizer',
    {
      normalizer: { type: 'Lowercase' },
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
    },
  ],
  [
    'post-processor Sequence of two',
    {
      ...bertParts(),
      post_processor: {
        type: 'Sequence',
        processors: [template([['[CLS]', 2]], []), template([], [['[SEP]', 3]])],
      },
    },
  ],
  ...[{ type: 'Nmt' }, { type: 'ByteLevel' }].map(
    (normalizer) => [`the normalizer ${normalizer.type}`, { normalizer }] as const,
  ),
  ...[{ type: 'UnicodeScripts' }, { type: 'FixedLength', length: 5 }].map(
    (pre_tokenizer) => [pre_tokenizer.type, { pre_tokenizer }] as const,
  ),
]);

/** Texts in which tokenizers have been found to differ. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\n',
  'The rivers bank.',
  ' the  river   bank ',
  'ΟΔΟΣ',
  'ΟΔΟΣ ΟΔΟΣ. ΑΣ, Σ ΣΑΣ',
  "ΑΣ' ΑΣ\u0301 Σ\u0345",
  'οδος οδοσ',
  'İstanbul İİ ı I',
  'ß ẞ ſ ss ﬁ ﬀ ﬆ',
  'a一b 𠀀𠀁 𪜀x𫝀 𫠝 𬺰 丽 豈',
  'é e\u0301 E\u0301 \u0301 a\u0323\u0307 q\u0307\u0323',
  '가 \u1100\u1161 각',
  '👩\u200d👩\u200d👧 🇩🇪🇫 ❤\ufe0f 1\ufe0f\u20e3',
  'a\0b\x01c\x7fd\x80e\x85f\x9fg',
  '\ufeffthe\ufeff river\u00a0bank\u2003x\u3000y\u2028z\u200bw\u00ad',
  'a\ud800b\udc00 \ud83d',
  'tab\tline\nline\r\nline\r end\n\n\n  x',
  `${'ab'.repeat(120)} ${'aaaaaaa bababab '.repeat(8)}`,
  '12 3456 1234567 ½ Ⅷ ² ٣٤ ①② 𝟘',
  "they're THEY'RE I'LL it'ſ 'S 'k 'K don''t",
  "$5+3=<8>^`|~ ¡¿«»… — _x_ (a) [b] {c} \"q\" 'q' ``x''",
  '[MASK] [mask]e\u0301 a[SEP]b [CLS][UNK] [CLS',
  '<mask> a<mask>b  <mask>  c<mask>! <mask>\u00a0d <s>the</s> x<s> y',
  'the Thethe theRIVER er Er RIVER. river . É é',
  '<|endoftext|> a<|endoftext|>b <|startoftext|>',
  '▁the ▁▁river _ x▁y',
  'a.b.c...d --e--f',
  'constructor __proto__ toString',
  '\u2e43x\u1734 \u0897y ᅟ \u{1e947}z \u{11c3a} ៙ ।',
  'ru\u088fn \u{1acf} \u{16ea0}x 𱍐 \u{323b0} ᲀ ꟎',
  '!!! ??!.. ,, e.r',
  'e\u0301\u0302 ﬁ\u0301 Ａ\u200b…\u00ad①',
];
