// The sentence in figures on a trained model, and what they say of one that is short or was cut.
import { openingText } from 'superpose';
import type { Choice, Range, Text } from './controls.js';

/** Longest sentence that a figure shows; the library takes the model's 512. */
export const mostTokens = 128;

export const sentenceControl = {
  kind: 'text',
  label: 'Your sentence',
  initial: openingText,
  // Far more than 128 tokens, and short enough to be cut into tokens while the reader types.
  longest: 5000,
} as const satisfies Text;

export const headControl = {
  kind: 'range',
  label: 'Head of first layer',
  min: 0,
  max: 11,
  step: 1,
  initial: 3,
} as const satisfies Range;

/** Whether the tokens are drawn at random or are those of the sentence. */
export const tokensControl = {
  kind: 'choice',
  label: 'Tokens',
  options: { seeded: 'Random (seeded)', sentence: 'Your sentence (MiniLM)' },
  initial: 'seeded',
  radio: true,
} as const satisfies Choice;

/** Also of links to that figure. */
export const oneScoreTitle = 'One score, and the questions it asks';

export function sentenceRemark(tokens: readonly string[], dropped: number): string {
  if (dropped > 0) {
    return `Only the first ${tokens.length} of ${tokens.length + dropped} tokens are shown; in Node the model takes 512.`;
  }
  if (tokens.length === 2) {
    return 'There is no token in the text, so only the markers [CLS] and [SEP] are left.';
  }
  return '';
}

/** Said when no score varies, or too few are left to vary. */
export const nothingToShare = (
  { gauge, weights = 'trained' }: { gauge: string; weights?: string },
  n: number,
) =>
  gauge === 'canonical' && weights === 'trained' && n < 3
    ? 'Beside [CLS], which stands apart, there are fewer than two tokens, so there is nothing to share out.'
    : 'The scores do not vary along their rows, so there is nothing to share out.';

export const fetching = 'Fetching MiniLM: its tokenizer, its first layer and the rows of your tokens…';

/** The parts of a figure that are about its words, if it shows those of the sentence. */
export const wordsWhen = <State>(shown: (state: State) => boolean) => ({
  tokens: ({ tokens }: { tokens: readonly string[] }, state: State) => (shown(state) ? tokens : undefined),
  remark: ({ tokens, dropped }: { tokens: readonly string[]; dropped: number }, state: State) =>
    shown(state) ? sentenceRemark(tokens, dropped) : '',
});
