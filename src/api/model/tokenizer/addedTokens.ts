// Finds the tokens in a text that were added to a model's vocabulary, such as <mask>.
// Source: AddedVocabulary of Hugging Face's tokenizers.
import { member, type Part, parts, refuseFile } from './parts.js';
import { literal, withoutLater } from './patterns.js';
import type { Token } from './subwords.js';

/** A part of a text that is a token, or that is still to be cut. */
export interface Section {
  /** The part itself. */
  text: string;
  /** The token; undefined for what is still to be cut. */
  token?: Token;
  /** Whether the text begins with this part. */
  isFirst: boolean;
}

interface AddedToken {
  /** Its index in the vocabulary. */
  id: number;
  /** Its text. */
  content: string;
  /** Whether it counts only where no letter or digit is beside it. */
  singleWord: boolean;
  /** Whether it includes the white space before it. */
  stripsLeft: boolean;
  /** Whether it includes the white space after it. */
  stripsRight: boolean;
  /** Whether it is looked for in the normalized text. */
  isNormalized: boolean;
}

function addedToken(part: Part): AddedToken {
  return {
    id: member(part, 'id', 'number'),
    content: member(part, 'content', 'string'),
    singleWord: member(part, 'single_word', 'boolean'),
    stripsLeft: member(part, 'lstrip', 'boolean'),
    stripsRight: member(part, 'rstrip', 'boolean'),
    isNormalized: member(part, 'normalized', 'boolean'),
  };
}

/** The added tokens of a tokenizer.json, each with the id that a tokenizer would give it. */
export function addedTokensOf(file: Part, vocabulary: ReadonlyMap<string, number>): AddedToken[] {
  const tokens = parts(file, 'added_tokens').map(addedToken);
  let nextId = vocabulary.size;
  const contents = new Set<string>();
  for (const { id, content } of tokens) {
    const expected = vocabulary.get(content) ?? nextId++;
    if (content === '' || contents.has(content)) refuseFile(`the added token “${content}” twice`);
    if (id !== expected) refuseFile(`the id ${id} of “${content}” in place of ${expected}`);
    contents.add(content);
  }
  return tokens;
}

const wordCharacter = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && wordCharacter.test(withoutLater(character));

/**
 * Returns a function that finds added tokens in a section. `tokens` pairs each of them with the text to look
 * for.
 */
export function tokenFinder(tokens: readonly (readonly [text: string, token: AddedToken])[]) {
  const byText = new Map(tokens);
  if (byText.size < tokens.length) refuseFile('two added tokens that are the same once they are normalized');
  if (byText.has('')) refuseFile('an added token that normalization removes');
  const escaped = [...byText.keys()]
    // Of the tokens that begin at the same place, the longest is taken.
    .sort((a, b) => b.length - a.length)
    .map(literal);
  const anyToken = new RegExp(escaped.join('|') || '(?!)', 'gu');
  return ({ text, isFirst }: Section): Section[] => {
    const sections: Section[] = [];
    let end = 0;
    for (const match of text.matchAll(anyToken)) {
      const { id, singleWord, stripsLeft, stripsRight } = byText.get(match[0]) as AddedToken;
      let from = match.index;
      let to = from + match[0].length;
      const [before, after] = [text.slice(0, from), text.slice(to)];
      if (singleWord && (isWordCharacter([...before].at(-1)) || isWordCharacter([...after][0]))) continue;
      if (stripsLeft) from = Math.max(end, before.search(/\p{White_Space}*$/u));
      if (stripsRight) to += after.match(/^\p{White_Space}*/u)?.[0].length ?? 0;
      if (end < from) sections.push({ text: text.slice(end, from), isFirst: isFirst && end === 0 });
      const content = text.slice(from, to);
      // The token before this one may have stripped the white space that this one consists of.
      if (from > to) refuseFile(`“${match[0]}” beside an added token that strips it`);
      if (from < to) sections.push({ text: content, token: { id, text: content }, isFirst: false });
      end = to;
    }
    if (end < text.length) sections.push({ text: text.slice(end), isFirst: isFirst && end === 0 });
    return sections;
  };
}
