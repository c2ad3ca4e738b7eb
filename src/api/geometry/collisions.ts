import * as check from '../check.js';
import { type Handle, held, type OwnedObject } from '../handle.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

export interface CollisionSearchInput {
  /** The vocabulary, [V, d]; copied into the module once. */
  tokens: Table;
  /** Position embeddings added to it, [L, d]. */
  positions: Table;
  /** ρ, any finite number: the positions are multiplied by it. Default 1. */
  positionScale?: number;
}

/** For some words: the other token nearest to each, bare and with each position added. */
export interface NearestTokens {
  /** [words], the other token nearest to e_a; −1 when the vocabulary has no other. */
  readonly bare: Int32Array;
  /** [words], ‖e_b − e_a‖; infinite when there is no other token. */
  readonly bareDistances: Float64Array;
  /** [words, L], the other token nearest to e_a + p_i; −1 when there is none. */
  readonly nearest: Int32Array;
  /** [words, L], its margin ½‖e_b − e_a‖² − ⟨e_b − e_a, p_i⟩; below 0, b is nearer than the word itself. */
  readonly margins: Float64Array;
  /** [words], ½‖e_b − e_a‖², the margin without a position; infinite when there is no other token. */
  readonly bareMargins: Float64Array;
  /** [L], how many of the words have a margin below 0. */
  readonly lost: Int32Array;
}

export interface AllWordsOptions {
  /** Stops the job between two slices; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called after each slice. */
  onProgress?: (done: number, total: number) => void;
  /** Words per slice, from 1 up. Default 64. */
  slice?: number;
  /** Only the first so many words, from 0 to V. Default V. */
  words?: number;
}

export interface AllWords {
  /** [L], how many words are not their own nearest token once position i is added. */
  readonly lost: Float64Array;
}

/**
 * A vocabulary in the module's memory. Declare it with `using`, or call delete() when done with it; after
 * that its methods throw.
 */
export interface CollisionSearch extends Handle {
  /** V */
  readonly tokens: number;
  /** L */
  readonly positions: number;
  /** `words` words from `first` on, by default one. */
  nearestTokens(first: number, words?: number): NearestTokens;
  /**
   * Every word of the vocabulary, or the first `words`, slice by slice; other work may run between slices.
   */
  allWords(options?: AllWordsOptions): Promise<AllWords>;
}

export interface CollisionsApi {
  /**
   * Whether a token plus a position can be mistaken for another token: e_a + p_i is nearer to e_b than to
   * e_a if and only if ⟨e_b − e_a, p_i⟩ > ½‖e_b − e_a‖².
   */
  collisionSearch(input: CollisionSearchInput): CollisionSearch;
}

export function collisionsApi(raw: RawModule): CollisionsApi {
  return {
    collisionSearch(input) {
      check.knownOptions('input', input, { tokens: true, positions: true, positionScale: true });
      const { tokens, positions, positionScale = 1 } = input;
      check.table('tokens', tokens);
      check.table('positions', positions, { columns: tokens.columns });
      check.number('positionScale', positionScale);
      const [V, L, d] = [tokens.rows, positions.rows, tokens.columns];
      const bytes = 8 * (2 * V * (d + L) + 2 * L * d);
      check.fits(`A vocabulary of ${V} tokens with ${L} positions`, bytes);
      const search = held(
        raw,
        'collision search',
        bytes,
        () => raw.collisionSearch(tokens, positions, positionScale),
        raw.deleteCollisionSearch,
      );
      return searchOf(raw, search, V, L);
    },
  };
}

function searchOf(raw: RawModule, search: OwnedObject, V: number, L: number): CollisionSearch {
  const nearestTokens = (first: number, words = 1): NearestTokens => {
    const address = search.address();
    if (words === 0) check.integer('first', first, 0, V);
    else check.index('first', first, V);
    check.integer('words', words, 0, V - first);
    check.fits(`${words} words against ${V} tokens`, words * (8 * V + 24 * L));
    return raw.nearestTokens(address, first, words);
  };
  return {
    tokens: V,
    positions: L,
    nearestTokens,
    async allWords(options = {}) {
      search.address();
      check.knownOptions('options', options, { signal: true, onProgress: true, slice: true, words: true });
      const { signal, onProgress, slice = 64, words: wanted = V } = options;
      check.waiting(signal, onProgress, 'onProgress');
      check.integer('slice', slice, 1);
      const all = check.integer('words', wanted, 0, V);
      const lost = new Float64Array(L);
      for (let first = 0; first < all; first += slice) {
        signal?.throwIfAborted();
        const words = Math.min(slice, all - first);
        const found = nearestTokens(first, words);
        found.lost.forEach((count, place) => {
          lost[place] = (lost[place] as number) + count;
        });
        onProgress?.(first + words, all);
        await new Promise((resolve) => setTimeout(resolve));
      }
      signal?.throwIfAborted();
      return { lost };
    },
    ...search.handle,
  };
}
