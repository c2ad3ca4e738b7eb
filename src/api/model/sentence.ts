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

/** The ids that occur in these sentences, each once, ascending: the order of rows in the tensor of the corpus. */
export const corpusIds = (sentences: readonly (readonly number[])[]): number[] =>
  [...new Set(sentences.flat())].sort((a, b) => a - b);
