// What is lit up on the page: a term, wherever its name, formula or marks appear, and a pair of tokens, in
// every figure that shows the same tokens.
import type { Cursor, Term } from '../plot/scene.js';

type Listener = () => void;

const listeners = new Set<Listener>();
let term: Term | undefined;
let pair: { tokens: string; cursor: Cursor } | undefined;

const tell = () => {
  for (const listener of listeners) listener();
};

export const linked = {
  term: () => term,
  /** The pair that is pointed at among these tokens. */
  pair: (tokens: string) => (pair?.tokens === tokens ? pair.cursor : undefined),
  lightTerm(one: Term | undefined): void {
    if (one === term) return;
    term = one;
    tell();
  },
  lightPair(tokens: string, cursor: Cursor): void {
    pair = { tokens, cursor };
    tell();
  },
  /** Returns a function that stops listening. */
  listen(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
