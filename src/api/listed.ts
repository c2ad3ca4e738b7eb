// Joins texts into a list in a sentence.

/** “BERT”, “BERT and GPT-2”, “BERT, RoBERTa and GPT-2”; `last` is the word before the last text. */
export const listed = (texts: readonly string[], last = 'and'): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} ${last} ${texts.at(-1)}`;
