// What a tokenizer does to a text before it is cut.
// Source: the normalizers of Hugging Face's tokenizers.
import { bertNormalized } from '../bert.js';
import { afterUnicode9, lowercase, normalForm } from '../unicode.js';
import { componentOf, type Makers, member, optional, type Part, parts } from './parts.js';
import { patternOf } from './patterns.js';
import { compiledNormalizer } from './precompiled.js';

export type Normalizer = (text: string) => string;

const mark = new RegExp(String.raw`[\u1cf2\u1cf3]|(?![${afterUnicode9}])\p{M}`, 'gu');

const makers: Makers<Normalizer> = {
  BertNormalizer(part) {
    const steps = {
      clean_text: member(part, 'clean_text', 'boolean'),
      handle_chinese_chars: member(part, 'handle_chinese_chars', 'boolean'),
      strip_accents: optional(part, 'strip_accents', 'boolean') ?? null,
      lowercase: member(part, 'lowercase', 'boolean'),
    };
    return (text) => bertNormalized(text, steps);
  },
  Lowercase: () => lowercase,
  NFC: ({ type }) => formOf(type),
  NFD: ({ type }) => formOf(type),
  NFKC: ({ type }) => formOf(type),
  NFKD: ({ type }) => formOf(type),
  Precompiled: (part) => compiledNormalizer(member(part, 'precompiled_charsmap', 'string')),
  Prepend(part) {
    const prefix = member(part, 'prepend', 'string');
    return (text) => text && prefix + text;
  },
  Replace(part) {
    const pattern = patternOf(part);
    const content = member(part, 'content', 'string');
    return (text) =>
      pattern(text)
        .map(([span, isMatch]) => (isMatch ? content : span))
        .join('');
  },
  Sequence(part) {
    const steps = parts(part, 'normalizers').map(normalizerOf);
    return (text) => steps.reduce((normalized, step) => step(normalized), text);
  },
  Strip(part) {
    const left = member(part, 'strip_left', 'boolean') ? /^\p{White_Space}+/u : /^(?!)/;
    const right = member(part, 'strip_right', 'boolean') ? /\p{White_Space}+$/u : /(?!)$/;
    return (text) => text.replace(left, '').replace(right, '');
  },
  StripAccents: () => (text) => text.replace(mark, ''),
};

const formOf =
  (type: unknown): Normalizer =>
  (text) =>
    normalForm(text, type as string);

/** The normalizer that a part of tokenizer.json describes. */
export const normalizerOf = (part: Part): Normalizer => componentOf('normalizer', part, makers);
