// How texts and ids become the sentences that a model reads.
import * as check from '../check.js';
import type { Ids } from '../table.js';
import { longestOf, type Model } from './model.js';

/** A text as a model reads it. */
export interface Sentence {
  /** Vocabulary indices, including the special tokens that the model expects, such as [CLS] and [SEP]. */
  readonly ids: readonly number[];
  /** The texts of the tokens. */
  readonly tokens: readonly string[];
  /** How many tokens were cut off because the text was too long. */
  readonly dropped: number;
}

/** A sentence that a caller gives. */
export type ModelInput =
  /** A text, which needs tokenizer.json beside the weights. */
  | string
  /** Vocabulary indices, including the special tokens that the model expects. */
  | { readonly ids: Ids; readonly tokens?: readonly string[] };

/** The ids that occur in these sentences, each once, ascending: the order of rows in the tensor `corpus`. */
export const corpusIds = (sentences: readonly (readonly number[])[]): number[] =>
  [...new Set(sentences.flat())].sort((a, b) => a - b);

/** Longer texts are refused, since a text is cut into tokens before it is shortened. */
const mostCharacters = 100_000;

/** How a model's texts and ids become sentences. */
export interface SentenceReader {
  /** See OpenedModel. */
  tokenize(text: string, most?: number): Promise<Sentence>;
  /** See OpenedModel. */
  pieces(ids: Ids): Promise<string[]>;
  /**
   * Cuts a text or checks ids, for a run through `layers` layers, by default all. Throws RangeError,
   * TypeError.
   */
  read(input: ModelInput, layers?: number): Promise<Sentence>;
}

export function sentenceReader(model: Model): SentenceReader {
  const { layout, readsText, tokenizer, slidingWindow } = model;
  const { vocabulary, positions, padding, descriptor } = layout;
  const checkedIds = (ids: unknown) => Array.from(check.ids('ids', ids, 0, vocabulary - 1));

  const tokenize = async (
    text: string,
    most = longestOf(model, model.layers) || Infinity,
  ): Promise<Sentence> => {
    if (typeof text !== 'string') check.refuse('The text', 'a string', text, false);
    if (text.length > mostCharacters) {
      check.refuseCount('The text', `at most ${mostCharacters} characters`, text.length);
    }
    if (most !== Infinity) check.integer('most', most, 2, positions || 2 ** 31);
    const { ids, tokens } = (await tokenizer()).cut(text);
    const dropped = Math.max(0, ids.length - most);
    if (dropped === 0) return { ids, tokens, dropped };
    // The special token at the end stays, since the model was trained with it.
    const { after } = descriptor.markers;
    const shortened = <T>(all: T[]) => [...all.slice(0, most - after), ...(after ? all.slice(-1) : [])];
    return { ids: shortened(ids), tokens: shortened(tokens), dropped };
  };

  const checkedSentence = async (input: Partial<Sentence>, longest: number): Promise<Sentence> => {
    const ids = checkedIds(input.ids);
    if (ids.length > longest && longest === slidingWindow?.keys && longest !== positions) {
      throw (await import('./rotaryConfig.js')).beyondWindow(slidingWindow, ids.length);
    }
    if (ids.length === 0 || ids.length > (longest || Infinity)) {
      const allowed = longest ? `from 1 to ${longest} tokens` : 'at least 1 token';
      check.refuseCount('A sentence', allowed, ids.length);
    }
    if (padding !== undefined && ids.includes(padding)) {
      throw new RangeError(
        `ids must not contain padding, which is id ${padding} in this ${descriptor.name}: other tokens would attend to it. Leave it out.`,
      );
    }
    const tokens = input.tokens ?? ids.map(String);
    if (tokens.length !== ids.length) check.refuseCount('tokens', `${ids.length} texts`, tokens.length);
    return { ids, tokens, dropped: input.dropped ?? 0 };
  };

  return {
    tokenize,
    async pieces(ids) {
      const numbers = checkedIds(ids);
      return readsText ? (await tokenizer()).pieces(numbers) : numbers.map(String);
    },
    async read(input, layers = model.layers) {
      const longest = longestOf(model, layers);
      if (typeof input === 'string') {
        return checkedSentence(await tokenize(input, longest || Infinity), longest);
      }
      check.object('input', input);
      const allowed = 'a text or an object with ids';
      if (Array.isArray(input) || ArrayBuffer.isView(input)) check.refuse('input', allowed, input, false);
      const sentence = input as Sentence;
      check.knownOptions('input', sentence, { ids: true, tokens: true, dropped: true });
      if (!('ids' in sentence)) check.refuse('input', allowed, input, false);
      return checkedSentence(sentence, longest);
    },
  };
}
