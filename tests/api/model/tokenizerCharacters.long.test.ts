// Tokenizers at every character of the first four planes, compared with Hugging Face's own: whether Node and
// Rust know the same version of Unicode, and our classes are theirs.
import { test } from 'vitest';
import { expectSameTokens } from '../support/rustTokenizer.ts';
import { componentFiles, type Parts } from '../support/tokenizerFiles.ts';

/** Files whose rules depend on the class of a character, or on its normal form. */
const byCharacter = [
  ...['NFC', 'NFD', 'NFKC', 'NFKD', 'NFD, then StripAccents', 'StripAccents', 'Lowercase', 'Whitespace'],
  ...['BertPreTokenizer', 'Digits true', 'Split as GPT-2, Isolated', 'Split as Llama 3, Isolated'],
  ...['Split as Mistral NeMo, Isolated', 'Split /(?i:k|s)/', 'Split /\\p{Han}+/'],
];

test.each(byCharacter)('%s: the same tokens', async (name) => {
  const texts: string[] = [];
  for (let first = 0; first < 0x40000; first += 128) {
    if (first >= 0xd800 && first < 0xe000) continue;
    const characters = Array.from({ length: 128 }, (_, place) => String.fromCodePoint(first + place));
    // Marks are ordered by their class, which shows when one stands before a character and one after it.
    texts.push(characters.map((character) => `e\u0315${character}\u0334 ${character}S1`).join(' '));
  }
  await expectSameTokens(componentFiles[name] as Parts, texts);
});
