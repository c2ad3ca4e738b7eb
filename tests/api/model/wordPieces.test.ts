// MiniLM's word pieces, compared with Hugging Face's own tokenizers and with our tokenizer of any model.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tokenizerOf } from '../../../build/package/model/tokenizer/tokenizer.js';
import { wordPieces } from '../../../build/package/model/wordPieces.js';
import { describeModel } from '../support/model.ts';
import { minilm as oracle } from '../support/oracles.ts';
import { rustTokenizer } from '../support/rustTokenizer.ts';
import { hostileTexts } from '../support/tokenizerFiles.ts';

const path = new URL('../../../build/model/tokenizer.json', import.meta.url);

describeModel('word pieces', () => {
  const compare = async (texts: readonly string[]) => {
    const text = readFileSync(path, 'utf8');
    const file = JSON.parse(text);
    const [short, full, expected] = [wordPieces(file), tokenizerOf(file), await rustTokenizer(text)(texts)];
    for (const [at, text] of texts.entries()) {
      const name = JSON.stringify(text.slice(0, 80));
      expect(short.cut(text), name).toEqual(expected[at]);
      expect(full.cut(text), name).toEqual(expected[at]);
    }
  };

  test('of sentences, hostile texts, and markers as they are written', async () => {
    const texts = [...oracle.sentences, ...oracle.hostile].map(({ text }) => text);
    await compare([...hostileTexts, '[]', ' [MASK] ', '[MASK]e\u0301', ...texts]);
  });

  test('of every character of the first four planes, in a word and alone', async () => {
    const atOnce = 64;
    const texts: string[] = [];
    for (let first = 0; first < 0x40000; first += atOnce) {
      // Half of a surrogate pair is not a character.
      if (first >= 0xd800 && first < 0xe000) continue;
      const characters = Array.from({ length: atOnce }, (_, place) => String.fromCodePoint(first + place));
      texts.push(characters.map((character) => `ri${character}ver ${character}`).join(' '));
    }
    await compare(texts);
  });
});
