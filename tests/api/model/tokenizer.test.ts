// Every component of tokenizer.json, compared with Hugging Face's own tokenizers: each row of the table
// gives the same ids and tokens, or is refused with the name of the component.
import { expect, test } from 'vitest';
import { tokenizerOf } from '../../../build/package/model/tokenizer/tokenizer.js';
import { drawing } from '../support/numbers.ts';
import { expectSameTokens } from '../support/rustTokenizer.ts';
import {
  addedToken,
  componentFiles,
  hostileTexts,
  type Parts,
  realFiles,
  tokenizerFile,
} from '../support/tokenizerFiles.ts';

/**
 * The files of the table that are refused, by name, and what they are refused for; all other files are read.
 */
const refused: Readonly<Record<string, string>> = {
  'the normalizer Nmt': 'the normalizer Nmt',
  'the normalizer ByteLevel': 'the normalizer ByteLevel',
  UnicodeScripts: 'the pre-tokenizer UnicodeScripts',
  FixedLength: 'the pre-tokenizer FixedLength',
  'BPE, dropout': 'dropout',
  'an added token with an id of its own': 'the id 7 of “river” in place of 1',
  'two added tokens that Lowercase makes one': 'two added tokens that are the same once they are normalized',
  'Metaspace, first, beside a normalizer': 'prepend_scheme first for a text that is changed before',
  'post-processor Sequence of two': '2 post-processors that add tokens',
  ...Object.fromEntries(
    [
      ...['^\\s', '\\w+', '\\bthe', '(?i)the', '(?>a)', '[^[^a]]', '(?i:ss)', '[]a]', '\\u00e9', '\\x41'],
      ...[
        '[a-z&&[aeiou]]',
        '[[:alpha:]]+',
        '\\p{L}++',
        'a{2}+',
        '\\p{^L}',
        '\\p{Alpha}',
        'a}',
        '[\\p{L}--a]',
      ],
      '[一-龥\\p{L}]+',
    ].map((pattern) => [`Split /${pattern}/`, `in the pattern “${pattern}”`]),
  ),
};

const table = Object.entries({ ...realFiles, ...componentFiles });

test.each(table.filter(([name]) => refused[name] === undefined))('%s: the same tokens', async (_, parts) => {
  await expectSameTokens(parts, hostileTexts);
});

test('what is cut otherwise here is refused by name, and nothing else', () => {
  expect(Object.keys(refused).filter((name) => !Object.hasOwn(componentFiles, name))).toEqual([]);
  for (const [name, what] of Object.entries(refused)) {
    const open = () => tokenizerOf(tokenizerFile(componentFiles[name] as Parts));
    expect(open, name).toThrow(RangeError);
    expect(open, name).toThrow(what);
    expect(open, name).toThrow(
      /^tokenizer\.json asks for .*, which is cut differently here than by the model’s own tokenizer\. Pass token ids instead\.$/s,
    );
  }
});

test('what is no tokenizer.json is refused with what it lacks', () => {
  const complete = tokenizerFile(realFiles['BERT, uncased'] as Parts);
  for (const [parts, reason] of [
    [null, 'its contents must be an object'],
    [{ ...complete, model: 3 }, 'model must be an object'],
    [
      { ...complete, model: { type: 'BPE', vocab: { a: 'b' }, merges: [] } },
      'each id of vocab must be a number',
    ],
    [
      { ...complete, model: { type: 'BPE', vocab: { a: 0 }, merges: ['a b'] } },
      'merges has “b”, which vocab lacks',
    ],
    [{ ...complete, added_tokens: [{ id: 1 }] }, 'content must be a string'],
    [{ ...complete, pre_tokenizer: { type: 'Digits' } }, 'individual_digits of Digits must be a boolean'],
    [{ ...complete, normalizer: { type: 'Precompiled', precompiled_charsmap: 'AAAA' } }, 'is damaged'],
    // A trie that claims 8 bytes, of which only 4 are there.
    [
      { ...complete, normalizer: { type: 'Precompiled', precompiled_charsmap: 'CAAAAAAAAAA=' } },
      'is damaged',
    ],
  ] as const) {
    expect(() => tokenizerOf(parts)).toThrow(reason);
    expect(() => tokenizerOf(parts)).not.toThrow(RangeError);
  }
});

test('the ids of tokens have their texts', () => {
  const tokenizer = tokenizerOf(tokenizerFile(realFiles['BERT, uncased'] as Parts));
  const { ids, tokens } = tokenizer.cut('the rivers [MASK] x');
  expect(tokens).toEqual(['[CLS]', 'the', 'river', '##s', '[MASK]', '[UNK]', '[SEP]']);
  expect(tokenizer.pieces(ids)).toEqual(tokens);
  expect(tokenizer.pieces([9999])).toEqual(['9999']);
});

/** The components of this kind in all files that are read. */
const components = (kind: 'normalizer' | 'pre_tokenizer'): Parts[] =>
  table.flatMap(([name, parts]) => {
    const part = parts[kind] as Parts | null | undefined;
    return refused[name] === undefined && part ? [part] : [];
  });

test('drawn components one after another, with drawn added tokens and texts', {
  timeout: 120_000,
}, async () => {
  const [normalizers, preTokenizers] = [components('normalizer'), components('pre_tokenizer')];
  const random = drawing(20_261_129);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const some = <T>(from: readonly T[], most: number): T[] =>
    Array.from({ length: below(most + 1) }, () => pick(from));
  const fragments = hostileTexts.flatMap((text) => text.split(/(?<=\s)/).filter((part) => part.length < 40));
  let compared = 0;
  for (let round = 0; round < 400; round++) {
    const normalizer = { type: 'Sequence', normalizers: some(normalizers, 3) };
    const added_tokens = [...new Set(some(['the', 'e', '<s>', ' ', 'Σ', 'é', 'er ', '.', '▁', 'ΟΔ'], 4))].map(
      (content, at) =>
        addedToken(at + 1, content, {
          single_word: below(3) === 0,
          lstrip: below(3) === 0,
          rstrip: below(3) === 0,
          normalized: below(2) === 0,
        }),
    );
    const parts = {
      added_tokens,
      normalizer: below(3) > 0 ? normalizer : null,
      pre_tokenizer: { type: 'Sequence', pretokenizers: some(preTokenizers, 3) },
      model: pick([undefined, ...table.map(([, of]) => of.model)]),
    };
    const complete = parts.model ? parts : { ...parts, model: undefined };
    try {
      tokenizerOf(tokenizerFile(complete));
    } catch (error) {
      expect((error as Error).message).toMatch(/^tokenizer\.json asks for /);
      continue;
    }
    compared++;
    await expectSameTokens(
      complete,
      Array.from({ length: 8 }, () => some(fragments, 8).join('')),
    );
  }
  expect(compared).toBeGreaterThan(200);
});
