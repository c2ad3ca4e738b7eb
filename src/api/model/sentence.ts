// A text as a model reads it.

/** A text cut into the model's tokens. */
export interface Sentence {
  /** Vocabulary indices, [CLS] first and [SEP] last. */
  readonly ids: readonly number[];
  /** The word pieces themselves; one that continues a word begins with ##. */
  readonly tokens: readonly string[];
  /** How many tokens were cut off because the text was too long. */
  readonly dropped: number;
}

/** The ids that occur in these sentences, each once, ascending: the order of rows in the corpus’s file. */
export const corpusIds = (sentences: readonly (readonly number[])[]): number[] =>
  [...new Set(sentences.flat())].sort((a, b) => a - b);

// What a page opens with, for what reads its file and what makes it.

/** The sentence. */
export const openingText = 'The river bank was closed, so she walked to the other bank.';
/** The heads: the first reads places, the second words. */
export const openingHeads: readonly number[] = [2, 1];
export const openingFile = 'opening.safetensors';
