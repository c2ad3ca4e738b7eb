// The tokenizer of any model, as its tokenizer.json defines it: added tokens are found, the rest of the text
// is normalized, split into words and cut into pieces, and special tokens are put around them. A test
// compares it with Hugging Face's tokenizers, and what would be cut differently here is refused by name.
import type { Tokenizer } from '../model.js';
import { addedTokensOf, type Section, tokenFinder } from './addedTokens.js';
import { bytePairModel } from './bytePairs.js';
import { normalizerOf } from './normalizers.js';
import {
  checkedKind,
  componentOf,
  type Makers,
  member,
  optional,
  type Part,
  parts,
  refuseFile,
} from './parts.js';
import { preTokenizerOf } from './preTokenizers.js';
import { postProcessorOf } from './specialTokens.js';
import { type SubwordModel, unigramModel, wordLevelModel, wordPieceModel } from './subwords.js';

const models: Makers<SubwordModel> = {
  BPE: bytePairModel,
  Unigram: unigramModel,
  WordLevel: wordLevelModel,
  WordPiece: wordPieceModel,
};

/** The type of a model; files of 2020 do not name it. */
function typeOf(model: Part): string {
  if (model.type !== undefined) return member(model, 'type', 'string');
  if (model.merges !== undefined) return 'BPE';
  if (Array.isArray(model.vocab)) return 'Unigram';
  return model.max_input_chars_per_word === undefined ? 'WordLevel' : 'WordPiece';
}

/** A pre-tokenizer, or those in its sequence. */
const stepsOf = (part: Part): Part[] =>
  part.pretokenizers === undefined ? [part] : parts(part, 'pretokenizers').flatMap(stepsOf);

/**
 * Refuses a prefix for the first word only if the text is changed before its words are known: Hugging Face's
 * tokenizers tell the first word by its place in the original text.
 */
function checkFirstWord({ normalizer, pre_tokenizer }: Part): void {
  const steps = pre_tokenizer ? stepsOf(pre_tokenizer as Part) : [];
  if (!steps.some((step) => step.prepend_scheme === 'first')) return;
  const changing = steps.filter(({ type }) => type === 'ByteLevel' || type === 'Metaspace');
  if (normalizer || changing.length > 1) refuseFile('prepend_scheme first for a text that is changed before');
}

/**
 * A tokenizer from the contents of tokenizer.json. It neither truncates nor pads. Throws RangeError for what
 * would be computed differently here than by the model's own tokenizer, and Error for a file that cannot be
 * parsed.
 */
export function tokenizerOf(contents: unknown): Tokenizer {
  const file = checkedKind(contents, 'its contents', 'object');
  const component = <Component>(name: string, make: (part: Part) => Component) => {
    const part = optional(file, name, 'object');
    return part && make(part);
  };
  const described = member(file, 'model', 'object');
  const model = componentOf('model', { ...described, type: typeOf(described) }, models);
  const normalize = component('normalizer', normalizerOf) ?? ((text: string) => text);
  const split = component('pre_tokenizer', preTokenizerOf) ?? ((word: Section) => [word]);
  const process = component('post_processor', postProcessorOf) ?? ((tokens) => tokens);
  checkFirstWord(file);
  const tokens = addedTokensOf(file, model.vocabulary);
  const isNormalized = (is: boolean) => tokens.filter((token) => token.isNormalized === is);
  const inOriginal = tokenFinder(isNormalized(false).map((token) => [token.content, token]));
  const inNormalized = tokenFinder(isNormalized(true).map((token) => [normalize(token.content), token]));
  const textOf = new Map(Array.from(model.vocabulary, ([text, id]) => [id, text]));
  for (const { id, content } of tokens) textOf.set(id, content);
  return {
    cut(text) {
      // Half of a surrogate pair is not a character.
      const sections = inOriginal({ text: text.replace(/\p{Cs}/gu, '\ufffd'), isFirst: true })
        .flatMap((section) =>
          section.token ? [section] : inNormalized({ ...section, text: normalize(section.text) }),
        )
        .flatMap(({ token, ...section }) => token ?? split(section).flatMap((word) => model.cut(word.text)));
      const all = process(sections);
      return { ids: all.map(({ id }) => id), tokens: all.map((token) => token.text) };
    },
    pieces: (ids) => ids.map((id) => textOf.get(id) ?? String(id)),
  };
}
