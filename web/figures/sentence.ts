// The sentence of the figures on a trained model, and what to say of one that is short or was cut.
import type { Choice, Text } from './controls.js';

/** Longest sentence that a figure shows; the library takes the model's 512. */
export const mostTokens = 128;

export const sentenceControl = {
  kind: 'text',
  label: 'Your sentence',
  initial: 'The river bank was closed, so she walked to the other bank.',
  // Far more than 128 tokens, short enough to be cut into tokens while one types.
  longest: 5000,
} as const satisfies Text;

/** Whether the tokens are drawn at random or are those of the sentence. */
export const tokensControl = {
  kind: 'choice',
  label: 'Tokens',
  options: { seeded: 'Random (seeded)', sentence: 'Your sentence (MiniLM)' },
  initial: 'seeded',
  radio: true,
} as const satisfies Choice;

export function sentenceRemark(tokens: readonly string[], dropped: number): string {
  if (dropped > 0) {
    return `Only the first ${tokens.length} of ${tokens.length + dropped} tokens are shown; in Node the model takes 512.`;
  }
  if (tokens.length === 2) {
    return 'There is no word in the text, so only the markers [CLS] and [SEP] are left.';
  }
  return '';
}

/** When no score varies, or none is left to. */
export const nothingToShare = (
  { gauge, weights = 'trained' }: { gauge: string; weights?: string },
  n: number,
) =>
  gauge === 'canonical' && weights === 'trained' && n < 3
    ? 'Beside [CLS], which stands apart, there are fewer than two tokens, so there is nothing to share out.'
    : 'The scores do not vary along their rows, so there is nothing to share out.';

export const fetching = 'Fetching MiniLM: its tokenizer, its first layer and the rows of your words…';
