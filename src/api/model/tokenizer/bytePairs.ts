// Byte-pair encoding: merges neighbouring pieces of a word, always the pair whose merge was learned
// earliest.
import { checkedKind, member, optional, type Part, refuseFile } from './parts.js';
import { byteTokens, type SubwordModel, unknownToken, vocabularyOf } from './subwords.js';

/** A heap of numbers, the least on top. */
class Heap {
  readonly #numbers: number[] = [];

  push(number: number): void {
    const numbers = this.#numbers;
    let at = numbers.push(number) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((numbers[parent] as number) <= number) break;
      numbers[at] = numbers[parent] as number;
      at = parent;
    }
    numbers[at] = number;
  }

  pop(): number | undefined {
    const numbers = this.#numbers;
    const [least] = numbers;
    const last = numbers.pop() as number;
    if (numbers.length === 0) return least;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= numbers.length) break;
      if ((numbers[child + 1] ?? Infinity) < (numbers[child] as number)) child += 1;
      if ((numbers[child] as number) >= last) break;
      numbers[at] = numbers[child] as number;
      at = child;
    }
    numbers[at] = last;
    return least;
  }
}

/** Larger than any id, rank of a merge, or place in a text, so that two of these fit into one number. */
const stride = 2 ** 24;

/** Merges by the pair that they join: how early each was learned, and the id of the piece that it makes. */
class Merges {
  readonly #ranks = new Map<number, number>();
  readonly #results: number[] = [];

  add(left: number, right: number, result: number): void {
    this.#ranks.set(left * stride + right, this.#results.push(result) - 1);
  }

  rank(left: number | undefined, right: number | undefined): number | undefined {
    return left === undefined || right === undefined ? undefined : this.#ranks.get(left * stride + right);
  }

  /** Merges the ids of a word until no pair can be merged, and returns those that remain. */
  merged(word: readonly number[]): number[] {
    const ids: (number | undefined)[] = [...word];
    const next = word.map((_, at) => at + 1);
    const previous = word.map((_, at) => at - 1);
    const heap = new Heap();
    const offer = (at: number) => {
      const rank = this.rank(ids[at], ids[next[at] as number]);
      if (rank !== undefined) heap.push(rank * stride + at);
    };
    for (const at of word.keys()) offer(at);
    for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
      const at = top % stride;
      const right = next[at] as number;
      const rank = this.rank(ids[at], ids[right]);
      const result = this.#results[Math.floor(top / stride)] as number;
      // Another merge may have changed this pair since it was offered; the new pair will do if it makes the
      // same piece.
      if (rank === undefined || this.#results[rank] !== result) continue;
      ids[at] = result;
      ids[right] = undefined;
      next[at] = next[right] as number;
      if ((next[at] as number) < word.length) previous[next[at] as number] = at;
      if ((previous[at] as number) >= 0) offer(previous[at] as number);
      offer(at);
    }
    return ids.filter((id) => id !== undefined);
  }
}

/**
 * Reads the merges of a model, each of which is a list of two texts, or one text with a space between the
 * two.
 */
function mergesOf(part: Part, vocabulary: ReadonlyMap<string, number>, prefix: string): Merges {
  const merges = new Merges();
  const idOf = (piece: string) => {
    const id = vocabulary.get(piece);
    if (id === undefined) throw new Error(`merges has “${piece}”, which vocab lacks`);
    return id;
  };
  for (const entry of member(part, 'merges', 'list')) {
    if (typeof entry === 'string' && entry.startsWith('#version')) continue;
    const pieces =
      typeof entry === 'string' ? entry.split(' ') : checkedKind(entry, 'each of merges', 'list');
    if (pieces.length !== 2) throw new Error('each of merges must have two pieces');
    const [left, right] = pieces.map((piece) => checkedKind(piece, 'each piece of merges', 'string'));
    const result = (left as string) + (right as string).slice(prefix.length);
    merges.add(idOf(left as string), idOf(right as string), idOf(result));
  }
  return merges;
}

export function bytePairModel(part: Part): SubwordModel {
  if (optional(part, 'dropout', 'number')) refuseFile('dropout');
  const vocabulary = vocabularyOf(part);
  const textOf = new Map(Array.from(vocabulary, ([text, id]) => [id, text]));
  const prefix = optional(part, 'continuing_subword_prefix', 'string') ?? '';
  const suffix = optional(part, 'end_of_word_suffix', 'string') ?? '';
  const unknown = optional(part, 'unk_token', 'string');
  const fusesUnknown = optional(part, 'fuse_unk', 'boolean') ?? false;
  const hasByteFallback = optional(part, 'byte_fallback', 'boolean') ?? false;
  const ignoresMerges = optional(part, 'ignore_merges', 'boolean') ?? false;
  const merges = mergesOf(part, vocabulary, prefix);

  /** The ids of a word's characters, with bytes or the unknown token for those that the vocabulary lacks. */
  const characterIds = (word: string): number[] => {
    const ids: number[] = [];
    // An unknown token waits for the next character that has an id, because neighbouring ones may be fused.
    let waiting: number | undefined;
    const flush = () => {
      if (waiting !== undefined) ids.push(waiting);
      waiting = undefined;
    };
    let at = 0;
    for (const character of word) {
      const isLast = at + character.length === word.length;
      const piece = (at > 0 ? prefix : '') + character + (isLast ? suffix : '');
      at += character.length;
      const id = vocabulary.get(piece);
      const bytes = id === undefined && hasByteFallback ? byteTokens(piece, vocabulary) : undefined;
      if (id !== undefined) {
        flush();
        ids.push(id);
      } else if (bytes) {
        ids.push(...bytes.map((token) => token.id));
      } else if (unknown !== undefined) {
        if (!fusesUnknown) flush();
        waiting ??= unknownToken(vocabulary, unknown).id;
      }
    }
    flush();
    return ids;
  };

  return {
    vocabulary,
    cut(word) {
      const wholeId = ignoresMerges ? vocabulary.get(word) : undefined;
      const ids = wholeId === undefined ? merges.merged(characterIds(word)) : [wholeId];
      return ids.map((id) => ({ id, text: textOf.get(id) as string }));
    },
  };
}
