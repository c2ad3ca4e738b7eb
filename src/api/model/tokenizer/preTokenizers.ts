// Splits a normalized text into the words that a model cuts into pieces.
// Source: the pre-tokenizers of Hugging Face's tokenizers.
import { bertWords } from '../bert.js';
import { punctuation } from '../unicode.js';
import { componentOf, type Makers, member, optional, type Part, parts, refuseFile } from './parts.js';
import { type Pattern, pattern, patternOf, type Span } from './patterns.js';

/** A part of a text, and whether the text begins with it. */
export interface Word {
  /** The part itself. */
  text: string;
  /** Also false if what came before the part was removed. */
  isFirst: boolean;
}

export type PreTokenizer = (word: Word) => Word[];

/**
 * Joins each span for which `isJoined` holds to the span before it or, with `toNext`, to the span after it.
 */
function joined(
  spans: Span[],
  isJoined: (isMatch: boolean, previous: boolean) => boolean,
  toNext = false,
): Span[] {
  const result: [text: string, isMatch: boolean][] = [];
  let previous = false;
  for (const [text, isMatch] of toNext ? spans.toReversed() : spans) {
    const last = result.at(-1);
    if (last && isJoined(isMatch, previous)) last[0] = toNext ? text + last[0] : last[0] + text;
    else result.push([text, false]);
    previous = isMatch;
  }
  return toNext ? result.reverse() : result;
}

const isSingleMatch = (isMatch: boolean, previous: boolean) => isMatch && !previous;

/**
 * What each behavior does with the spans of a text. Spans that are still marked as matches are then removed.
 */
const behaviors = {
  Removed: (spans: Span[]) => spans,
  Isolated: (spans: Span[]) => joined(spans, () => false),
  Contiguous: (spans: Span[]) => joined(spans, (isMatch, previous) => isMatch === previous),
  MergedWithPrevious: (spans: Span[]) => joined(spans, isSingleMatch),
  MergedWithNext: (spans: Span[]) => joined(spans, isSingleMatch, true),
};
type Behavior = keyof typeof behaviors;

function behaviorOf(part: Part): Behavior {
  const name = member(part, 'behavior', 'string');
  return Object.hasOwn(behaviors, name) ? (name as Behavior) : refuseFile(`the behavior ${name}`);
}

const splitter =
  (pattern: Pattern, behavior: Behavior): PreTokenizer =>
  ({ text, isFirst }) =>
    behaviors[behavior](pattern(text)).flatMap(([span, isRemoved], place) =>
      isRemoved || span === '' ? [] : [{ text: span, isFirst: isFirst && place === 0 }],
    );

const inverted =
  (pattern: Pattern): Pattern =>
  (text) =>
    pattern(text).map(([span, isMatch]) => [span, !isMatch]);

/** The words of GPT-2, with the spaces before them. */
const byteLevelWords = splitter(
  pattern(
    /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu,
  ),
  'Isolated',
);
const whitespaceWords = splitter(
  inverted(
    pattern(
      /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+/gu,
    ),
  ),
  'Removed',
);

/**
 * The character that stands for each byte: itself if it is visible, otherwise the next one from U+0100 on.
 */
const byteCharacters: readonly string[] = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    /[!-~\xa1-\xac\xae-\xff]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : String.fromCharCode(next++),
  );
})();
const encoder = new TextEncoder();

function byteLevel(part: Part): PreTokenizer {
  const prefix = member(part, 'add_prefix_space', 'boolean') ? ' ' : '';
  const split = (optional(part, 'use_regex', 'boolean') ?? true) ? byteLevelWords : (word: Word) => [word];
  return ({ text, isFirst }) =>
    split({ text: text.startsWith(' ') ? text : prefix + text, isFirst }).map((word) => ({
      ...word,
      text: Array.from(encoder.encode(word.text), (byte) => byteCharacters[byte]).join(''),
    }));
}

function metaspace(part: Part): PreTokenizer {
  const replacement = member(part, 'replacement', 'string');
  const legacy = optional(part, 'add_prefix_space', 'boolean');
  const scheme = optional(part, 'prepend_scheme', 'string') ?? (legacy === false ? 'never' : 'always');
  if (!['always', 'first', 'never'].includes(scheme)) refuseFile(`the prepend_scheme ${scheme}`);
  if (legacy === false && scheme !== 'never') refuseFile(`add_prefix_space: false beside ${scheme}`);
  if ([...replacement].length !== 1) refuseFile(`the replacement “${replacement}”`);
  const isReplacement: Pattern = patternOf({ pattern: { String: replacement } });
  const split = optional(part, 'split', 'boolean') ?? true;
  const words = split ? splitter(isReplacement, 'MergedWithNext') : (word: Word) => [word];
  return ({ text, isFirst }) => {
    const replaced = text.replaceAll(' ', replacement);
    const isPrefixed = scheme === 'always' || (scheme === 'first' && isFirst);
    const prefix = isPrefixed && !replaced.startsWith(replacement) ? replacement : '';
    return words({ text: prefix + replaced, isFirst });
  };
}

const whiteSpace = pattern(/\p{White_Space}/gu, false);

const makers: Makers<PreTokenizer> = {
  BertPreTokenizer:
    () =>
    ({ text, isFirst }) =>
      bertWords(text).map((word, place) => ({
        text: word,
        isFirst: isFirst && place === 0 && text.startsWith(word),
      })),
  ByteLevel: byteLevel,
  CharDelimiterSplit: (part) =>
    splitter(patternOf({ pattern: { String: member(part, 'delimiter', 'string') } }), 'Removed'),
  Digits: (part) =>
    splitter(
      pattern(/\p{N}/gu, false),
      member(part, 'individual_digits', 'boolean') ? 'Isolated' : 'Contiguous',
    ),
  Metaspace: metaspace,
  Punctuation: (part) =>
    splitter(
      pattern(new RegExp(punctuation, 'gu'), false),
      part.behavior === undefined ? 'Isolated' : behaviorOf(part),
    ),
  Sequence(part) {
    const steps = parts(part, 'pretokenizers').map(preTokenizerOf);
    return (word) => steps.reduce((words, step) => words.flatMap(step), [word]);
  },
  Split(part) {
    const pattern = patternOf(part);
    return splitter(member(part, 'invert', 'boolean') ? inverted(pattern) : pattern, behaviorOf(part));
  },
  Whitespace: () => whitespaceWords,
  WhitespaceSplit: () => splitter(whiteSpace, 'Removed'),
};

/** The pre-tokenizer that a part of tokenizer.json describes. */
export const preTokenizerOf = (part: Part): PreTokenizer => componentOf('pre-tokenizer', part, makers);
