// Whether a token plus a position can be mistaken for another token.
import * as check from '../check.js';
import { type Handle, makeResident, type ResidentObject } from '../handle.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

export interface CollisionSearchInput {
  /** The vocabulary, [V, d]; it is copied into the module once. */
  tokens: Table;
  /** The position embeddings that are added, [L, d]. */
  positions: Table;
  /** ρ, the factor of the positions; any finite number. Default 1. */
  positionScale?: number;
}

/**
 * For each of some words, the other token that is nearest to it, without a position and with each position
 * added.
 */
export interface NearestTokens {
  /** [words], the other token nearest to e_a; −1 when the vocabulary has no other token. */
  readonly bare: Int32Array;
  /** [words], ‖e_b − e_a‖; infinite when there is no other token. */
  readonly bareDistances: Float64Array;
  /** [words, L], the other token nearest to e_a + p_i; −1 when there is no other token. */
  readonly nearest: Int32Array;
  /** [words, L], its margin ½‖e_b − e_a‖² − ⟨e_b − e_a, p_i⟩. Below 0, b is nearer than the word itself. */
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
  /** The number of words per slice, from 1 up. Default 64. */
  slice?: number;
  /** How many words to search, from the first on; from 0 to V. Default V. */
  words?: number;
}

export interface AllWords {
  /** [L], how many words are no longer their own nearest token when position i is added. */
  readonly lost: Float64Array;
}

/**
 * A vocabulary in the module's memory. Declare it with `using`, or call delete() when you no longer need it.
 * After that its methods throw.
 */
export interface CollisionSearch extends Handle {
  /** V, the number of tokens. */
  readonly tokens: number;
  /** L, the number of positions. */
  readonly positions: number;
  /**
   * Searches `words` words from index `first` on; one by default. Throws RangeError, TypeError, or Error once
   * deleted.
   */
  nearestTokens(first: number, words?: number): NearestTokens;
  /**
   * Searches every word of the vocabulary, or the first `words`, slice by slice. Other work may run between
   * slices.
   */
  allWords(options?: AllWordsOptions): Promise<AllWords>;
}

/** @category Measure geometry */
interface CollisionsApi {
  /**
   * Searches for tokens that can be mistaken for another one when a position is added. The sum e_a + p_i is
   * nearer to e_b than to e_a if and only if ⟨e_b − e_a, p_i⟩ > ½‖e_b − e_a‖². Throws RangeError or
   * TypeError.
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
      const bytes = raw.collisionSearchBytes(V, L, d);
      check.requireMemory(`A vocabulary of ${V} tokens with ${L} positions`, bytes);
      const search = makeResident(
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

function searchOf(raw: RawModule, search: ResidentObject, V: number, L: number): CollisionSearch {
  const nearestTokens = (first: number, words = 1): NearestTokens => {
    const address = search.address();
    if (words === 0) check.integer('first', first, 0, V);
    else check.index('first', first, V);
    check.integer('words', words, 0, V - first);
    check.requireMemory(`${words} words against ${V} tokens`, raw.nearestTokensBytes(words, V, L));
    return raw.nearestTokens(address, first, words);
  };
  return {
    tokens: V,
    positions: L,
    nearestTokens,
    async allWords(options = {}) {
      search.address();
      check.knownOptions('options', options, { signal: true, onProgress: true, slice: true, words: true });
      const { signal, onProgress, slice = 64, words: count = V } = options;
      check.signalAndProgress(signal, onProgress, 'onProgress');
      check.integer('slice', slice, 1);
      const total = check.integer('words', count, 0, V);
      const lost = new Float64Array(L);
      for (let first = 0; first < total; first += slice) {
        signal?.throwIfAborted();
        const words = Math.min(slice, total - first);
        nearestTokens(first, words).lost.forEach((lostHere, place) => {
          lost[place] = (lost[place] as number) + lostHere;
        });
        onProgress?.(first + words, total);
        await new Promise((resolve) => setTimeout(resolve));
      }
      signal?.throwIfAborted();
      return { lost };
    },
    ...search.handle,
  };
}
