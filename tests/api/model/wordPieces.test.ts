// MiniLM's word pieces, compared with the full tokenizer.
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { expect, test } from 'vitest';
import { describeModel, model } from '../support/model.ts';
import { minilm as oracle } from '../support/oracles.ts';

const file = new URL('../../../build/model/tokenizer.json', import.meta.url);

describeModel('word pieces', () => {
  const fullTokenizer = () => new Tokenizer(JSON.parse(readFileSync(file, 'utf8')), {});

  test('of sentences, hostile texts, and markers as they are written', async () => {
    const [{ tokenize }, expected] = [await model(), fullTokenizer()];
    const markers = [
      '[MASK]',
      'a[SEP]b',
      '[cls] [CLS][UNK] [PAD]',
      '[CLS',
      '[]',
      ' [MASK] ',
      '[MASK]e\u0301',
    ];
    const texts = [...oracle.sentences, ...oracle.hostile].map(({ text }) => text);
    for (const text of ['', ' ', '\n', 'constructor __proto__ toString', ...markers, ...texts]) {
      expect(await tokenize(text), text).toMatchObject(pick(expected.encode(text)));
    }
  });

  test('of every character of the first three planes, in a word and alone', async () => {
    const [{ tokenize }, expected] = [await model(), fullTokenizer()];
    const at = 64;
    for (let first = 0; first < 0x30000; first += at) {
      // Half of a surrogate pair is not a character.
      if (first >= 0xd800 && first < 0xe000) continue;
      const characters = Array.from({ length: at }, (_, place) => String.fromCodePoint(first + place));
      const text = characters.map((character) => `ri${character}ver ${character}`).join(' ');
      expect(await tokenize(text), `from ${first.toString(16)}`).toMatchObject(
        pick(cut(expected.encode(text))),
      );
    }
  });
});

const pick = ({ ids, tokens }: { ids: number[]; tokens: string[] }) => ({ ids, tokens });

/** Cuts to the 512 tokens that the model takes. */
function cut({ ids, tokens }: { ids: number[]; tokens: string[] }) {
  const most = <T>(all: T[]) => (all.length <= 512 ? all : [...all.slice(0, 511), all.at(-1) as T]);
  return { ids: most(ids), tokens: most(tokens) };
}
