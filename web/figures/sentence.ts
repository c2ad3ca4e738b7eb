// The sentence that the reader typed: one for all figures of the page.

type Listener = (text: string) => void;

const listeners = new Set<Listener>();
let text = 'The river bank was closed, so she walked to the other bank.';

export const sentence = {
  get: () => text,
  set(typed: string): void {
    text = typed;
    for (const listener of listeners) listener(typed);
  },
  /** Returns the way to stop listening. */
  listen(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** What to say about a sentence that was cut, or that leaves little to see. */
export function remark(tokens: readonly string[], dropped: number): string {
  if (dropped > 0) {
    return `Only the first ${tokens.length} of ${tokens.length + dropped} tokens are shown; in Node the model takes 512.`;
  }
  if (tokens.length === 2)
    return 'There is no word in the text, so only the markers [CLS] and [SEP] are left.';
  return '';
}
